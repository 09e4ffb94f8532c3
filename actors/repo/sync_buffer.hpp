#pragma once

#include "actors/repo/document_wait.hpp"
#include "actors/repo/limits.hpp"
#include "actors/repo/repo_inbox.hpp"

#include <utility>

namespace weir::actors {

/// Commits that cannot be judged yet because a fetch runs or a newer document
/// of the identity is needed. The youngest are in memory, the others on disk.
///
/// The buffer fills, then drains: its frames go back to the head of the inbox,
/// oldest first, and those on disk one page at a time. A frame's position is
/// given back when the frame is put into the buffer. That is safe as soon as
/// the row says `syncing` or `gap` on disk: after a crash the repo is fetched
/// again, and the fetch contains these frames.
class sync_buffer {
public:
  sync_buffer(repo_inbox& inbox, document_wait& wait) noexcept
    : inbox_(inbox), wait_(wait) {}

  bool empty() const noexcept { return frames_.empty(); }
  size_t size() const noexcept { return frames_.size(); }
  size_t bytes() const noexcept { return bytes_; }
  uint64_t disk_bytes() const noexcept { return disk_bytes_; }

  /// @returns false when there is no room for all frames that are kept.
  bool keep(waiting_frame x, repo_turn& t) {
    t.count(repo_counter::buffered);
    t.settle(x);
    x.buffered = true;
    x.number = ++last_;
    bytes_ += x.frame.bytes.size();
    frames_.push_back(std::move(x));
    if (frames_.size() <= limits::repo_waiting_commits_max
        && bytes_ <= limits::repo_waiting_bytes_max)
      return true;
    disk_bytes_ += bytes_;
    if (disk_bytes_ > limits::repo_disk_buffer_bytes_max)
      return false;
    for (auto& kept : frames_)
      t.lane.put_in_buffer(kept.number, std::move(kept.frame));
    frames_.clear();
    bytes_ = 0;
    return true;
  }

  /// Drops all frames, because a fetch contains them.
  void drop(repo_turn& t) {
    wait_.drop_frames();
    drain_ = draining::none;
    frames_.clear();
    bytes_ = 0;
    read_stale_ = read_pending_;
    after_ = 0;
    if (disk_bytes_ > 0) {
      disk_bytes_ = 0;
      t.lane.clear_buffer();
    }
  }

  // -- draining ---------------------------------------------------------------

  /// The document that the frames waited for arrived.
  void drain_by_document() { drain(draining::by_document); }

  /// The fetch that the frames waited for is done.
  void drain_after_fetch() { drain(draining::after_fetch); }

  /// A fetch begins: the frames that are left wait for it.
  void stop_draining() noexcept { drain_ = draining::none; }

  bool drains() const noexcept { return drain_ != draining::none; }

  /// While this holds, a frame that the document refuses is refused for good,
  /// because the frame waited for this document.
  bool drains_by_document() const noexcept {
    return drain_ == draining::by_document;
  }
  bool drains_after_fetch() const noexcept {
    return drain_ == draining::after_fetch;
  }

  /// Whether older frames than those in the inbox are still on disk.
  bool drains_disk() const noexcept { return drains() && disk_bytes_ > 0; }

  /// Whether the last frame of the buffer was taken.
  bool is_drained() const noexcept {
    return drains() && !drains_disk() && !inbox_.begins_buffered();
  }

  /// Asks for the next page when its frames can be judged: one page at a time,
  /// and only when everything that was put on disk is durable.
  void read(repo_turn& t) {
    if (!drains_disk() || read_pending_ || t.lane.in_flight()
        || t.lane.puts_in_buffer() || inbox_.begins_buffered())
      return;
    read_pending_ = true;
    t.out.read_buffer = after_;
  }

  /// A failure means that the page cannot be read, so that frames are missing.
  result<void> take_page(repo_buffer_page page, repo_turn& t) {
    read_pending_ = false;
    if (std::exchange(read_stale_, false) || !drains_disk())
      return {};
    if (!page.frames)
      return page.frames.error();
    auto& frames = *page.frames;
    if (!frames.empty())
      after_ = frames.back().number;
    if (page.end || frames.empty()) {
      disk_bytes_ = 0;
      t.lane.clear_buffer();
      give_back_memory();
    }
    for (auto i = frames.rbegin(); i != frames.rend(); ++i)
      inbox_.push_front(
        {std::move(i->frame), t.now.steady, true, false, i->number});
    return {};
  }

private:
  enum class draining : uint8_t { none, by_document, after_fetch };

  void drain(draining why) {
    drain_ = why;
    if (!drains_disk()) // Else those on disk are older.
      give_back_memory();
  }

  void give_back_memory() {
    for (auto i = frames_.rbegin(); i != frames_.rend(); ++i)
      inbox_.push_front(std::move(*i));
    frames_.clear();
    bytes_ = 0;
  }

  repo_inbox& inbox_;
  document_wait& wait_;
  lazy_deque<waiting_frame> frames_;
  size_t bytes_ = 0; ///< Bytes of `frames_`.
  uint64_t disk_bytes_ = 0;
  draining drain_ = draining::none;
  bool read_pending_ = false;
  /// The next page belongs to a buffer that was dropped.
  bool read_stale_ = false;
  uint64_t after_ = 0; ///< Number after which the next page begins.
  uint64_t last_ = 0;  ///< Number of the youngest frame so far.
};

} // namespace weir::actors
