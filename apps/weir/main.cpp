#include "apps/weir/command_line.hpp"

int main(int argc, char** argv) {
  return weir::apps::run_command_line(argc, argv);
}
