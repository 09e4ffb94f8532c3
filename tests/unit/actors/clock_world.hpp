#pragma once

#include "actors/support/clock_machine.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

using namespace std::chrono_literals;
using namespace weir::actors;

inline constexpr uint32_t relay = 1;
inline constexpr uint32_t host = 2;
inline constexpr uint32_t other_host = 3;

/// A node whose clock may be wrong, and signers whose clocks are right.
class clock_world {
public:
  explicit clock_world(std::chrono::microseconds behind = 0s,
                       size_t streams = 1)
    : behind_(behind) {
    machine.begin(17, streams);
    pass(0s);
  }

  /// Signers with these numbers sign. All clocks but the node's are right.
  /// Through the relay there are four signers of each host.
  void hear(uint32_t stream, uint64_t first, size_t n,
            std::chrono::microseconds ahead = 0s) {
    for (auto i = first; i < first + n; ++i)
      sign(stream, stream == relay ? i / 4 : stream, i, ahead);
  }

  /// Accounts of one host sign; their frames come through the relay.
  void hear_host(uint64_t name, size_t n,
                 std::chrono::microseconds ahead = 0s) {
    for (size_t i = 0; i < n; ++i)
      sign(relay, name, name * 1'000'000 + i, ahead);
  }

  /// The directory answers; its clock differs from the true time by `off`.
  void directory(std::chrono::microseconds off = 0s, bool is_proved = true) {
    machine.on_directory(truth + off, is_proved, now, wall());
  }

  void pass(std::chrono::microseconds x) {
    truth = truth + x;
    now = now + x;
    machine.on_timer(now, wall());
  }

  void set_clock(std::chrono::microseconds behind) {
    behind_ = behind;
    pass(0s);
  }

  wall_time wall() const { return truth + -behind_; }
  clock_verdict verdict(uint32_t stream) const {
    return machine.verdict(stream, now, wall());
  }

  clock_state state() const { return machine.state(now, wall()); }
  bool suspect() const { return state().suspect; }
  bool holds() const { return state().holds; }

  clock_machine machine;
  steady_time now{1'000'000};
  wall_time truth{1'700'000'000'000'000};

private:
  void sign(uint32_t stream, uint64_t by, uint64_t signer,
            std::chrono::microseconds ahead) {
    machine.on_signed({stream, stream == relay, by, signer, truth + ahead},
                      now, wall());
  }

  std::chrono::microseconds behind_;
};

} // namespace weir::tests
