int s = ::socket(1, 2, 3);
void wait() { std::this_thread::sleep_for(x); }
void later() { self->delayed_send(self, wait, tick{}); }
boost::asio::steady_timer timer;
