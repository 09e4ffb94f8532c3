std::random_device device;
std::mt19937 engine;
int r() { return rand(); }
