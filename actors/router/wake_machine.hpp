#pragma once

#include "actors/router/limits.hpp"
#include "atproto/stamped_frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// Decides which work may wake REPOs of one shard, and which work waits until
/// fewer REPOs live (docs/architecture.md, When memory runs short). Frames and
/// commands have separate queues, as a client waits for a command.
///
/// # Frames
/// A shard is full with more than `limits::awake_factor_max` times as many
/// REPOs as it keeps alive, and one more. A frame that would wake another REPO
/// then waits, and so do the later frames of the same repo from the same
/// stream, so that none overtakes another. Streams take turns of one frame
/// each, so that a stream with many new repos delays no other. A waiting frame
/// stays in flight for its stream, whose window bounds the number. Only when a
/// REPO of another shard dies are the streams read again regardless.
///
/// # Commands
/// One command may name a great many repos. So at most half as many commands
/// are at work at once as the shard keeps REPOs alive, and only one while that
/// half would not fit beside the REPOs that still live. None overtakes another.
///
/// Ask again for waiting work when a REPO has ended, when a command is done,
/// and from time to time: a busy REPO does not report when it becomes idle.
/// Without CAF or clock; one thread.
///
/// @param residents In all calls: the REPOs that live, and those that close.
template <class Command>
class wake_machine {
public:
  using frames = std::vector<atproto::stamped_frame>;

  /// @param resident_max REPOs that the shard keeps alive.
  explicit wake_machine(size_t resident_max)
    : residents_max_(limits::awake_factor_max * resident_max + 1),
      commands_max_(std::max<size_t>(resident_max / 2, 1)),
      one_command_at_(resident_max + commands_max_) {}

  /// @param batch Frames of one stream; may be empty.
  /// @param wakes Tells whether a frame would wake a REPO. It is called only
  ///        when the batch could fill the shard.
  /// @returns the frames that need not wait, in order
  template <class Wakes>
  frames take(frames batch, size_t residents, const Wakes& wakes) {
    if (turns_.empty() && residents + batch.size() <= residents_max_)
      return batch;
    frames out;
    for (auto& x : batch)
      if (has_earlier(x) || wakes(x))
        keep(std::move(x));
      else
        out.push_back(std::move(x));
    return out;
  }

  /// The oldest frame of the stream whose turn it is, unless the shard is full.
  std::optional<atproto::stamped_frame> next_frame(size_t residents) {
    if (turns_.empty() || residents >= residents_max_)
      return std::nullopt;
    const auto stream = turns_.front();
    turns_.pop_front();
    const auto i = streams_.find(stream);
    auto& [waiting, repos] = i->second;
    auto out = std::move(waiting.front());
    waiting.pop_front();
    if (const auto x = repos.find(out.repo); --x->second == 0)
      repos.erase(x);
    if (waiting.empty())
      streams_.erase(i);
    else
      turns_.push_back(stream);
    return out;
  }

  bool has_frames() const noexcept { return !turns_.empty(); }

  /// Drops all waiting frames; the streams will read them again.
  void forget_frames() {
    streams_.clear();
    turns_.clear();
  }

  void add(Command x) { commands_.push_back(std::move(x)); }

  /// The next command that may begin. One may always run.
  std::optional<Command> next_command(size_t residents) {
    const auto most = residents >= one_command_at_ ? 1 : commands_max_;
    if (commands_.empty() || at_work_ >= most)
      return std::nullopt;
    auto out = std::move(commands_.front());
    commands_.pop_front();
    ++at_work_;
    return out;
  }

  /// A command that had begun was answered.
  void done() noexcept { --at_work_; }

  void clear() {
    forget_frames();
    commands_.clear();
  }

private:
  struct queue {
    std::deque<atproto::stamped_frame> waiting;
    /// The number of frames of each repo.
    std::unordered_map<atproto::did, size_t> repos;
  };

  bool has_earlier(const atproto::stamped_frame& x) const {
    const auto i = streams_.find(x.at.upstream);
    return i != streams_.end() && i->second.repos.contains(x.repo);
  }

  void keep(atproto::stamped_frame x) {
    auto& [waiting, repos] = streams_[x.at.upstream];
    if (waiting.empty())
      turns_.push_back(x.at.upstream);
    ++repos[x.repo];
    waiting.push_back(std::move(x));
  }

  size_t residents_max_;
  size_t commands_max_;
  size_t one_command_at_;
  std::unordered_map<uint32_t, queue> streams_;
  std::deque<uint32_t> turns_; ///< Each stream that has a queue, once.
  std::deque<Command> commands_;
  size_t at_work_ = 0; ///< Commands that have begun.
};

} // namespace weir::actors
