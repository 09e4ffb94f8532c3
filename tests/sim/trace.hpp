#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <iostream>
#include <string_view>

namespace weir::sim {

/// The events of a run in their order. Equal runs have equal traces. The hash
/// is always computed, the lines are written only on request.
class trace {
public:
  explicit trace(std::ostream* out = nullptr) : out_(out) {
    // nop
  }

  bool is_written() const noexcept { return out_ != nullptr; }

  /// @param what A word of the simulator's own, e.g. "actor".
  void note(steady_time at, std::string_view what, std::string_view who,
            uint64_t detail = 0) {
    mix(static_cast<uint64_t>(at.micros));
    mix(what);
    mix(who);
    mix(detail);
    ++lines_;
    if (out_ != nullptr)
      *out_ << at.micros << ' ' << what << ' ' << who << ' ' << detail << '\n';
  }

  uint64_t hash() const noexcept { return hash_; }

  uint64_t lines() const noexcept { return lines_; }

private:
  // FNV-1a, on words and on text.
  void mix(uint64_t x) noexcept {
    hash_ = (hash_ ^ x) * 1'099'511'628'211u;
    hash_ ^= hash_ >> 29;
  }

  void mix(std::string_view x) noexcept {
    for (const auto c : x)
      hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 1'099'511'628'211u;
  }

  std::ostream* out_;
  uint64_t hash_ = 14'695'981'039'346'656'037u;
  uint64_t lines_ = 0;
};

} // namespace weir::sim
