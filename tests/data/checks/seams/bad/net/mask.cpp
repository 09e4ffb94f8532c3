void fill() { auto x = std::random_device{}(); (void)x; }
