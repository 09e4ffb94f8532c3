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

/// Frames that wait until fewer REPOs live (architecture.md, When memory runs
/// short): one queue for each stream, whose frames are taken in turn, so that a
/// stream of many new repos holds up no other. Frames of one repo from one
/// stream keep their order; between streams there is none. Without CAF or
/// clock; one thread.
///
/// What is in here is in flight for its stream, whose window bounds it; only
/// when a REPO of another shard dies its streams are read again all the same.
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
    for (auto& x : batch) {
      const auto of = queues_.find(x.at.upstream);
      const bool waits
        = of != queues_.end() && of->second.repos.contains(x.repo);
      if (waits || wakes(x))
        hold(std::move(x));
      else
        passing.push_back(std::move(x));
    }
    return passing;
  }

  /// The oldest frame of the stream whose turn it is.
  std::optional<atproto::stamped_frame> next() {
    if (turns_.empty())
      return std::nullopt;
    const auto stream = turns_.front();
    turns_.pop_front();
    const auto i = queues_.find(stream);
    auto& [waiting, repos] = i->second;
    auto out = std::move(waiting.front());
    waiting.pop_front();
    if (const auto x = repos.find(out.repo); --x->second == 0)
      repos.erase(x);
    if (waiting.empty())
      queues_.erase(i);
    else
      turns_.push_back(stream);
    return out;
  }

  bool empty() const noexcept { return turns_.empty(); }

  void clear() {
    queues_.clear();
    turns_.clear();
  }

private:
  struct queue {
    std::deque<atproto::stamped_frame> waiting;
    std::unordered_map<atproto::did, size_t> repos; ///< Frames of each.
  };

  void hold(atproto::stamped_frame x) {
    const auto stream = x.at.upstream;
    auto& [waiting, repos] = queues_[stream];
    if (waiting.empty())
      turns_.push_back(stream);
    ++repos[x.repo];
    waiting.push_back(std::move(x));
  }

  std::unordered_map<uint32_t, queue> queues_;
  std::deque<uint32_t> turns_; ///< Each stream that has a queue, once.
};

} // namespace weir::actors
