#include "base/process_memory.hpp"
#include "bench/command_line.hpp"

int main(int argc, char** argv) {
  weir::limit_free_memory(); // As `weir` does, whose node is measured.
  return weir::bench::run_command_line(argc, argv);
}
