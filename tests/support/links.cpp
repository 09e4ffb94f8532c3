// The whole program is the library that is linked (cmake/weir_module.cmake).
int main() {
}
