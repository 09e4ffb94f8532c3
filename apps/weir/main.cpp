#include "apps/demo/demo.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/process_limits.hpp"
#include "base/process.hpp"

#include <csignal>
#include <string_view>
#include <sys/stat.h>

int main(int argc, char** argv) {
  weir::apps::open_standard_descriptors();
  // Until `run` waits for signals, a SIGHUP stays pending and does not end the
  // process.
  if (argc > 1 && std::string_view{argv[1]} == "run") {
    sigset_t reload;
    sigemptyset(&reload);
    sigaddset(&reload, SIGHUP);
    sigprocmask(SIG_BLOCK, &reload, nullptr);
  }
  ::umask(077); // Only this user may read new files.
  weir::limit_free_memory();
  return weir::apps::run_command_line(argc, argv, weir::apps::add_demo);
}
