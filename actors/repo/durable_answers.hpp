#pragma once

#include "actors/repo/repo_types.hpp"

#include <cstdint>
#include <functional>
#include <utility>

namespace weir::actors {

/// Answers to the commands of one REPO, each given when the changes of its
/// command are durable. Updates are confirmed in the order of sending.
class durable_answers {
public:
  /// @param updates How many more must be sent and confirmed first.
  void add(uint64_t updates, std::function<void()> answer) {
    waiting_.emplace_back(sent_ + updates, std::move(answer));
  }

  void clear() { waiting_.clear(); }

  void sent() noexcept { ++sent_; }
  void confirmed() noexcept { ++confirmed_; }

  /// Gives the answers that are due.
  /// @param rests Nothing is left to send. If all updates are confirmed, too,
  /// every answer is given: a command may have been taken back.
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
  /// The answers, each with the number of the update that it waits for.
  lazy_deque<std::pair<uint64_t, std::function<void()>>> waiting_;
  uint64_t sent_ = 0;
  uint64_t confirmed_ = 0;
};

} // namespace weir::actors
