#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "actors/upstream/upstream_machine.hpp"

#include <algorithm>
#include <utility>

/// A stream's row, its numbers, and the frames that wait until it is durable.
namespace weir::actors {

void upstream_machine::persist(steady_time now, effects& out) {
  if (!row_dirty_ || write_in_flight_)
    return;
  row_dirty_ = false;
  urgent_ = false;
  write_in_flight_ = true;
  last_write_ = now;
  write_has_stamp_ = stamp_blocked_;
  written_suspect_ = row_.suspect;
  written_reset_ = row_.reset_pending ? row_.epoch : 0;
  out.write = row_;
}

/// An idle one is not written again and again.
void upstream_machine::note_passed(steady_time now, wall_time wall) {
  if (!quiet_since_
      || now - *quiet_since_ < arrivals_.quiet_min(now, wall)) {
    const auto told = std::min(passed_.middle(), wall);
    row_.passed_us = std::max(row_.passed_us, told.micros);
    return;
  }
  if (!passed_before_)
    passed_before_ = row_.passed_us;
  row_.passed_us = wall.micros;
  if (!std::exchange(passed_noted_, true))
    row_dirty_ = true;
}

void upstream_machine::judge_silence(bool was_quiet) noexcept {
  const auto before = std::exchange(passed_before_, std::nullopt);
  if (was_quiet || !before)
    return;
  row_.passed_us = *before;
  row_dirty_ = true;
}

/// A timer of credit, or a frame that is finished, does not make it due.
void upstream_machine::persist_in_time(steady_time now, effects& out) {
  if (urgent_ || now - last_write_ >= limits::cursor_write_interval)
    persist(now, out);
}

upstream_machine::effects upstream_machine::on_row_durable(steady_time now) {
  effects out;
  write_in_flight_ = false;
  durable_reset_ = written_reset_;
  if (whole()) // Now a listing has a position to be compared at.
    out.list_repos = std::exchange(list_wanted_, false);
  if (write_has_stamp_) {
    write_has_stamp_ = false;
    stamp_blocked_ = false;
    out.list_repos |= std::exchange(list_wanted_, false);
    for (auto& x : std::exchange(held_, {}))
      pass_on(std::move(x), out);
  }
  release_careful(out);
  go_on_carefully(now, out);
  if (urgent_)
    persist(now, out);
  return out;
}

/// Where to ask from: the low-water mark exactly; before anything was done,
/// just ahead of the first frame ever received; after a restart of the host's
/// numbers, from its oldest; on first contact, from now.
std::optional<uint64_t> upstream_machine::start_cursor() const {
  if (row_.cursor != 0)
    return row_.cursor;
  if (row_.first_cursor != 0)
    return row_.first_cursor - 1;
  if (row_.from_oldest)
    return 0;
  return std::nullopt;
}

upstream_machine::dial upstream_machine::connect() {
  const auto from = start_cursor();
  dialled_at_ = from.value_or(0);
  return {from};
}

/// A host may begin with the cursor itself, or a little before. One that goes
/// on so has other numbers than those we know and does not say it; nothing that
/// it sends would ever be new.
bool upstream_machine::too_many_below_cursor(effects& out) {
  if (++below_cursor_ < limits::seq_regressions_max)
    return false;
  end_reason_ = "the host sends what lies before our cursor";
  restart_numbers(end_reason_, out);
  return true;
}

/// protocol-coverage.md 1.13: never in silence, and by the operator's policy.
void upstream_machine::restart_numbers(const std::string& why, effects& out) {
  if (options_.on_future_cursor == future_cursor_policy::stop) {
    stopped_ = true;
    out.stopped = why;
    return;
  }
  out.alerts.push_back("its numbers start anew: " + why);
  begin_reset();
  row_.from_oldest = true;
  begun_ = false;
  passed_.clear();
  row_.cursor = 0;
  last_received_ = 0;
  forget_numbers();
  row_.suspect = 0;
  row_.ends = 0;
}

/// Before numbers start anew. What others have of the old ones still counts.
void upstream_machine::forget_numbers() {
  for (const auto& x : flight_)
    if (!x.done && !careful_.on()) // Then one frame at most is out.
      past_.add(numbers_since_, x.seq, x.bytes);
  numbers_since_ = row_.epoch;
  flight_.clear();
  flight_bytes_ = 0;
  recent_.clear();
  careful_.forget();
}

void upstream_machine::begin_reset() {
  ++counters_.resets;
  ++row_.epoch;
  row_.reset_pending = true;
  row_.first_cursor = 0;
  row_dirty_ = true;
  urgent_ = true;
  list_wanted_ = true;
  begun_ = true; // By the connection that says so.
}

/// Where the host cannot be asked for what follows on something, whatever
/// happened before this connection was open is lost.
void upstream_machine::begin_without_cursor(steady_time now, effects& out) {
  if (row_.cursor != 0 || row_.first_cursor != 0)
    return;
  if (std::exchange(begun_, true)) {
    ++row_.epoch;
    list_wanted_ = true;
  }
  row_.reset_pending = true;
  if (durable_reset_ == row_.epoch)
    return;
  row_dirty_ = urgent_ = true;
  persist(now, out);
}

void upstream_machine::pass_on(atproto::stamped_frame x, effects& out) {
  if (careful_.on())
    careful_.hold(std::move(x));
  else
    out.forward.push_back(std::move(x));
}

void upstream_machine::go_on_carefully(steady_time now, effects& out) {
  if (!careful_.on())
    return;
  if (careful_.is_over(now)) {
    for (auto& x : careful_.end(row_))
      out.forward.push_back(std::move(x));
    row_dirty_ = urgent_ = true;
  } else if (careful_.next(row_)) {
    row_dirty_ = urgent_ = true;
  }
}

/// The row that names the frame is durable: now it may end the process.
void upstream_machine::release_careful(effects& out) {
  auto frame = careful_.release(written_suspect_, row_);
  if (!frame)
    return;
  if (frame->bytes.size() == 0) {
    ++counters_.skipped_poison;
    out.alerts.push_back("stepped over seq " + std::to_string(frame->at.seq)
                         + " of " + frame->repo.str() + ": the process ended "
                         + std::to_string(row_.ends)
                         + " times while it was handled");
  }
  out.forward.push_back(std::move(*frame));
}

/// The oldest ones, as many as there are too many. Which ones fill a window of
/// bytes nobody counts: then it is the older half.
uint64_t upstream_machine::gives_way() const noexcept {
  const auto most = options_.frames_max / limits::clock_window_part;
  const auto is_full
    = in_flight() > most
      || in_flight_bytes() > options_.bytes_max / limits::clock_window_part;
  if (!is_full)
    return 0;
  if (flight_.empty())
    return 1; // All are of old numbers, and give way whatever they are.
  const auto first_to_stay = in_flight() > most
                               ? std::min(in_flight() - most, flight_.size())
                               : (flight_.size() + 1) / 2;
  return flight_[first_to_stay - 1].seq;
}

upstream_machine::effects upstream_machine::on_stop() {
  effects out;
  careful_machine::end_life(row_);
  out.write = row_;
  return out;
}

} // namespace weir::actors
