#include "actors/repo/sync_buffer.hpp"

#include "actors/repo/limits.hpp"

#include <iterator>
#include <utility>

namespace weir::actors {

bool sync_buffer::keep(waiting_frame x, repo_turn& t) {
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

void sync_buffer::drop(repo_turn& t) {
  doubt_.drop_frames();
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

// -- draining -----------------------------------------------------------------

void sync_buffer::drain(draining why) {
  drain_ = why;
  if (!drains_disk())
    // Otherwise the frames in memory are younger than those on disk.
    give_back_memory();
}

void sync_buffer::give_back_memory() {
  for (auto i = frames_.rbegin(); i != frames_.rend(); ++i)
    inbox_.push_front(std::move(*i));
  frames_.clear();
  bytes_ = 0;
}

void sync_buffer::read(repo_turn& t) {
  if (!drains_disk() || read_pending_ || t.lane.in_flight()
      || t.lane.puts_in_buffer() || inbox_.begins_buffered())
    return;
  read_pending_ = true;
  t.out.read_buffer = after_;
}

result<void> sync_buffer::take_page(repo_buffer_page page, repo_turn& t) {
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

} // namespace weir::actors
