auto f = fopen("f", "r");
std::ifstream in;
std::ofstream out;
int fd = ::open("f", 0); // "::open(" in a comment counts once
void gone() { ::unlink("f"); std::filesystem::rename("f", "g"); }
bool there() { return std::filesystem::exists("f"); }
