#pragma once

#include "actors/repo/update_lane.hpp"

#include <cassert>
#include <utility>

namespace weir::actors {

/// What the rules of a repo work with while they process one event: the state
/// at that moment, and the place for effects. All parts get the same object.
struct repo_turn {
  const now_time now;
  const repo_settings& settings;
  storage::repo_row& row; ///< The row as the next update will write it.
  update_lane& lane;
  repo_effects& out;

  const upstream_board& board() const noexcept {
    assert(now.board != nullptr);
    return *now.board;
  }

  /// The row has changed, so the next update carries it.
  void touch_row() noexcept { lane.touch_row(); }

  /// Sets a field of the row.
  template <class T>
  void set(T& field, std::type_identity_t<T> value) {
    if (std::exchange(field, value) != value)
      touch_row();
  }

  /// Finishes the frame as soon as everything decided before it is durable.
  frame_step settle(const waiting_frame& x) {
    lane.settle(x, out);
    return frame_step::taken;
  }

  /// Counts a refused frame against the upstream that brought it, if that is a
  /// PDS. A relay is not responsible for the hosts whose frames it passes on.
  void charge(const waiting_frame& x) {
    if (!x.frame.relay)
      out.refused.push_back(x.frame.at);
  }

  void count(repo_counter x) { out.counted.push_back(x); }

  /// Counts the operations that wrote a block which is no record.
  void count_undecodable(const std::vector<storage::new_operation>& ops) {
    for (const auto& x : ops)
      if (x.undecodable)
        count(repo_counter::record_undecodable);
  }

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
};

} // namespace weir::actors
