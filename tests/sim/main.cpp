#include "tests/sim/command.hpp"

#include "base/log.hpp"
#include "tests/sim/heap_census.hpp"

#include <iostream>
#include <malloc.h>

namespace {

constexpr int mebibyte = 1 << 20;

/// Keeps freed memory, because the next run needs it.
void keep_free_memory() {
  mallopt(M_TRIM_THRESHOLD, 256 * mebibyte);
  mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);
  mallopt(M_TOP_PAD, 16 * mebibyte);
}

} // namespace

int main(int argc, char** argv) {
  weir::sim::heap::count_as_simulator();
  keep_free_memory();
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
