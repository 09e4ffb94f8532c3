#pragma once

#include "actors/upstream/upstream_machine.hpp"
#include "tests/unit/actors/machine_frames.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

using namespace std::chrono_literals;
using namespace weir::actors;

inline constexpr steady_time t0{1'000'000'000};

inline storage::upstream_row row_at(uint64_t cursor, uint64_t first_cursor) {
  storage::upstream_row out;
  out.id = 7;
  out.url = "https://relay.test";
  out.relay = true;
  out.cursor = cursor;
  out.first_cursor = first_cursor;
  return out;
}

inline shared_bytes garbage() {
  return shared_bytes{bytes{0xff, 0x00}};
}

/// One stream that was started and opened, and that gets frames by their seqs.
class stream {
public:
  explicit stream(storage::upstream_row row = row_at(10, 1),
                  upstream_options options = {})
    : machine(std::move(row), options) {
    first = machine.start(t0);
    opened = machine.on_open(t0);
    if (opened.write)
      begun = machine.on_row_durable(t0);
  }

  upstream_machine::effects take(std::vector<shared_bytes> frames,
                                 steady_time now = t0, wall_time wall = {}) {
    return machine.on_frames(std::move(frames), now, wall);
  }

  upstream_machine::effects take_seqs(const std::vector<int64_t>& seqs,
                                      steady_time now = t0,
                                      wall_time wall = {}) {
    std::vector<shared_bytes> frames;
    for (const auto seq : seqs)
      frames.push_back(account_frame(seq));
    return take(std::move(frames), now, wall);
  }

  upstream_machine::effects done(const std::vector<uint64_t>& seqs,
                                 steady_time now = t0) {
    return machine.on_done(machine.row().epoch, seqs, now);
  }

  void reopen() {
    machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
    machine.on_open(t0);
  }

  upstream_machine machine;
  upstream_machine::effects first;
  upstream_machine::effects opened;
  /// The effects of the start of a stream without a cursor.
  upstream_machine::effects begun;
};

inline std::vector<uint64_t> seqs_of(const upstream_machine::effects& x) {
  std::vector<uint64_t> out;
  for (const auto& frame : x.forward)
    out.push_back(frame.at.seq);
  return out;
}

inline std::optional<uint64_t> redial_cursor(stream& x, steady_time now) {
  const auto closed
    = x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, now);
  const auto out = x.machine.on_timer(*closed.timer);
  EXPECT_TRUE(out.connect);
  return out.connect ? out.connect->cursor : std::nullopt;
}

} // namespace weir::tests
