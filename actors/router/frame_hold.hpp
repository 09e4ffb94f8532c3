#pragma once

#include "atproto/stamped_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// Frames that wait until fewer REPOs live (reliability.md P9): one queue for
/// each stream, served in turn, so that a stream of many new repos holds up no
/// other. Frames of one repo from one stream keep their order. Without CAF or
/// clock; one thread.
///
/// What is in here counts in the windows of the streams, which bound it.
class frame_hold {
public:
  using frames = std::vector<atproto::stamped_frame>;

  /// Holds the frames that would wake a REPO, and those that must not overtake
  /// one of them.
  /// @param batch Of one stream; may be empty.
  /// @param wakes Says of a frame whether it would.
  /// @returns the others.
  template <class Wakes>
  frames add(frames batch, const Wakes& wakes) {
    frames passing;
    frames held;
    for (auto& x : batch) {
      const auto holds = waiting_.contains(x.repo) || wakes(x);
      if (holds)
        ++waiting_[x.repo];
      (holds ? held : passing).push_back(std::move(x));
    }
    if (!held.empty())
      queue(std::move(held));
    return passing;
  }

  /// The oldest batch of the stream whose turn it is.
  std::optional<frames> next() {
    if (turns_.empty())
      return std::nullopt;
    const auto stream = turns_.front();
    turns_.pop_front();
    const auto i = queues_.find(stream);
    auto out = std::move(i->second.front());
    i->second.pop_front();
    if (i->second.empty())
      queues_.erase(i);
    else
      turns_.push_back(stream);
    for (const auto& x : out)
      forget(x.repo);
    return out;
  }

  bool empty() const noexcept { return turns_.empty(); }

  void clear() {
    queues_.clear();
    turns_.clear();
    waiting_.clear();
  }

private:
  void queue(frames batch) {
    const auto stream = batch.front().at.upstream;
    auto& of_stream = queues_[stream];
    if (of_stream.empty())
      turns_.push_back(stream);
    of_stream.push_back(std::move(batch));
  }

  void forget(const atproto::did& repo) {
    const auto i = waiting_.find(repo);
    if (--i->second == 0)
      waiting_.erase(i);
  }

  std::unordered_map<uint32_t, std::deque<frames>> queues_;
  std::deque<uint32_t> turns_; ///< Each stream that has a queue, once.
  std::unordered_map<atproto::did, size_t> waiting_; ///< Frames of each.
};

} // namespace weir::actors
