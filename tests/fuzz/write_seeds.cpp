#include "tests/fuzz/target.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

// Writes the seeds of every target: <folder>/<target>/<number>.

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds <folder>\n");
    return 2;
  }
  for (const auto& target : weir::fuzz::all_targets()) {
    const auto folder = std::filesystem::path{argv[1]} / target.name;
    std::filesystem::create_directories(folder);
    size_t number = 0;
    for (const auto& seed : target.seeds()) {
      std::ofstream out{folder / std::to_string(number++), std::ios::binary};
      out.write(weir::as_text(seed).data(),
                static_cast<std::streamsize>(seed.size()));
      if (!out) {
        std::perror(folder.c_str());
        return 1;
      }
    }
  }
  return 0;
}
