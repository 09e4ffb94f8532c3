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
  double rate = 500;                 ///< Live events a second.
  std::chrono::seconds duration{12}; ///< Of the live phase.
  bool direct = false;  ///< Follow the hosts themselves, not the relay.
  bool forever = false; ///< Stay up, without faults and proof.
};

} // namespace weir::apps
