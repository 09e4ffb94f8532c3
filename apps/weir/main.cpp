#include "apps/weir/command_line.hpp"
#include "base/process_memory.hpp"

#include <sys/stat.h>

int main(int argc, char** argv) {
  ::umask(077); // What the program makes is its user's alone.
  weir::limit_free_memory();
  return weir::apps::run_command_line(argc, argv);
}
