auto a = std::chrono::system_clock::now();
auto b = std::chrono::steady_clock::now();
auto c = std::chrono::high_resolution_clock::now();
auto d = time(nullptr);
using clock = std::chrono::steady_clock; auto e = clock::now();
