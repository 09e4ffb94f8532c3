#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weir::apps {

struct demo_options {
  uint64_t seed = 1;
  size_t accounts = 500;
  uint64_t records = 60'000;
  size_t hosts = 3;
  double rate = 500;                 ///< Live events per second.
  std::chrono::seconds duration{12}; ///< Length of the live phase.
  bool direct = false;               ///< Follow the hosts instead of the relay.
  bool forever = false;              ///< Run on, without faults and proof.
};

} // namespace weir::apps
