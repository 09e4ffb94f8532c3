int dial() { return ::socket(1, 2, 3); }
