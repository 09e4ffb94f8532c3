#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_machine.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace weir::tests {

using namespace std::chrono_literals;
using namespace weir::actors;

inline constexpr steady_time listing_start{1'000'000'000};
inline constexpr wall_time listing_wall{1'700'000'000'000'000};
inline constexpr position listed_since{1, 1, 1};
inline const auto listing_grace = listing_options{}.grace;

/// The time from one audit of this number of requests to the next.
inline std::chrono::seconds audit_interval(size_t requests) {
  return std::chrono::seconds{3'600 * requests
                              / limits::listing_requests_range.standard};
}

/// The pages of one listing, answered one after another.
class listing_run {
public:
  explicit listing_run(listing_options options = {}) : machine(options) {
    stream.id = all.upstream;
    stream.connected = true;
    stream.quiet_since = steady_time{};
    board->put(stream);
  }

  bool want(const position& noted = listed_since) {
    return take(machine.on_wanted(all, noted, now, wall));
  }

  /// @returns true when another page is asked for.
  bool page(const std::string& cursor, size_t lines = 10) {
    return take(machine.on_page(all, cursor, lines, now));
  }

  bool fail_page(ec code) {
    return take(machine.on_page(all, fail(code), 0, now));
  }

  bool judge(const page_verdict& verdict, const std::string& cursor) {
    return take(machine.on_verdict(verdict, cursor, 10, now));
  }

  /// Most claims of the page are false.
  bool mistrust(const std::string& cursor) {
    return judge({.what = all, .trusted = false}, cursor);
  }

  /// The directory was wrong.
  bool unproved() {
    return judge({.what = all, .trusted = false, .proved = false}, "unused");
  }

  bool tick() { return take(machine.on_timer(*board, now, wall)); }

  /// Requests a listing and waits for the stream, which is quiet.
  bool want_later(const position& noted = listed_since) {
    EXPECT_FALSE(want(noted));
    EXPECT_EQ(*last.timer - now, listing_grace);
    pass(listing_grace);
    return tick();
  }

  void pass(std::chrono::microseconds x) {
    now = now + x;
    wall.micros += x.count();
  }

  /// The state after a restart.
  listing_run restarted() const {
    listing_run out;
    out.now = now;
    out.wall = wall;
    if (stored)
      out.machine.restore({all, *stored});
    return out;
  }

  bool take(listing_machine::effects x) {
    last = std::move(x);
    if (last.write)
      stored = last.write->value;
    return last.fetch.has_value();
  }

  const listing_id all{1, {}};
  upstream_view stream;
  std::shared_ptr<upstream_board> board = std::make_shared<upstream_board>();
  steady_time now = listing_start;
  wall_time wall = listing_wall;
  listing_machine machine;
  listing_machine::effects last;
  std::optional<storage::listing_row> stored;
};

} // namespace weir::tests
