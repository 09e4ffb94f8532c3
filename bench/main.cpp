#include "bench/command_line.hpp"

int main(int argc, char** argv) {
  return weir::bench::run_command_line(argc, argv);
}
