#include "apps/weir/command_line.hpp"
#include "apps/weir/process_limits.hpp"
#include "base/process_memory.hpp"

#include <csignal>
#include <string_view>
#include <sys/stat.h>

int main(int argc, char** argv) {
  weir::apps::open_standard_descriptors();
  // A reload that is asked for before anybody takes it waits, and ends nothing.
  if (argc > 1 && std::string_view{argv[1]} == "run") {
    sigset_t reload;
    sigemptyset(&reload);
    sigaddset(&reload, SIGHUP);
    sigprocmask(SIG_BLOCK, &reload, nullptr);
  }
  ::umask(077); // What the program makes is its user's alone.
  weir::limit_free_memory();
  return weir::apps::run_command_line(argc, argv);
}
