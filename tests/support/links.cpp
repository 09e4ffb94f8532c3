// The test is that this program links with the library
// (cmake/weir_module.cmake).
int main() {
}
