#include "net/http_connection.hpp"

#include "net/http_writer.hpp"
#include "net/limits.hpp"
#include "net/ws_channel.hpp"
#include "net/ws_codec.hpp"

#include <algorithm>

namespace weir::net {

namespace {

constexpr size_t read_bytes = 16'384;

ws_close_info server_closed() {
  return close_info(ec::cancelled, "the server was closed");
}

constexpr std::string_view error_name(int status) noexcept {
  switch (status) {
    case 408:
      return "RequestTimeout";
    case 413:
      return "PayloadTooLarge";
    case 417:
      return "ExpectationFailed";
    case 426:
      return "UpgradeRequired";
    case 431:
      return "HeaderTooLarge";
    default:
      return "InvalidRequest";
  }
}

http_reply body_too_large(size_t most) {
  return error_reply(413, error_name(413),
                     most == 0
                       ? "this path takes no body"
                       : "the body is larger than the " + std::to_string(most)
                           + " bytes that this path takes");
}

} // namespace

// -- http_connection ----------------------------------------------------------

http_connection::http_connection(stream_ptr connected,
                                 std::shared_ptr<server_core> core,
                                 std::shared_ptr<server_core::permit> permit)
  : core_(std::move(core)), permit_(std::move(permit)),
    stream_(std::move(connected)), deadline_(stream_->loop().make_timer()) {}

void http_connection::set_deadline(std::chrono::microseconds delay) {
  deadline_->start(delay, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->on_deadline();
  });
}

void http_connection::on_deadline() {
  if ((phase_ == phase::head && input_size_ > 0) || phase_ == phase::body)
    refuse(408, "The request did not arrive in time.");
  else
    cut();
}

// -- reading ------------------------------------------------------------------

void http_connection::read() {
  if (std::exchange(reading_, true))
    return; // A read that began before a deadline is still in progress.
  if (input_.size() < input_size_ + read_bytes)
    input_.resize(input_size_ + read_bytes);
  stream_->read_some(
    std::span{input_}.subspan(input_size_),
    [self = shared_from_this()](std::error_code error, size_t n) {
      self->on_read(error, n);
    });
}

void http_connection::on_read(std::error_code error, size_t n) {
  reading_ = false;
  if (phase_ == phase::over)
    return;
  if (error || n == 0)
    return cut();
  if (phase_ == phase::linger) {
    lingered_ += n;
    return lingered_ > limits::http_linger_bytes_max ? cut() : read();
  }
  input_size_ += n;
  if (phase_ == phase::idle) {
    phase_ = phase::head;
    set_deadline(core_->options.head_timeout);
  }
  if (phase_ == phase::head)
    on_head_bytes();
  else if (phase_ == phase::body)
    on_body_bytes();
}

void http_connection::drop_input(size_t n) {
  std::copy(input_.begin() + static_cast<ptrdiff_t>(n),
            input_.begin() + static_cast<ptrdiff_t>(input_size_),
            input_.begin());
  input_size_ -= n;
}

void http_connection::on_head_bytes() {
  // A new parser each time, so that an error does not depend on how the bytes
  // are split into reads.
  parser_ = make_request_parser(limits::http_request_head_bytes_max);
  auto used = parser_->put_head(bytes_view{input_}.first(input_size_));
  if (!used)
    return refuse(used.error().code == ec::limit_reached ? 431 : 400,
                  used.error().context);
  if (!parser_->has_head())
    return read();
  drop_input(*used);
  if (auto refused = check_request_head(parser_->head()))
    return refuse(refused->status, refused->reason);
  on_head(std::move(parser_->head()));
}

void http_connection::on_head(http_head head) {
  request_ = {};
  request_.method = head.method;
  request_.peer = stream_->remote().address;
  keep_alive_ = head.keep_alive && !head.http_1_0;
  to_head_ = head.method == "HEAD";
  if (!request_.set_target(head.target))
    return refuse(400, "The request target is not percent-encoded right.");
  request_.headers = std::move(head.headers);
  auto upgrade = request_.header("upgrade");
  auto connection = request_.header("connection");
  const auto is_upgrade = upgrade && connection
                          && lists_token(*upgrade, "websocket")
                          && lists_token(*connection, "upgrade");
  if (is_upgrade && !check_upgrade(head))
    return;
  body_bytes_max_
    = core_->service->body_bytes_max(request_.method, request_.path);
  if (auto refused = core_->service->on_head(request_)) {
    phase_ = phase::answer;
    keep_alive_ &= head.framing == body_framing::none; // No body is read.
    return answer(std::move(*refused));
  }
  if (!request_.open_to_all)
    permit_->set_known();
  if (is_upgrade)
    hand_over();
  else
    begin_body(head);
}

/// Returns false when it has answered the request.
bool http_connection::check_upgrade(const http_head& head) {
  auto key = request_.header("sec-websocket-key");
  auto version = request_.header("sec-websocket-version");
  auto good_key = key && is_ws_key(*key);
  if (head.method != "GET" || head.http_1_0 || !good_key
      || head.framing != body_framing::none) {
    refuse(400, "The WebSocket upgrade is malformed.");
    return false;
  }
  if (!version || *version != "13") {
    auto reply = error_reply(426, error_name(426),
                             "Only WebSocket version 13 is spoken.");
    reply.headers.push_back({"Sec-WebSocket-Version", "13"});
    keep_alive_ = false;
    answer(std::move(reply));
    return false;
  }
  upgrade_key_ = *key;
  return true;
}

void http_connection::begin_body(const http_head& head) {
  if (head.framing == body_framing::sized
      && head.content_length > body_bytes_max_)
    return refuse(body_too_large(body_bytes_max_));
  if (auto expect = request_.header("expect")) {
    if (!same_text(*expect, "100-continue"))
      return refuse(417, "Only 100-continue can be expected.");
    interim_ = head.framing != body_framing::none;
  }
  body_bytes_ = 0;
  if (head.framing == body_framing::chunked)
    parser_->limit_chunks(body_bytes_max_);
  if (!parser_->done())
    set_deadline(core_->options.body_timeout);
  if (interim_)
    return send("HTTP/1.1 100 Continue\r\n\r\n", {});
  phase_ = phase::body;
  on_body_bytes();
}

void http_connection::on_body_bytes() {
  std::optional<http_reply> refused;
  auto take = [this, &refused](bytes_view piece) -> size_t {
    refused = take_body(piece);
    return refused ? 0 : piece.size();
  };
  auto used = parser_->put_body(bytes_view{input_}.first(input_size_), take);
  if (refused)
    return refuse(std::move(*refused));
  if (!used && used.error().code == ec::limit_reached)
    return refuse(body_too_large(body_bytes_max_));
  if (!used)
    return refuse(400, used.error().context);
  drop_input(*used);
  if (parser_->done())
    return hand_over();
  read();
}

std::optional<http_reply> http_connection::take_body(bytes_view piece) {
  if (piece.size() > body_bytes_max_ - body_bytes_)
    return body_too_large(body_bytes_max_);
  body_bytes_ += piece.size();
  if (request_.sink)
    return request_.sink->put(piece);
  request_.body += as_text(piece);
  return std::nullopt;
}

/// The request is complete: passes it to the application.
void http_connection::hand_over() {
  phase_ = phase::answer;
  deadline_->cancel();
  auto right = std::make_shared<responder::slot>(shared_from_this());
  if (core_->closed())
    right->cut();
  else if (upgrade_key_.empty())
    core_->service->on_request(std::move(request_), responder{right});
  else
    core_->service->on_upgrade(std::move(request_), upgrader{right});
}

// -- answering ----------------------------------------------------------------

/// Answers a request that broke a rule, and ends the connection.
void http_connection::refuse(int status, std::string_view message) {
  refuse(error_reply(status, error_name(status), message));
}

void http_connection::answer(http_reply reply) {
  if (phase_ == phase::over)
    return;
  if (const auto delay = std::exchange(reply.delay, {}); delay.count() > 0) {
    // Only this task keeps the connection alive meanwhile.
    deadline_->start(delay, [self = shared_from_this(), reply] {
      self->answer(reply);
    });
    return;
  }
  keep_alive_ = keep_alive_ && (!reply.rest || reply.rest->size());
  auto head = format_reply_head(reply, keep_alive_);
  if (head.empty()) {
    reply = error_reply(500, "InternalServerError", "The answer is malformed.");
    head = format_reply_head(reply, keep_alive_);
  }
  if (reply.cut_after_bytes)
    cut_after_ = head.size() + *reply.cut_after_bytes;
  auto no_body = to_head_ || reply.status == 204 || reply.status == 304;
  rest_ = no_body ? nullptr : std::move(reply.rest);
  send(std::move(head), no_body ? shared_bytes{} : std::move(reply.body));
}

void http_connection::send(std::string head, shared_bytes body) {
  phase_ = phase::write;
  out_head_ = std::move(head);
  out_body_ = std::move(body);
  written_ = 0;
  write();
}

void http_connection::write() {
  auto end = std::min(out_head_.size() + out_body_.size(), cut_after_);
  if (written_ >= end)
    return on_sent();
  set_deadline(core_->options.idle_timeout);
  std::array<bytes_view, 2> parts;
  size_t n = 0;
  if (written_ < out_head_.size())
    parts[n++] = as_bytes(out_head_).subspan(written_);
  auto body_from = std::max(written_, out_head_.size()) - out_head_.size();
  auto body_end = std::max(end, out_head_.size()) - out_head_.size();
  if (body_from < body_end)
    parts[n++] = out_body_.view().subspan(body_from, body_end - body_from);
  stream_->write_some({parts.data(), n}, [self = shared_from_this()](
                                           std::error_code error, size_t size) {
    self->on_written(error, size);
  });
}

void http_connection::on_written(std::error_code error, size_t n) {
  if (phase_ == phase::over)
    return;
  if (error)
    return cut();
  written_ += n;
  write();
}

void http_connection::on_sent() {
  out_body_ = {};
  if (std::exchange(interim_, false)) {
    phase_ = phase::body;
    set_deadline(core_->options.body_timeout);
    return on_body_bytes();
  }
  if (cut_after_ != SIZE_MAX)
    return cut();
  if (rest_)
    return send_rest();
  if (!keep_alive_)
    return linger();
  upgrade_key_.clear();
  if (input_size_ == 0) {
    input_ = {};
    phase_ = phase::idle;
    set_deadline(core_->options.idle_timeout);
    return read();
  }
  phase_ = phase::head; // The next request is here already.
  set_deadline(core_->options.head_timeout);
  on_head_bytes();
}

void http_connection::send_rest() {
  auto piece = rest_->next();
  if (piece.data.empty()) {
    rest_.reset();
    return on_sent();
  }
  phase_ = phase::answer;
  // Only this task keeps the connection alive meanwhile.
  deadline_->start(piece.pause, [self = shared_from_this(),
                                 data = shared_bytes{std::move(piece.data)}] {
    if (self->phase_ != phase::over)
      self->send({}, data);
  });
}

void http_connection::linger() {
  phase_ = phase::linger;
  stream_->shut_down();
  set_deadline(limits::http_linger_timeout);
  input_size_ = 0;
  read();
}

ws_session_ptr
http_connection::upgrade(std::shared_ptr<ws_session_listener> listener,
                         const ws_session_options& options) {
  auto channel
    = make_session_channel(loop(), options, std::move(listener), permit_);
  loop().post([self = shared_from_this(), channel] {
    self->hand_stream_to(*channel);
  });
  return make_ws_session(std::move(channel), stream_->remote().address);
}

void http_connection::hand_stream_to(ws_channel& channel) {
  auto cut_channel = [weak = channel.weak_from_this()] {
    if (auto x = weak.lock())
      x->loop().post([x] {
        x->cut(server_closed());
      });
  };
  if (phase_ == phase::over || !permit_->set_cut(cut_channel))
    return channel.cut(server_closed());
  http_writer greeting{101};
  greeting.add("Upgrade", "websocket");
  greeting.add("Connection", "Upgrade");
  greeting.add("Sec-WebSocket-Accept", ws_accept_key(upgrade_key_));
  phase_ = phase::over;
  channel.open(stream_, shared_bytes::copy_of(as_bytes(greeting.take())),
               bytes_view{input_}.first(input_size_));
}

} // namespace weir::net
