#include "actors/upstream/careful_machine.hpp"

#include "actors/upstream/limits.hpp"

#include <utility>

namespace weir::actors {

namespace {

using storage::stream_life;

void clear_suspect(storage::upstream_row& row) {
  row.suspect = 0;
  row.ends = 0;
}

} // namespace

void careful_machine::begin_life(storage::upstream_row& row) {
  if (row.life == stream_life::settled) {
    row.life = stream_life::running;
    clear_suspect(row);
    return;
  }
  row.life = stream_life::careful;
  if (row.suspect > row.cursor)
    ++row.ends;
  else
    clear_suspect(row);
}

void careful_machine::note_progress(storage::upstream_row& row) {
  if (row.life == stream_life::running)
    row.life = stream_life::settled;
}

void careful_machine::end_life(storage::upstream_row& row) {
  row.life = stream_life::settled;
  clear_suspect(row);
}

bool careful_machine::next(storage::upstream_row& row) {
  if (in_hand_ != 0 || held_.empty())
    return false;
  in_hand_ = held_.front().at.seq;
  if (row.suspect != in_hand_)
    row.ends = 0;
  row.suspect = in_hand_;
  return true;
}

std::optional<atproto::stamped_frame>
careful_machine::release(uint64_t suspect, const storage::upstream_row& row) {
  if (in_hand_ == 0 || released_ || suspect != in_hand_)
    return std::nullopt;
  released_ = true;
  ++passed_;
  auto out = std::move(held_.front());
  held_.pop_front();
  if (row.ends >= limits::poison_frame_ends_max) {
    out.kind = atproto::frame_kind::unknown;
    out.bytes = {};
  }
  return out;
}

bool careful_machine::on_done(uint64_t seq, storage::upstream_row& row) {
  if (!released_ || seq != in_hand_)
    return false;
  in_hand_ = 0;
  released_ = false;
  if (row.ends > 0)
    row.life = stream_life::settled;
  clear_suspect(row);
  return true;
}

bool careful_machine::is_over(steady_time now) {
  if (!began_ && (in_hand_ != 0 || !held_.empty()))
    began_ = now;
  return on_
         && ((in_hand_ == 0 && passed_ >= limits::upstream_frames_max)
             || (began_ && now - *began_ >= limits::careful_time_max));
}

std::deque<atproto::stamped_frame>
careful_machine::end(storage::upstream_row& row) {
  on_ = false;
  if (row.life == stream_life::careful)
    row.life = stream_life::running;
  clear_suspect(row);
  in_hand_ = 0;
  released_ = false;
  return std::exchange(held_, {});
}

void careful_machine::forget() {
  held_.clear();
  in_hand_ = 0;
  released_ = false;
}

} // namespace weir::actors
