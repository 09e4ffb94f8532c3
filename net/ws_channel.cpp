#include "net/ws_channel.hpp"

#include "base/random.hpp"
#include "net/limits.hpp"

#include <algorithm>

namespace weir::net {

namespace {

ws_close_info lost(std::string why) {
  return close_info(ec::unreachable, std::move(why));
}

} // namespace

ws_close_info close_info(ec code, std::string why) {
  ws_close_info out;
  out.reason = fail(code, std::move(why));
  return out;
}

ws_channel::ws_channel(event_loop& loop, const ws_channel_options& options)
  : loop_(loop), options_(options),
    decoder_(options.server, options.message_bytes_max),
    timer_(loop.make_timer()) {}

// -- queue: any thread --------------------------------------------------------

bool ws_channel::enqueue(shared_bytes frame) {
  {
    std::lock_guard guard{mutex_};
    if (queue_closed_)
      return false;
    auto full = queued_messages_ >= options_.queue_messages_max
                || queued_bytes_ + frame.size() > options_.queue_bytes_max;
    if (full && queued_messages_ > 0) {
      refused_ = true;
      return false;
    }
    ++queued_messages_;
    queued_bytes_ += frame.size();
    queue_.push_back(std::move(frame));
    if (std::exchange(flush_posted_, true))
      return true;
  }
  loop_.post([self = shared_from_this()] {
    self->write();
  });
  return true;
}

// -- life ---------------------------------------------------------------------

void ws_channel::open(stream_ptr connected, shared_bytes greeting,
                      bytes_view received) {
  if (state_ != state::connecting) {
    connected->close();
    return;
  }
  stream_ = std::move(connected);
  state_ = state::open;
  life_ = pinged_ = loop_.now();
  if (!greeting.empty())
    line_.push_front({std::move(greeting)});
  while (!received.empty()) {
    auto into = decoder_.prepare();
    auto n = std::min(into.size(), received.size());
    std::copy_n(received.begin(), n, into.begin());
    decoder_.commit(n);
    received = received.subspan(n);
  }
  arm();
  write();
  pump();
}

void ws_channel::close(uint16_t code, std::string_view text,
                       ws_close_info why) {
  if (state_ == state::connecting)
    return cut(std::move(why));
  if (state_ != state::open)
    return;
  state_ = state::closing;
  close_deadline_ = loop_.now() + limits::ws_close_timeout;
  drop_queue();
  close_ = frame(ws_opcode::close, ws_close_payload(code, text));
  tell(why);
  write();
  pump_closing();
  arm();
}

void ws_channel::cut(ws_close_info why) {
  if (state_ == state::over)
    return;
  state_ = state::over;
  timer_->cancel();
  if (stream_)
    stream_->close();
  drop_queue();
  tell(why);
}

void ws_channel::drop_queue() {
  // A write in progress still needs its frames; `write` drops the rest.
  for (auto& x : line_)
    x.counted = false;
  std::lock_guard guard{mutex_};
  queue_.clear();
  queued_messages_ = queued_bytes_ = 0;
  queue_closed_ = true;
}

/// Our close frame is written: ends the connection if the peer's has come.
void ws_channel::finish_closing() {
  if (state_ != state::closing || !close_written_)
    return;
  if (peer_closed_) {
    stream_->shut_down();
    cut({});
  } else if (discarding_) {
    stream_->shut_down(); // The peer sees the close frame and an orderly end.
  }
}

// -- reading ------------------------------------------------------------------

void ws_channel::pump() {
  while (state_ == state::open && !reading_) {
    if (!ready())
      return;
    auto x = decoder_.next();
    if (x.what == ws_decoder::kind::none) {
      on_quiet();
      if (state_ == state::open)
        read();
      return;
    }
    handle(std::move(x));
  }
}

void ws_channel::handle(ws_decoder::event x) {
  using kind = ws_decoder::kind;
  switch (x.what) {
    case kind::none:
      break;
    case kind::fragment:
      on_data_frame();
      break;
    case kind::text:
    case kind::binary:
      on_data_frame();
      on_message(x.what, std::move(x.payload));
      break;
    case kind::ping:
    case kind::pong:
      if (!on_control_frame())
        return close(ws_code::policy, "too many control frames",
                     lost("too many control frames"));
      if (x.what == kind::ping) {
        // Only the newest ping is answered, as RFC 6455 allows, so that pongs
        // need no queue.
        pong_ = frame(ws_opcode::pong, x.payload.view());
        write();
      }
      break;
    case kind::close: {
      auto info = lost("closed by the peer");
      info.close_code = x.code;
      info.close_text = as_text(x.payload.view());
      peer_closed_ = true;
      return close(x.code == 0 ? ws_code::normal : x.code, {}, info);
    }
    case kind::failed:
      discarding_ = true;
      return close(x.code, x.reason,
                   close_info(x.code == ws_code::too_big ? ec::limit_reached
                                                         : ec::malformed,
                              x.reason));
  }
}

void ws_channel::read() {
  reading_ = true;
  life_ = loop_.now();
  stream_->read_some(decoder_.prepare(), [self = shared_from_this()](
                                           std::error_code error, size_t n) {
    self->on_read(error, n);
  });
}

void ws_channel::on_read(std::error_code error, size_t n) {
  reading_ = false;
  if (state_ == state::over)
    return;
  if (error)
    return cut(lost("connection lost: " + error.message()));
  if (n == 0)
    return cut(lost("connection ended without a close frame"));
  life_ = loop_.now();
  // Unusable input is not kept: the next read overwrites it.
  if (!discarding_)
    decoder_.commit(n);
  if (state_ == state::closing)
    pump_closing();
  else
    pump();
}

/// Looks for the peer's close frame and throws away the rest.
void ws_channel::pump_closing() {
  using kind = ws_decoder::kind;
  while (state_ == state::closing && !reading_ && !peer_closed_) {
    auto what = discarding_ ? kind::none : decoder_.next().what;
    if (what == kind::none)
      return read();
    peer_closed_ = what == kind::close;
    discarding_ = what == kind::failed;
  }
  finish_closing();
}

// -- writing ------------------------------------------------------------------

void ws_channel::write() {
  if (writing_ || state_ == state::connecting || state_ == state::over)
    return;
  auto drained = state_ == state::open && refill();
  if (close_) // Nothing follows a close frame.
    line_.resize(offset_ > 0 ? 1 : 0);
  insert_control(ping_);
  insert_control(pong_);
  insert_control(close_);
  if (!line_.empty()) {
    parts_.clear();
    for (auto& x : line_) {
      if (parts_.size() == stream::gather_max)
        break;
      parts_.push_back(x.frame.view());
    }
    parts_.front() = parts_.front().subspan(offset_);
    offered_ = 0;
    for (auto part : parts_)
      offered_ += part.size();
    writing_ = true;
    progress_ = loop_.now();
    stream_->write_some(
      parts_, [self = shared_from_this()](std::error_code error, size_t n) {
        self->on_written(error, n);
      });
  }
  if (drained)
    on_drained();
}

/// Moves queued frames into the line. True when `on_drained` is due.
bool ws_channel::refill() {
  std::lock_guard guard{mutex_};
  flush_posted_ = false;
  while (!queue_.empty() && line_.size() < stream::gather_max) {
    line_.push_back({std::move(queue_.front()), true});
    queue_.pop_front();
  }
  return queued_messages_ <= options_.queue_messages_max / 2
         && queued_bytes_ <= options_.queue_bytes_max / 2
         && std::exchange(refused_, false);
}

/// Puts a control frame at the next frame boundary.
void ws_channel::insert_control(std::optional<bytes>& x) {
  if (!x)
    return;
  auto at = line_.begin() + (offset_ > 0 ? 1 : 0);
  line_.insert(at, outgoing{shared_bytes{std::move(*x)}});
  x.reset();
}

void ws_channel::on_written(std::error_code error, size_t n) {
  writing_ = false;
  if (state_ == state::over)
    return;
  if (error)
    return cut(lost("connection lost: " + error.message()));
  progress_ = loop_.now();
  // Only bytes that had to wait for the peer prove that it takes any.
  if (blocked_ && options_.sending_is_life)
    life_ = progress_;
  blocked_ = n < offered_;
  advance(n);
  write();
  if (state_ == state::closing && !writing_) {
    close_written_ = true;
    finish_closing();
  }
}

void ws_channel::advance(size_t n) {
  size_t messages = 0;
  size_t size = 0;
  offset_ += n;
  while (!line_.empty() && offset_ >= line_.front().frame.size()) {
    auto& done = line_.front();
    offset_ -= done.frame.size();
    messages += done.counted;
    size += done.counted ? done.frame.size() : 0;
    line_.pop_front();
  }
  std::lock_guard guard{mutex_};
  queued_messages_ -= messages;
  queued_bytes_ -= size;
}

bytes ws_channel::frame(ws_opcode opcode, bytes_view payload) const {
  if (options_.server)
    return ws_frame(opcode, payload);
  std::array<uint8_t, 4> mask;
  options_.random->fill(mask);
  return ws_frame(opcode, payload, mask);
}

// -- time ---------------------------------------------------------------------

void ws_channel::tick() {
  auto now = loop_.now();
  if (state_ == state::closing && now >= close_deadline_)
    return cut({});
  if (state_ == state::open) {
    if (reading_ && now - life_ >= options_.idle_timeout)
      return cut(lost("no sign of life"));
    if (writing_ && now - progress_ >= options_.stall_timeout)
      return cut(lost("the peer does not take what is sent"));
    if (now - pinged_ >= options_.ping_interval) {
      pinged_ = now;
      ping_ = frame(ws_opcode::ping, {});
      write();
    }
  }
  arm();
}

void ws_channel::arm() {
  if (state_ == state::over)
    return;
  auto now = loop_.now();
  auto due = pinged_ + options_.ping_interval;
  auto idle = options_.idle_timeout;
  auto stall = options_.stall_timeout;
  due = std::min(due, reading_ ? life_ + idle : now + idle / 4);
  due = std::min(due, writing_ ? progress_ + stall : now + stall / 4);
  if (state_ == state::closing)
    due = close_deadline_;
  auto delay = std::max<std::chrono::microseconds>(
    due - now, std::chrono::milliseconds{1});
  // The timer belongs to this object, so its task need not keep it alive.
  timer_->start(delay, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->tick();
  });
}

} // namespace weir::net
