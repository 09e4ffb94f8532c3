const char* text = "one"; // wide wide wide wide wide wide wide wide wide wide w.
