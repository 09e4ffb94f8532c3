int open_file() { return ::open("f", 0); }
