void fill() { auto x = std::random_device{}(); (void)x; }
void dial() { asio::ip::tcp::acceptor door{loop}; }
void begin() { std::thread t{dial}; }
void spawn() { system.spawn<actor, caf::detached>(); }
