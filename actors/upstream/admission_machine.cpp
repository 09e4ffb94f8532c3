#include "actors/upstream/admission_machine.hpp"

#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"

#include <algorithm>

namespace weir::actors {

admission_machine::admission_machine(const stream_flight& flight,
                                     const upstream_options& options) noexcept
  : flight_(flight), frames_max_(options.frames_max),
    bytes_max_(static_cast<int64_t>(options.bytes_max)),
    per_second_(options.events_per_second),
    portion_(std::max<size_t>(per_second_ / 10, 1)),
    bucket_(static_cast<double>(per_second_), static_cast<double>(per_second_)) {}

void admission_machine::on_open() noexcept {
  open_ = true;
  frames_ = 0;
  bytes_ = 0;
  stalled_since_.reset();
}

void admission_machine::on_frame(size_t bytes) noexcept {
  frames_ -= std::min<size_t>(frames_, 1);
  bytes_ -= static_cast<int64_t>(bytes);
  stalled_since_.reset();
}

void admission_machine::on_refused(size_t frames, steady_time now) noexcept {
  const auto cost = static_cast<double>(limits::refused_frame_cost);
  bucket_.charge(now, static_cast<double>(frames) * cost,
                 static_cast<double>(per_second_) * cost);
}

/// Small portions would cost a wake-up each; a socket that lacks either kind of
/// credit does not wait for a large one.
admission_machine::credit admission_machine::give(steady_time now) {
  wake_at_.reset();
  if (!open_ || !room_)
    return {};
  const auto frames = frames_free() - std::min(frames_, frames_free());
  const auto bytes = std::max<int64_t>(bytes_free() - bytes_, 0);
  if (has_credit() && frames < frames_max_ / 8 && bytes < bytes_max_ / 8)
    return {};
  const credit out{within_rate(frames, now), static_cast<size_t>(bytes)};
  bucket_.take(now, static_cast<double>(out.frames));
  frames_ += out.frames;
  bytes_ += bytes;
  if (frames_ == 0 && frames > 0)
    wake_at_ = now + bucket_.delay(now, static_cast<double>(portion_));
  return out;
}

admission_wait admission_machine::waits_for(steady_time now) const noexcept {
  if (!open_)
    return admission_wait::connection;
  if (!room_)
    return admission_wait::room;
  if (frames_free() == 0 || bytes_free() == 0)
    return admission_wait::window;
  return within_rate(frames_free(), now) == 0 ? admission_wait::rate
                                              : admission_wait::none;
}

bool admission_machine::on_look(bool is_read, steady_time now) {
  const auto may_wait
    = !open_ || (!has_credit() && waits_for(now) != admission_wait::none);
  if (is_read || may_wait)
    stalled_since_.reset();
  else if (!stalled_since_)
    stalled_since_ = now;
  if (!stalled_since_ || now - *stalled_since_ < limits::credit_stall_max)
    return false;
  stalls_ = stalls_ > 0 && now - stalled_at_ <= limits::health_memory
              ? stalls_ + 1
              : 1;
  stalled_at_ = now;
  return true;
}

bool admission_machine::keeps_stalling(steady_time now) const noexcept {
  return stalls_ >= limits::health_stalls_min
         && now - stalled_at_ <= limits::health_memory;
}

size_t admission_machine::frames_free() const noexcept {
  return frames_max_ - std::min(flight_.size(), frames_max_);
}

int64_t admission_machine::bytes_free() const noexcept {
  return std::max<int64_t>(
    bytes_max_ - static_cast<int64_t>(flight_.bytes()), 0);
}

size_t admission_machine::within_rate(size_t frames,
                                      steady_time now) const noexcept {
  if (per_second_ == 0)
    return frames;
  const auto level = bucket_.level(now);
  return level < static_cast<double>(std::min(frames, portion_))
           ? 0
           : std::min(frames, static_cast<size_t>(level));
}

} // namespace weir::actors
