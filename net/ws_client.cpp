#include "net/ws_client.hpp"

#include "net/connector.hpp"
#include "net/http_parser.hpp"
#include "net/http_writer.hpp"
#include "net/retry_hints.hpp"
#include "net/ws_channel.hpp"

#include <atomic>

namespace weir::net {

namespace {

ws_channel_options channel_options(const ws_client_options& x) {
  ws_channel_options out;
  out.message_bytes_max = x.message_bytes_max;
  out.queue_messages_max = limits::ws_client_queue_max;
  out.queue_bytes_max = limits::ws_client_queue_bytes_max;
  out.ping_interval = x.ping_interval;
  out.idle_timeout = x.idle_timeout;
  out.stall_timeout = limits::ws_stall_timeout;
  out.random = x.random;
  return out;
}

/// Connects, upgrades, then hands out frames under credit.
class client_channel final : public ws_channel {
public:
  client_channel(event_loop& loop, ws_client_options options,
                 std::shared_ptr<ws_listener> listener)
    : ws_channel(loop, channel_options(options)), options_(std::move(options)),
      listener_(std::move(listener)), deadline_(loop.make_timer()) {}

  void start(transport_ptr network) {
    auto target = options_.target.scheme;
    if (target != scheme::ws && target != scheme::wss)
      return cut(close_info(ec::invalid_argument, "not a ws or wss URL"));
    connect_options how{options_.guard, options_.tls, options_.connect_timeout,
                        options_.tls_timeout};
    connect_to(std::move(network), loop(), options_.target, std::move(how),
               [self = this_pointer()](result<stream_ptr> connected) {
                 if (connected)
                   self->on_connected(std::move(*connected));
                 else
                   self->cut(close_info(connected.error().code,
                                        connected.error().context));
               });
  }

  void grant(size_t frames, size_t size) {
    frame_credit_ += frames;
    byte_credit_ += static_cast<int64_t>(size);
    note_credit();
    pump();
  }

  bool has_credit() const noexcept { return has_credit_; }

  bool send_text(std::string_view payload) {
    return enqueue(shared_bytes{frame(ws_opcode::text, as_bytes(payload))});
  }

private:
  std::shared_ptr<client_channel> this_pointer() {
    return std::static_pointer_cast<client_channel>(shared_from_this());
  }

  // -- upgrade ----------------------------------------------------------------

  void on_connected(stream_ptr connected) {
    stream_ = std::move(connected);
    if (is_over())
      return stream_->close();
    if (!make_request())
      return cut(close_info(ec::invalid_argument, "malformed request header"));
    deadline_->start(options_.upgrade_timeout, [this] {
      cut(close_info(ec::unreachable, "no answer to the WebSocket upgrade"));
    });
    send_request();
  }

  bool make_request() {
    std::array<uint8_t, 16> random;
    options_.random->fill(random);
    key_ = base64(random);
    http_writer head{"GET", options_.target.target};
    head.add("Host", options_.target.authority());
    head.add("Upgrade", "websocket");
    head.add("Connection", "Upgrade");
    head.add("Sec-WebSocket-Version", "13");
    head.add("Sec-WebSocket-Key", key_);
    head.add("User-Agent", options_.user_agent);
    head.add(options_.headers);
    request_ = head.take();
    return !request_.empty();
  }

  void send_request() {
    auto rest = as_bytes(request_).subspan(sent_);
    stream_->write_some(
      {&rest, 1}, [self = this_pointer()](std::error_code error, size_t n) {
        self->sent_ += n;
        if (self->upgrade_failed(error))
          return;
        if (self->sent_ < self->request_.size())
          self->send_request();
        else
          self->read_answer();
      });
  }

  void read_answer() {
    auto have = answer_.size();
    answer_.resize(limits::http_response_head_bytes_max);
    stream_->read_some(
      std::span{answer_}.subspan(have),
      [self = this_pointer(), have](std::error_code error, size_t n) {
        self->answer_.resize(have + n);
        if (!error && n == 0)
          error = std::make_error_code(std::errc::connection_reset);
        if (!self->upgrade_failed(error))
          self->on_answer();
      });
  }

  bool upgrade_failed(std::error_code error) {
    if (error && !is_over())
      cut(close_info(ec::unreachable,
                     "connection lost before the upgrade: " + error.message()));
    return is_over();
  }

  void on_answer() {
    const auto used = parser_->put_head(bytes_view{answer_}.subspan(parsed_));
    if (!used)
      return cut(close_info(ec::malformed, used.error().context));
    parsed_ += *used;
    if (!parser_->has_head())
      return read_answer();
    if (auto refused = check_answer(parser_->head()))
      return cut(std::move(*refused));
    deadline_->cancel();
    opened_ = true;
    listener_->on_open();
    auto answer = std::exchange(answer_, {});
    open(std::exchange(stream_, nullptr), {},
         bytes_view{answer}.subspan(parsed_));
  }

  std::optional<ws_close_info> check_answer(const http_head& head) const {
    if (head.status != 101) {
      auto code = head.status == 429   ? ec::rate_limited
                  : head.status >= 500 ? ec::unreachable
                                       : ec::invalid_argument;
      auto info = close_info(code, "the upgrade was answered with HTTP "
                                     + std::to_string(head.status));
      info.http_status = head.status;
      info.retry_after = retry_after(head.headers, options_.time->wall_now());
      return info;
    }
    auto says = [&head](const char* name) -> std::string_view {
      auto x = find_header(head.headers, name);
      return x ? std::string_view{*x} : std::string_view{};
    };
    auto good = lists_token(says("upgrade"), "websocket")
                && lists_token(says("connection"), "upgrade")
                && says("sec-websocket-accept") == ws_accept_key(key_)
                && says("sec-websocket-extensions").empty()
                && says("sec-websocket-protocol").empty();
    if (good)
      return std::nullopt;
    auto info = close_info(ec::malformed, "not a WebSocket upgrade");
    info.http_status = head.status;
    return info;
  }

  // -- frames -----------------------------------------------------------------

  void note_credit() noexcept {
    has_credit_ = frame_credit_ > 0 && byte_credit_ > 0;
  }

  bool ready() override {
    if (has_credit_)
      return true;
    flush();
    return false;
  }

  void on_message(ws_decoder::kind kind, shared_bytes payload) override {
    auto text = kind == ws_decoder::kind::text;
    if (text != (options_.accepts == ws_accepts::text))
      return close(ws_code::unsupported, "unsupported kind of message",
                   close_info(ec::malformed, text ? "a text message came"
                                                  : "a binary message came"));
    --frame_credit_;
    byte_credit_ -= static_cast<int64_t>(payload.size());
    note_credit();
    if (batch_.empty())
      batch_.reserve(limits::ws_batch_frames_max);
    batch_.push_back(std::move(payload));
    if (batch_.size() == limits::ws_batch_frames_max)
      flush();
  }

  void on_quiet() override { flush(); }

  void flush() {
    if (!batch_.empty())
      listener_->on_frames(std::exchange(batch_, {}));
  }

  void on_over(const ws_close_info& info) override {
    deadline_->cancel();
    if (stream_)
      stream_->close();
    flush();
    auto last = info;
    last.opened = opened_;
    std::exchange(listener_, nullptr)->on_close(last);
  }

  ws_client_options options_;
  std::shared_ptr<ws_listener> listener_;
  std::unique_ptr<timer> deadline_;

  stream_ptr stream_; ///< Set until the upgrade is done.
  std::string key_;
  std::string request_;
  size_t sent_ = 0;
  bytes answer_;
  size_t parsed_ = 0; ///< Bytes of the answer's head.
  std::unique_ptr<http_parser> parser_
    = make_response_parser(limits::http_response_head_bytes_max);
  bool opened_ = false;

  size_t frame_credit_ = 0;
  int64_t byte_credit_ = 0;
  std::atomic<bool> has_credit_{false}; ///< Read by any thread.
  std::vector<shared_bytes> batch_;
};

class client_handle final : public ws_client {
public:
  explicit client_handle(std::shared_ptr<client_channel> x)
    : channel_(std::move(x)) {}

  ~client_handle() override { close(ws_code::normal); }

  client_handle(const client_handle&) = delete;
  client_handle& operator=(const client_handle&) = delete;

  void grant(size_t frames, size_t size) override {
    channel_->loop().post([x = channel_, frames, size] {
      x->grant(frames, size);
    });
  }

  bool has_credit() const override { return channel_->has_credit(); }

  bool send_text(std::string_view payload) override {
    return channel_->send_text(payload);
  }

  void close(uint16_t code) override {
    channel_->loop().post([x = channel_, code] {
      x->close(code, {}, close_info(ec::cancelled, "closed by us"));
    });
  }

private:
  std::shared_ptr<client_channel> channel_;
};

} // namespace

ws_client_ptr make_ws_client(transport_ptr network, ws_client_options options,
                             std::shared_ptr<ws_listener> listener) {
  auto& loop = network->next_loop();
  auto channel = std::make_shared<client_channel>(loop, std::move(options),
                                                  std::move(listener));
  loop.post([channel, network = std::move(network)] {
    channel->start(network);
  });
  return std::make_shared<client_handle>(std::move(channel));
}

} // namespace weir::net
