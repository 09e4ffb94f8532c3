// Never std::chrono::steady_clock::now() here: the time comes with the event.
int operand(int x) { return env->open(x) + my::socket(x) + uptime(nullptr); }
