#pragma once

#include "actors/repo/limits.hpp"
#include "actors/repo/repo_turn.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::actors {

/// The frames of one repo that are not judged yet, in the order in which they
/// will be judged. That is the order of arrival, except that frames from the
/// sync buffer are older than all others and go first.
class repo_inbox {
public:
  bool empty() const noexcept { return frames_.empty(); }
  size_t size() const noexcept { return frames_.size(); }

  /// @pre !empty()
  waiting_frame& front() noexcept { return frames_.front(); }
  const waiting_frame& front() const noexcept { return frames_.front(); }

  /// Whether the next frame came from the sync buffer.
  bool begins_buffered() const noexcept { return !empty() && front().buffered; }

  void push(std::vector<atproto::stamped_frame> frames, steady_time now) {
    for (auto& frame : frames)
      frames_.push_back({std::move(frame), now});
  }

  void push_front(waiting_frame x) { frames_.push_front(std::move(x)); }

  void pop() { frames_.pop_front(); }

  /// Finishes all frames without judging them.
  void settle_all(repo_turn& t) {
    for (const auto& x : frames_)
      t.settle(x);
    frames_.clear();
  }

  template <class Predicate>
  bool any_of(Predicate is) const {
    return std::any_of(frames_.begin(), frames_.end(), is);
  }

  /// Counts a frame that was refused after its expensive check.
  void note_refusal() noexcept { ++refusals_; }

  void begin_turn() noexcept { refusals_ = 0; }

  /// Whether the turn refused as many frames as it may: others run first.
  bool is_tired() const noexcept {
    return refusals_ >= limits::repo_refusals_a_turn;
  }

private:
  lazy_deque<waiting_frame> frames_;
  size_t refusals_ = 0; ///< Number of frames refused in this turn.
};

} // namespace weir::actors
