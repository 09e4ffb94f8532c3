#include "net/http_call.hpp"

#include "net/http_writer.hpp"
#include "net/limits.hpp"
#include "net/retry_hints.hpp"

#include <algorithm>

namespace weir::net {

namespace {

constexpr size_t piece_bytes = 65'536;

bool is_ours_to_set(std::string_view name) noexcept {
  constexpr std::string_view ours[]
    = {"host",           "user-agent", "accept-encoding",
       "content-length", "connection", "transfer-encoding"};
  return std::any_of(std::begin(ours), std::end(ours), [name](auto x) {
    return same_text(x, name);
  });
}

bool is_redirect(int status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307
         || status == 308;
}

} // namespace

running_call::running_call(std::shared_ptr<http_pool> pool,
                           http_request request,
                           std::shared_ptr<http_sink> sink)
  : pool_(std::move(pool)), request_(std::move(request)),
    sink_(std::move(sink)), deadline_(pool_->loop().make_timer()),
    credit_(request_.credit) {}

void running_call::grant(uint64_t n) {
  pool_->loop().post([self = shared_from_this(), n] {
    if (self->over())
      return;
    auto paused = self->credit_ == 0;
    self->credit_ += std::min(n, UINT64_MAX - self->credit_);
    if (!paused || self->phase_ != phase::body)
      return;
    self->window_bytes_ = 0; // The time without credit does not count.
    self->window_end_ = self->pool_->loop().now() + self->limits().rate_window;
    self->arm();
    self->pump_body();
  });
}

void running_call::start() {
  total_deadline_ = pool_->loop().now() + limits().total;
  auto known = request_.target.scheme;
  if (known != scheme::http && known != scheme::https)
    return end(fail(ec::invalid_argument, "not an http or https URL"));
  if (!make_request())
    return end(fail(ec::invalid_argument, "malformed request header"));
  arm();
  origin_ = target().origin();
  pool_->acquire(shared_from_this(), false);
}

void running_call::end(result<void> outcome) {
  if (over())
    return;
  auto self = shared_from_this(); // The pool may hold the last pointer.
  auto whole
    = phase_ == phase::body && outcome && keep_alive_ && input().empty();
  phase_ = phase::over;
  deadline_->cancel();
  if (whole)
    pool_->release(origin_, std::exchange(stream_, nullptr));
  else
    close_stream();
  pool_->forget(self);
  std::exchange(sink_, nullptr)->on_end(std::move(outcome));
}

void running_call::close_stream() {
  if (!stream_)
    return; // It still waits: the pool sees that the call is over.
  stream_->close();
  stream_ = nullptr;
  pool_->release(origin_, nullptr);
}

// -- request ------------------------------------------------------------------

bool running_call::make_request() {
  http_writer head{request_.method, target().target};
  head.add("Host", target().authority());
  head.add("User-Agent", pool_->options().user_agent);
  head.add("Accept-Encoding", request_.accept_gzip ? "gzip" : "identity");
  for (auto& [name, value] : request_.headers) {
    if (is_ours_to_set(name))
      return false;
    head.add(name, value);
  }
  if (!request_.body.empty() || request_.method == "POST")
    head.add("Content-Length", std::to_string(request_.body.size()));
  out_ = head.take();
  if (out_.empty())
    return false;
  out_ += request_.body;
  return true;
}

void running_call::on_connection(stream_ptr x, bool reused) {
  stream_ = std::move(x);
  reused_ = reused;
  phase_ = phase::send;
  sent_ = 0;
  begin_ = end_ = 0;
  parser_.reset();
  send();
}

void running_call::send() {
  auto rest = as_bytes(out_).subspan(sent_);
  stream_->write_some(
    {&rest, 1}, [self = shared_from_this()](std::error_code error, size_t n) {
      self->on_sent(error, n);
    });
}

void running_call::on_sent(std::error_code error, size_t n) {
  if (over())
    return;
  if (error)
    return on_lost(error);
  sent_ += n;
  if (sent_ < out_.size())
    return send();
  phase_ = phase::head;
  head_deadline_ = pool_->loop().now() + limits().first_byte;
  arm();
  read();
}

// -- answer -------------------------------------------------------------------

void running_call::read() {
  if (begin_ > 0) {
    std::copy(input_.begin() + static_cast<ptrdiff_t>(begin_),
              input_.begin() + static_cast<ptrdiff_t>(end_), input_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  input_.resize(std::max(piece_bytes, end_ + 1));
  reading_ = true;
  stream_->read_some(
    std::span{input_}.subspan(end_),
    [self = shared_from_this()](std::error_code error, size_t n) {
      self->on_read(error, n);
    });
}

void running_call::on_read(std::error_code error, size_t n) {
  reading_ = false;
  if (over())
    return;
  if (error || (n == 0 && phase_ == phase::head))
    return on_lost(error);
  end_ += n;
  window_bytes_ += n;
  if (phase_ == phase::head)
    return on_head_bytes();
  if (n == 0) {
    if (auto whole = parser_->put_end(); !whole)
      return end(whole);
  }
  pump_body();
}

/// A kept-alive connection may have died while it was idle. In that case a new
/// one is tried, once.
void running_call::on_lost(std::error_code error) {
  auto safe = request_.method == "GET" || request_.method == "HEAD";
  auto unanswered
    = phase_ == phase::send || (phase_ == phase::head && !parser_);
  if (reused_ && safe && unanswered && !std::exchange(retried_, true)) {
    close_stream();
    phase_ = phase::connect;
    arm();
    return pool_->acquire(shared_from_this(), true);
  }
  end(fail(ec::unreachable,
           target().origin() + ": "
             + (error ? error.message() : "closed without an answer")));
}

void running_call::on_head_bytes() {
  if (!parser_)
    parser_ = make_response_parser(limits().head_bytes_max,
                                   request_.method == "HEAD");
  auto used = parser_->put_head(input());
  if (!used)
    return end(used.error());
  begin_ += *used;
  if (!parser_->has_head())
    return read();
  auto& head = parser_->head();
  if (head.status / 100 != 1)
    return on_head(std::move(head));
  if (head.status == 101 || ++interims_ > limits::http_interims_max)
    return end(fail(ec::malformed, "unexpected informational answer"));
  parser_.reset();
  on_head_bytes();
}

void running_call::on_head(http_head head) {
  if (redirect(head))
    return;
  if (auto good = begin_body(head); !good)
    return end(good);
  http_response_head out;
  auto now = pool_->options().time->wall_now();
  out.status = head.status;
  out.from = target();
  out.retry_after = retry_after(head.headers, now);
  out.rate_limit_reset = rate_limit_reset(head.headers, now);
  out.headers = std::move(head.headers);
  phase_ = phase::body;
  window_bytes_ = 0;
  window_end_ = pool_->loop().now() + limits().rate_window;
  arm();
  if (!sink_->on_head(out))
    return end(fail(ec::cancelled, "the answer is not wanted"));
  pump_body();
}

/// Follows a redirect. Returns false when there is none to follow.
bool running_call::redirect(const http_head& head) {
  auto location = find_header(head.headers, "location");
  auto safe = request_.method == "GET" || request_.method == "HEAD";
  if (!is_redirect(head.status) || !location || !safe)
    return false;
  auto refuse = [this](std::string why) {
    end(fail(ec::invalid_argument, "redirect: " + std::move(why)));
    return true;
  };
  if (redirects_++ >= request_.redirects_max)
    return refuse("too many");
  auto next = resolve_reference(target(), *location);
  if (!next)
    return refuse(next.error().context);
  if (next->scheme != scheme::http && next->scheme != scheme::https)
    return refuse("not to an http or https URL");
  if (target().secure() && !next->secure())
    return refuse("from https to http");
  const auto foreign = next->origin() != target().origin();
  if (foreign && !pool_->options().foreign_redirects)
    return refuse("to another origin");
  if (foreign)
    std::erase_if(request_.headers, [](const http_header& x) {
      return same_text(x.name, "authorization");
    });
  close_stream();
  request_.target = std::move(*next);
  phase_ = phase::connect;
  retried_ = false;
  make_request(); // It cannot fail: headers and URL were good.
  arm();
  origin_ = target().origin();
  pool_->acquire(shared_from_this(), false);
  return true;
}

// -- body ---------------------------------------------------------------------

result<void> running_call::begin_body(const http_head& head) {
  auto encoding = find_header(head.headers, "content-encoding");
  if (encoding && !same_text(*encoding, "identity")) {
    if (!request_.accept_gzip || !same_text(*encoding, "gzip"))
      return fail(ec::invalid_argument,
                  "content encoding that was not asked for");
    if (head.framing != body_framing::none)
      gzip_.emplace();
  }
  if (!gzip_ && head.framing == body_framing::sized
      && head.content_length > limits().body_bytes_max)
    return fail(ec::limit_reached, "the answer's body is too large");
  keep_alive_ = head.keep_alive;
  return {};
}

void running_call::pump_body() {
  while (phase_ == phase::body && !reading_) {
    // Output that waits inside zlib comes before more input.
    if (gzip_ && credit_ > 0)
      take_gzip({});
    auto used = parser_->put_body(input(), [this](bytes_view x) {
      return take(x);
    });
    if (over())
      return; // The sink ended the call.
    if (body_error_)
      return end(*body_error_);
    if (!used)
      return end(used.error());
    begin_ += *used;
    if (parser_->done() && gzip_ && !gzip_->done() && credit_ > 0)
      return end(fail(ec::unreachable, "the gzip body is cut off"));
    if (parser_->done() && (!gzip_ || gzip_->done()))
      return end({});
    if (credit_ == 0)
      return;
    read();
  }
}

size_t running_call::take(bytes_view piece) {
  if (gzip_)
    return take_gzip(piece);
  auto n = static_cast<size_t>(std::min<uint64_t>(piece.size(), credit_));
  return n > 0 && deliver(piece.first(n)) ? n : 0;
}

size_t running_call::take_gzip(bytes_view piece) {
  inflated_.resize(piece_bytes);
  size_t used = 0;
  while (credit_ > 0) {
    auto room = static_cast<size_t>(std::min<uint64_t>(piece_bytes, credit_));
    auto step
      = gzip_->run(piece.subspan(used), std::span{inflated_}.first(room));
    if (!step) {
      body_error_ = step.error();
      break;
    }
    used += step->used;
    if (step->made > 0 && !deliver(bytes_view{inflated_}.first(step->made)))
      break;
    if (step->made < room)
      break; // All input is used, and nothing waits inside zlib.
  }
  return used;
}

bool running_call::deliver(bytes_view piece) {
  if (piece.size() > limits().body_bytes_max - delivered_) {
    body_error_ = fail(ec::limit_reached, "the answer's body is too large");
    return false;
  }
  delivered_ += piece.size();
  credit_ -= piece.size();
  sink_->on_body(piece);
  return !over();
}

// -- time ---------------------------------------------------------------------

void running_call::arm() {
  auto due = total_deadline_;
  if (phase_ == phase::head)
    due = std::min(due, head_deadline_);
  else if (phase_ == phase::body && credit_ > 0)
    due = std::min(due, window_end_);
  auto delay = std::max<std::chrono::microseconds>(
    due - pool_->loop().now(), std::chrono::milliseconds{1});
  deadline_->start(delay, [this] {
    on_deadline();
  });
}

void running_call::on_deadline() {
  auto now = pool_->loop().now();
  auto late = [this](const char* why) {
    end(fail(ec::unreachable, target().origin() + ": " + why));
  };
  if (now >= total_deadline_)
    return late("the call took too long");
  if (phase_ == phase::head && now >= head_deadline_)
    return late("no answer in time");
  if (phase_ == phase::body && credit_ > 0 && now >= window_end_) {
    auto seconds = std::chrono::duration<double>(limits().rate_window).count();
    auto least = static_cast<double>(limits().bytes_per_second_min) * seconds;
    if (static_cast<double>(window_bytes_) < least)
      return late("the body comes too slowly");
    window_bytes_ = 0;
    window_end_ = now + limits().rate_window;
  }
  arm();
}

} // namespace weir::net
