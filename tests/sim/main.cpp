#include "tests/sim/command.hpp"

#include "base/log.hpp"

#include <iostream>

int main(int argc, char** argv) {
  const auto wanted = weir::sim::parse_command(argc, argv);
  if (!wanted) {
    std::cerr << to_string(wanted.error()) << '\n' << weir::sim::usage();
    return 2;
  }
  weir::log::configure(wanted->log ? weir::log::level::info
                                   : weir::log::level::off,
                       weir::log::format::text);
  return weir::sim::run_command(*wanted) == 0 ? 0 : 1;
}
