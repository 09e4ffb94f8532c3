#pragma once

#include "actors/repo/repo_types.hpp"

#include <cstdint>
#include <functional>
#include <utility>

namespace weir::actors {

/// Answers to commands of one REPO, each given when what its command changed is
/// durable. Updates are confirmed in the order in which they are sent. Without
/// CAF; one thread.
class durable_answers {
public:
  /// @param updates How many are to be confirmed first, besides those that were
  /// sent and are not confirmed.
  void add(uint64_t updates, std::function<void()> answer) {
    waiting_.emplace_back(sent_ + updates, std::move(answer));
  }

  /// Nobody is answered any more.
  void clear() { waiting_.clear(); }

  void sent() noexcept { ++sent_; }
  void confirmed() noexcept { ++confirmed_; }

  /// Gives those that are due.
  /// @param rests Nothing is to be sent. Then everything is durable, whatever was
  /// waited for: a command that was taken back has no update any more.
  void give(bool rests) {
    rests = rests && confirmed_ == sent_;
    while (!waiting_.empty()
           && (rests || waiting_.front().first <= confirmed_)) {
      const auto answer = std::move(waiting_.front().second);
      waiting_.pop_front();
      answer();
    }
  }

private:
  /// By the number of the update.
  lazy_deque<std::pair<uint64_t, std::function<void()>>> waiting_;
  uint64_t sent_ = 0;
  uint64_t confirmed_ = 0;
};

} // namespace weir::actors
