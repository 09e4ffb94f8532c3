#pragma once

#include "atproto/signature.hpp"
#include "atproto/verify.hpp"
#include "simnet/truth.hpp"
#include "tests/support/manual_clock.hpp"

#include <map>
#include <ostream>
#include <string>

namespace weir::tests {

/// A population small enough for every test, under a clock that does not move.
simnet::network_options small_network(const clock& time, size_t accounts = 12,
                                      uint64_t records = 400);

/// The copy of one account at a follower.
struct copy {
  atproto::tid rev;
  atproto::cid data;
  std::map<std::string, atproto::cid> records;

  friend bool operator==(const copy&, const copy&) = default;
};

/// Prints a copy when a comparison fails.
void PrintTo(const copy& x, std::ostream* out);

/// A simple engine: starts with exports, then applies verified frames in order,
/// and refuses those that do not follow.
class mirror {
public:
  explicit mirror(const simnet::truth& source, wall_time now);

  /// Fetches and verifies one account.
  void fetch(size_t index);

  /// Fetches and verifies all accounts.
  void fetch_all();

  /// Applies frames after the last one seen. Fails the test when one does not
  /// verify or does not follow.
  void follow(const simnet::event_log& log);

  /// The result of all frames and exports.
  const std::map<std::string, copy>& copies() const noexcept { return copies_; }

  size_t commits() const noexcept { return commits_; }

private:
  void apply(const shared_bytes& frame);

  const simnet::truth& source_;
  wall_time now_;
  std::map<const simnet::event_log*, int64_t> cursors_;
  size_t commits_ = 0;
  std::map<std::string, copy> copies_;
};

/// The network's own state, in the same form.
std::map<std::string, copy> expected_copies(const simnet::truth& source);

/// Frames of a log after `cursor`, decoded; the frames outlive the events.
struct heard {
  std::vector<simnet::event_log::numbered_frame> frames;
  std::vector<atproto::frame_event> events;
};

heard listen(const simnet::event_log& log, int64_t cursor = 0);

} // namespace weir::tests
