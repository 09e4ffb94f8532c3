#pragma once

#include "actors/repo/update_lane.hpp"

#include <cassert>

namespace weir::actors {

class upstream_board;

/// What the rules of a repo work with while they process one event: the state
/// at that moment, and the place for the effects. It lives for that one call,
/// and every part of the repo gets the same object.
class repo_turn {
public:
  /// @param upstreams Null for an event whose rules do not use them.
  repo_turn(now_time time, const repo_settings& shared,
            storage::repo_row& stored, update_lane& updates,
            repo_effects& effects, const upstream_board* upstreams) noexcept
    : now(time), settings(shared), row(stored), lane(updates), out(effects),
      board_(upstreams) {}

  const now_time now;
  const repo_settings& settings;
  storage::repo_row& row; ///< As the next update will write it.
  update_lane& lane;
  repo_effects& out;

  const upstream_board& board() const noexcept {
    assert(board_ != nullptr);
    return *board_;
  }

  /// The row has changed, so the next update carries it.
  void touch_row() noexcept { lane.touch_row(); }

  void settle(const waiting_frame& x) { lane.settle(x, out); }

  void count(repo_counter x) { out.counted.push_back(x); }

  /// Asks for a timer at this time, unless an earlier one is asked for.
  void arm(steady_time at) {
    if (!out.timer || at < *out.timer)
      out.timer = at;
  }

  /// Puts the repo into the queue of fetches, with the status of its row.
  /// @param not_before In Unix seconds; 0 means at once.
  void wish_fetch(int64_t not_before) {
    out.wish = repo_wish{lane.repo(), row.status, not_before};
  }

private:
  const upstream_board* board_;
};

} // namespace weir::actors
