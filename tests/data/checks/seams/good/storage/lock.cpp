int lock() { return ::open("lock", 0); }
