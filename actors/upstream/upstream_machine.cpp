#include "actors/upstream/upstream_machine.hpp"

#include "actors/support/limits_health.hpp"
#include "atproto/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

upstream_machine::upstream_machine(storage::upstream_row row,
                                   upstream_options options)
  : row_(std::move(row)), options_(options),
    careful_(row_.life == storage::stream_life::careful),
    flight_(row_.first_cursor == 0 && row_.cursor == 0 ? row_.epoch : 0),
    numbers_(row_.cursor), arrivals_(row_.relay) {}

upstream_machine::effects upstream_machine::start(steady_time now) {
  effects out;
  writes_.start(now);
  if (row_.cursor == 0 && row_.first_cursor == 0)
    row_.reset_pending = true; // First contact: nothing was received before.
  out.connect = connect();
  return out;
}

upstream_machine::effects upstream_machine::on_open(steady_time now) {
  effects out;
  connected_ = opened_ = true;
  dropping_ = false;
  last_error_.clear();
  rest_.on_open(now, from_now_);
  infos_ = 0;
  numbers_.on_open();
  arrivals_.on_open();
  redial_at_.reset();
  admission_.on_open();
  note_quiet(now);
  epoch_.begin_without_cursor();
  writes_.write(row_, now, false, out.write);
  if (epoch_.is_stamped() || whole())
    out.list_repos = epoch_.take_listing();
  give_credit(now, out);
  out.arm(now + limits::cursor_write_interval);
  return out;
}

upstream_machine::effects
upstream_machine::on_frames(std::vector<shared_bytes> frames, steady_time now,
                            wall_time wall) {
  const auto quiet_since = quiet_.since();
  const auto quiet_min = arrivals_.quiet_min(now, wall);
  auto out = take(std::move(frames), now);
  const auto is_late = arrivals_.is_late(now, wall);
  if (quiet_.judge(row_, !is_late))
    writes_.touch();
  if (!is_late)
    rest_.on_frames(quiet_since, quiet_min, now);
  return out;
}

upstream_machine::effects
upstream_machine::take(std::vector<shared_bytes> frames, steady_time now) {
  effects out;
  if (dropping_)
    return out; // The connection was given up: its frames come again.
  end_reason_.clear();
  arrivals_.on_batch();
  const auto too_slow = counters_.too_slow;
  const auto skipped_bad = counters_.skipped_bad;
  for (auto& frame : frames) {
    admission_.on_frame(frame.size());
    if (!end_reason_.empty() || stopped_)
      continue;
    ++counters_.frames;
    counters_.bytes += frame.size();
    take_frame(std::move(frame), now, out);
  }
  if (counters_.skipped_bad != skipped_bad)
    bad_at_ = now;
  if (counters_.too_slow != too_slow)
    if (const auto times = pace_.was_too_slow(now))
      out.alerts.push_back("read too slowly for its host "
                           + std::to_string(times) + " times within an hour");
  quiet_.note(false, now);
  advance();
  note_quiet(now);
  go_on_carefully(now, out);
  writes_.write(row_, now, false, out.write);
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
  if (peek->kind == atproto::frame_kind::info
      || peek->kind == atproto::frame_kind::error) {
    take_special(*peek, frame.view(), out);
    return;
  }
  const auto seq = static_cast<uint64_t>(peek->seq);
  if (peek->seq <= 0 || peek->seq > limits::safe_integer_max) {
    if (peek->kind != atproto::frame_kind::unknown)
      take_malformed(fail(ec::malformed, "frame without a valid seq"), out);
    return;
  }
  const auto changed = moment_of(*peek);
  arrivals_.add(changed, now);
  if (!accept_seq(seq, out))
    return;
  auto who = atproto::did::parse(peek->did);
  // If this is false, only its seq counts, and its content is not used.
  const auto counts
    = peek->kind != atproto::frame_kind::unknown && who.has_value();
  flight_.add({row_.epoch, static_cast<uint32_t>(frame.size()), seq, !counts,
               changed});
  if (!counts)
    return;
  atproto::stamped_frame x;
  x.kind = peek->kind;
  x.repo = std::move(*who);
  x.bytes = std::move(frame);
  stamp(std::move(x), seq, out);
}

/// Passes a frame on as soon as the stamp of its epoch is durable.
void upstream_machine::stamp(atproto::stamped_frame x, uint64_t seq,
                             effects& out) {
  x.at = {row_.id, row_.epoch, seq};
  x.first_cursor = row_.first_cursor;
  x.relay = row_.relay;
  if (writes_.stamp_waits())
    held_.push_back(std::move(x));
  else
    pass_on(std::move(x), out);
}

bool upstream_machine::accept_seq(uint64_t seq, effects& out) {
  const auto place = numbers_.take(seq);
  if (place.fell) {
    if (place.late)
      begin_reset(); // It comes too late: the stream is beyond it.
    if (numbers_.fall_too_often())
      end_reason_ = "its numbers went back again and again";
    return false;
  }
  if (place.gap && options_.assume_contiguous_seq && row_.cursor != 0
      && !row_.reset_pending)
    begin_reset(); // CONS-16
  if (!place.asked && numbers_.are_others()) {
    end_reason_ = "the host sends what lies before our cursor";
    restart_numbers(end_reason_, out);
    return false;
  }
  if (!place.fresh) // It is here or done already: a replay after a reconnect.
    return false;
  pace_.gets_on();
  numbers_.receive(seq);
  epoch_.take(seq);
  return true;
}

void upstream_machine::take_special(const atproto::frame_peek& peek,
                                    bytes_view frame, effects& out) {
  auto event = atproto::decode_frame(frame);
  if (!event) {
    take_malformed(event.error(), out);
    return;
  }
  if (peek.kind == atproto::frame_kind::error) {
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
  if (numbers_.note_bad_frame()) {
    ++counters_.skipped_bad;
    begin_reset(); // It is not known which repo's event is lost.
    if (numbers_.bad_in_a_row() == 1) // One line for all that follow, too.
      out.alerts.push_back("skipped a bad frame after seq "
                           + std::to_string(numbers_.last_received()) + ": "
                           + why.context);
    return;
  }
  // It is never skipped at once (protocol-coverage.md 1.6).
  end_reason_ = "bad frame: " + why.context;
  out.alerts.push_back(end_reason_);
}

void upstream_machine::note_end(const stream_closed& end) {
  const auto why = std::exchange(hung_up_for_, {});
  last_error_ = why.empty() ? to_string(end.reason) : why;
  if (end.retry_after >= limits::health_rest_min)
    last_error_ += "; it asked not to be dialled for "
                   + std::to_string(end.retry_after.count()) + " seconds";
}

upstream_machine::effects
upstream_machine::on_closed(const stream_closed& end, uint64_t draw,
                            steady_time now) {
  effects out;
  connected_ = false;
  admission_.on_closed();
  note_quiet(now);
  if (stopped_)
    return out;
  if (end.http_status == 501) {
    stopped_ = true;
    out.stopped = last_error_
      = "the host does not offer subscribeRepos (501)";
    return out;
  }
  redial_at_ = now
               + std::max<std::chrono::microseconds>(pace_.wait(draw),
                                                     end.retry_after);
  out.arm(*redial_at_);
  return out;
}

upstream_machine::effects
upstream_machine::on_done(uint32_t epoch, const std::vector<uint64_t>& seqs,
                          steady_time now) {
  effects out;
  if (flight_.finish(epoch, seqs))
    for (const auto seq : seqs)
      if (careful_.on() && careful_.on_done(seq, row_))
        writes_.hurry();
  advance();
  note_quiet(now);
  go_on_carefully(now, out);
  give_credit(now, out);
  writes_.write_in_time(row_, now, out.write);
  return out;
}

upstream_machine::effects upstream_machine::on_lost(steady_time now) {
  effects out;
  flight_.clear();
  held_.clear();
  careful_.forget();
  numbers_.receive(row_.cursor);
  drop_connection("frames were lost here, and are asked for again", out, now);
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
  writes_.write_in_time(row_, now, out.write);
  out.arm(redial_at_.value_or(now + limits::cursor_write_interval));
  return out;
}

/// Moves the low-water mark over everything finished at the front.
void upstream_machine::advance() {
  while (const auto x = flight_.take_finished()) {
    row_.cursor = std::max(row_.cursor, x->seq);
    writes_.touch();
    careful_machine::note_progress(row_);
    quiet_.add(x->changed);
  }
}

void upstream_machine::give_credit(steady_time now, effects& out) {
  const auto more = admission_.give(now);
  out.grant_frames += more.frames;
  out.grant_bytes += more.bytes;
  if (const auto& next = admission_.wake_at())
    out.arm(*next);
  note_quiet(now);
}

upstream_machine::effects upstream_machine::on_look(bool is_read,
                                                    steady_time now) {
  effects out;
  const auto over = admission_.on_look(is_read, now);
  note_quiet(now);
  if (!over)
    return out;
  constexpr auto why = "its socket is not read although nothing prevents it";
  ++counters_.stalls;
  out.alerts.push_back(why);
  drop_connection(why, out, now);
  return out;
}

void upstream_machine::drop_connection(std::string why, effects& out,
                                       steady_time now) {
  if (!connected_)
    return;
  out.disconnect = hung_up_for_ = std::move(why);
  dropping_ = true;
  admission_.on_closed();
  out.arm(now + limits::cursor_write_interval);
}

// -- the row ------------------------------------------------------------------

upstream_machine::effects upstream_machine::on_row_durable(steady_time now) {
  effects out;
  const auto stamped = writes_.end();
  if (stamped || whole()) // A listing can be compared at this position.
    out.list_repos = epoch_.take_listing();
  if (stamped)
    for (auto& x : std::exchange(held_, {}))
      pass_on(std::move(x), out);
  release_careful(out);
  go_on_carefully(now, out);
  writes_.write(row_, now, false, out.write);
  return out;
}

/// The host says that the cursor is in its future. The operator's policy
/// decides what follows, and it is always reported (protocol-coverage.md 1.13).
void upstream_machine::restart_numbers(const std::string& why, effects& out) {
  if (options_.on_future_cursor == future_cursor_policy::stop) {
    stopped_ = true;
    out.stopped = last_error_ = why;
    return;
  }
  out.alerts.push_back("its sequence numbers began again: " + why);
  ++counters_.resets;
  epoch_.begin_from_oldest();
  quiet_.restart();
  numbers_.restart();
  flight_.restart(row_.epoch, !careful_.on());
  careful_.forget();
}

// -- frame by frame -----------------------------------------------------------

void upstream_machine::go_on_carefully(steady_time now, effects& out) {
  if (!careful_.on())
    return;
  if (careful_.is_over(now)) {
    for (auto& x : careful_.end(row_))
      out.forward.push_back(std::move(x));
    writes_.hurry();
  } else if (careful_.next(row_)) {
    writes_.hurry();
  }
}

/// The row that names the frame is durable: now it may end the process.
void upstream_machine::release_careful(effects& out) {
  auto frame = careful_.release(writes_.suspect(), row_);
  if (!frame)
    return;
  if (frame->bytes.size() == 0) {
    ++counters_.skipped_poison;
    out.alerts.push_back("skipped seq " + std::to_string(frame->at.seq) + " of "
                         + frame->repo.str() + ": the process ended "
                         + std::to_string(row_.ends)
                         + " times while it was handled");
  }
  out.forward.push_back(std::move(*frame));
}

} // namespace weir::actors
