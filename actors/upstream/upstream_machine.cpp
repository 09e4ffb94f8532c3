#include "actors/upstream/upstream_machine.hpp"

#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "atproto/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

using atproto::frame_kind;

/// When what the frame tells happened; 0: it does not say. A commit is as old as its
/// rev. The others are of the moment in which their host wrote them: a #sync may
/// show a repo that has not changed for long.
wall_time moment_of(const atproto::frame_peek& x) {
  if (x.kind != frame_kind::commit)
    return atproto::parse_datetime(x.time).value_or(wall_time{});
  const auto rev = atproto::tid::parse(x.rev);
  return rev ? rev->time() : wall_time{};
}

} // namespace

upstream_machine::upstream_machine(storage::upstream_row row,
                                   upstream_options options)
  : row_(std::move(row)), options_(options),
    credit_(options.frames_max, options.bytes_max,
            event_rate{options.events_per_second, row_.id}),
    begun_(row_.reset_pending),
    careful_(row_.life == storage::stream_life::careful),
    arrivals_(row_.relay), last_received_(row_.cursor),
    numbers_since_(row_.first_cursor == 0 && row_.cursor == 0 ? row_.epoch
                                                              : 0) {
  // nop
}

upstream_machine::effects upstream_machine::start(steady_time now) {
  effects out;
  last_write_ = now;
  if (row_.cursor == 0 && row_.first_cursor == 0)
    row_.reset_pending = true; // First contact: nothing was received before.
  out.connect = connect();
  return out;
}

upstream_machine::effects upstream_machine::on_open(steady_time now) {
  effects out;
  connected_ = true;
  dropping_ = false;
  first_on_connection_ = true;
  last_on_connection_ = 0;
  regressions_ = 0;
  below_cursor_ = 0;
  infos_ = 0;
  arrivals_.on_open();
  redial_at_.reset();
  credit_.on_open();
  note_quiet(now);
  begin_without_cursor(now, out);
  if ((row_.first_cursor != 0 && !stamp_blocked_) || whole())
    out.list_repos = std::exchange(list_wanted_, false);
  give_credit(now, out);
  arm(out, now + limits::cursor_write_interval);
  return out;
}

upstream_machine::effects
upstream_machine::on_frames(std::vector<shared_bytes> frames,
                            steady_time now) {
  effects out;
  if (dropping_)
    return out; // Of a connection that was given up; they come again.
  end_reason_.clear();
  arrivals_.on_batch();
  const auto too_slow = counters_.too_slow;
  for (auto& frame : frames) {
    credit_.on_frame(frame.size());
    if (!end_reason_.empty() || stopped_)
      continue;
    ++counters_.frames;
    counters_.bytes += frame.size();
    take_frame(std::move(frame), now, out);
  }
  if (counters_.too_slow != too_slow)
    if (const auto times = pace_.was_too_slow(now))
      out.alerts.push_back("read too slowly for its host "
                           + std::to_string(times) + " times of late");
  quiet_since_.reset();
  advance();
  note_quiet(now);
  go_on_carefully(now, out);
  if (urgent_)
    persist(now, out);
  if (!end_reason_.empty())
    drop_connection(end_reason_, out, now);
  else
    give_credit(now, out);
  return out;
}

void upstream_machine::take_frame(shared_bytes frame, steady_time now,
                                  effects& out) {
  auto peek = atproto::peek_frame(frame.view());
  if (!peek) {
    take_malformed(peek.error(), out);
    return;
  }
  if (peek->kind == frame_kind::info || peek->kind == frame_kind::error) {
    take_special(*peek, frame.view(), out);
    return;
  }
  const auto seq = static_cast<uint64_t>(peek->seq);
  if (peek->seq <= 0 || peek->seq > limits::safe_integer_max) {
    if (peek->kind != frame_kind::unknown)
      take_malformed(fail(ec::malformed, "frame without a valid seq"), out);
    return;
  }
  const auto changed = moment_of(*peek);
  arrivals_.add(changed, now);
  if (!accept_seq(seq, out))
    return;
  flight_.push_back(
    {seq, static_cast<uint32_t>(frame.size()), false, changed});
  flight_bytes_ += frame.size();
  auto who = atproto::did::parse(peek->did);
  if (peek->kind == frame_kind::unknown || !who) {
    flight_.back().done = true; // Its seq counts, its content does not.
    credit_.rate().earn(1);     // Nobody pays for it.
    return;
  }
  atproto::stamped_frame stamped;
  stamped.at = {row_.id, row_.epoch, seq};
  stamped.first_cursor = row_.first_cursor;
  stamped.relay = row_.relay;
  stamped.kind = peek->kind;
  stamped.repo = std::move(*who);
  stamped.bytes = std::move(frame);
  if (stamp_blocked_)
    held_.push_back(std::move(stamped));
  else
    pass_on(std::move(stamped), out);
}

bool upstream_machine::accept_seq(uint64_t seq, effects& out) {
  if (last_on_connection_ != 0 && seq <= last_on_connection_) {
    ++counters_.regressions;
    if (!recent_.contains(seq)) {
      recent_.add(seq);
      begin_reset(); // It comes too late: the stream is beyond it.
    }
    if (++regressions_ >= limits::seq_regressions_max)
      end_reason_ = "its numbers went back again and again";
    return false;
  }
  const auto first = first_on_connection_;
  last_on_connection_ = seq;
  recent_.add(seq);
  first_on_connection_ = false;
  if (first && options_.assume_contiguous_seq && row_.cursor != 0
      && seq > last_received_ + 1 && !row_.reset_pending)
    begin_reset(); // CONS-16
  if (seq <= dialled_at_ && too_many_below_cursor(out))
    return false;
  if (seq <= last_received_)
    return false; // Already here or done: a replay after a reconnect.
  pace_.gets_on();
  last_received_ = seq;
  if (row_.reset_pending) {
    // CONS-15: #info has no cursor; the first sequenced frame supplies it.
    row_.reset_pending = false;
    row_.from_oldest = false;
    row_.first_cursor = seq;
    row_dirty_ = true;
    urgent_ = true;
    stamp_blocked_ = true;
    write_has_stamp_ = false; // A write in flight has an older one.
  }
  return true;
}

void upstream_machine::take_special(const atproto::frame_peek& peek,
                                    bytes_view frame, effects& out) {
  auto event = atproto::decode_frame(frame);
  if (!event) {
    take_malformed(event.error(), out);
    return;
  }
  if (peek.kind == frame_kind::error) {
    take_error(std::get<atproto::error_event>(*event).name, out);
    return;
  }
  if (++infos_ > limits::infos_per_connection_max) {
    end_reason_ = "too many #info frames";
    out.alerts.push_back(end_reason_);
    return;
  }
  const auto& info = std::get<atproto::info_event>(*event);
  if (info.name == "OutdatedCursor") {
    out.alerts.push_back("events were lost: the cursor was too old");
    begin_reset();
  } else {
    out.alerts.push_back("info: " + std::string{info.name});
  }
}

void upstream_machine::take_error(std::string_view name, effects& out) {
  end_reason_ = "stream error: " + std::string{name};
  out.alerts.push_back(end_reason_);
  if (name == "ConsumerTooSlow")
    ++counters_.too_slow;
  if (name != "FutureCursor")
    return;
  restart_numbers("the host says that our cursor is in its future", out);
}

void upstream_machine::take_malformed(const error& why, effects& out) {
  ++counters_.malformed;
  if (bad_cursor_ == last_received_)
    ++bad_tries_;
  else
    bad_tries_ = 1;
  bad_cursor_ = last_received_;
  if (bad_tries_ >= limits::bad_frame_tries_max) {
    ++counters_.skipped_bad;
    begin_reset(); // Whose it was nobody knows.
    out.alerts.push_back("stepped over a bad frame behind seq "
                         + std::to_string(last_received_) + ": "
                         + why.context);
    return;
  }
  // protocol-coverage.md 1.6: never skip at once.
  end_reason_ = "bad frame: " + why.context;
  out.alerts.push_back(end_reason_);
}

upstream_machine::effects
upstream_machine::on_closed(const stream_end& end, steady_time now) {
  effects out;
  connected_ = false;
  note_quiet(now);
  if (stopped_)
    return out;
  if (end.http_status == 501) {
    stopped_ = true;
    out.stopped = "the host does not offer subscribeRepos (501)";
    return out;
  }
  ++counters_.reconnects;
  redial_at_ = now
               + std::max<std::chrono::microseconds>(pace_.wait(end.draw),
                                                     end.retry_after);
  arm(out, *redial_at_);
  return out;
}

upstream_machine::effects
upstream_machine::on_done(uint32_t epoch, const std::vector<uint64_t>& seqs,
                          steady_time now) {
  effects out;
  if (epoch < numbers_since_)
    past_.done(epoch, seqs); // Of numbers that are no more.
  else
    finish(seqs);
  advance();
  note_quiet(now);
  go_on_carefully(now, out);
  give_credit(now, out);
  persist_in_time(now, out);
  return out;
}

void upstream_machine::finish(const std::vector<uint64_t>& seqs) {
  for (const auto seq : seqs) {
    const auto i = std::lower_bound(
      flight_.begin(), flight_.end(), seq,
      [](const flying& x, uint64_t y) { return x.seq < y; });
    if (i != flight_.end() && i->seq == seq)
      i->done = true;
    if (careful_.on() && careful_.on_done(seq, row_))
      row_dirty_ = urgent_ = true;
  }
}

upstream_machine::effects upstream_machine::on_lost(steady_time now) {
  effects out;
  flight_.clear();
  flight_bytes_ = 0;
  past_.clear();
  held_.clear();
  careful_.forget();
  last_received_ = row_.cursor;
  drop_connection("frames were lost here, and are asked for again", out, now);
  return out;
}

upstream_machine::effects upstream_machine::on_intake(bool reads,
                                                     steady_time now) {
  effects out;
  paused_ = !reads;
  note_quiet(now);
  give_credit(now, out);
  return out;
}

upstream_machine::effects upstream_machine::on_timer(steady_time now) {
  effects out;
  if (stopped_)
    return out;
  if (redial_at_ && *redial_at_ <= now) {
    redial_at_.reset();
    out.connect = connect();
    return out;
  }
  go_on_carefully(now, out);
  give_credit(now, out);
  persist_in_time(now, out);
  arm(out, redial_at_.value_or(now + limits::cursor_write_interval));
  return out;
}

/// Moves the low-water mark over everything finished at the front.
void upstream_machine::advance() {
  while (!flight_.empty() && flight_.front().done) {
    row_.cursor = std::max(row_.cursor, flight_.front().seq);
    row_dirty_ = true;
    careful_machine::note_progress(row_);
    flight_bytes_ -= flight_.front().bytes;
    passed_.add(flight_.front().changed);
    passed_noted_ = false;
    flight_.pop_front();
  }
}

/// A socket without credit is not read: its silence says nothing.
void upstream_machine::note_quiet(steady_time now) {
  if (!connected_ || paused_ || in_flight() != 0 || !credit_.is_enough()
      || credit_.stalled())
    quiet_since_.reset();
  else if (!quiet_since_)
    quiet_since_ = now;
}

/// Keeps credit + frames in flight within the window; gives it in portions.
void upstream_machine::give_credit(steady_time now, effects& out) {
  if (!connected_ || stopped_ || paused_)
    return;
  const auto more = credit_.give(in_flight(), in_flight_bytes(), now);
  out.grant_frames += more.frames;
  out.grant_bytes += more.bytes;
  if (const auto next = credit_.next())
    arm(out, *next);
  note_quiet(now);
}

/// Unread bytes and no debt imply credit. Whatever broke that, another
/// connection begins with none and is given it anew.
upstream_machine::effects upstream_machine::on_look(bool is_read,
                                                    steady_time now) {
  effects out;
  if (!connected_ || dropping_ || stopped_)
    return out;
  const auto over = credit_.on_look(is_read, now);
  note_quiet(now);
  if (!over)
    return out;
  constexpr auto why = "its socket has credit and is not read";
  out.alerts.push_back(why);
  drop_connection(why, out, now);
  return out;
}

void upstream_machine::arm(effects& out, steady_time at) {
  if (!out.timer || at < *out.timer)
    out.timer = at;
}

void upstream_machine::drop_connection(std::string why, effects& out,
                                       steady_time now) {
  if (!connected_)
    return;
  out.disconnect = std::move(why);
  dropping_ = true;
  arm(out, now + limits::cursor_write_interval);
}

} // namespace weir::actors
