#include "base/token_bucket.hpp"
#include "net/ws_channel.hpp"

namespace weir::net {

namespace {

ws_channel_options channel_options(const ws_session_options& x) {
  ws_channel_options out;
  out.server = true;
  out.message_bytes_max = x.message_bytes_max;
  out.queue_messages_max = x.queue_messages_max;
  out.queue_bytes_max = x.queue_bytes_max;
  out.ping_interval = x.ping_interval;
  out.idle_timeout = x.idle_timeout;
  out.stall_timeout = x.stall_timeout;
  out.sending_is_life = true;
  return out;
}

/// Takes messages at a bounded rate and sends what the application queues.
class session_channel final : public ws_channel {
public:
  session_channel(event_loop& loop, const ws_session_options& options,
                  std::shared_ptr<ws_session_listener> listener,
                  std::shared_ptr<void> permit)
    : ws_channel(loop, channel_options(options)),
      listener_(std::move(listener)), permit_(std::move(permit)),
      frames_(options.frames_per_second_max, options.frames_per_second_max),
      controls_(options.control_per_minute_max / 60,
                options.control_per_minute_max),
      pause_(loop.make_timer()) {}

private:
  bool ready() override {
    auto wait = frames_.delay(loop().now());
    if (wait.count() == 0)
      return true;
    pause_->start(wait, [this] {
      pump();
    });
    return false;
  }

  void on_message(ws_decoder::kind kind, shared_bytes payload) override {
    if (kind == ws_decoder::kind::text)
      listener_->on_text(as_text(payload.view()));
    else
      listener_->on_binary(payload.view());
  }

  void on_data_frame() override { frames_.take(loop().now()); }

  bool on_control_frame() override { return controls_.take(loop().now()); }

  void on_drained() override { listener_->on_drained(); }

  void on_over(const ws_close_info& info) override {
    pause_->cancel();
    std::exchange(listener_, nullptr)->on_closed(info.reason.context);
  }

  std::shared_ptr<ws_session_listener> listener_;
  std::shared_ptr<void> permit_;
  token_bucket frames_;
  token_bucket controls_;
  std::unique_ptr<timer> pause_;
};

/// The application's handle to a session.
class session_handle final : public ws_session {
public:
  session_handle(std::shared_ptr<ws_channel> x, const ip_address& peer)
    : channel_(std::move(x)), peer_(peer) {}

  ~session_handle() override { cut(); }

  session_handle(const session_handle&) = delete;
  session_handle& operator=(const session_handle&) = delete;

  bool send(const ws_message& x) override {
    return channel_->enqueue(x.frame());
  }

  void cut() override {
    channel_->loop().post([x = channel_] {
      x->cut(close_info(ec::cancelled, "cut by us"));
    });
  }

  void close(uint16_t code, std::string_view reason) override {
    channel_->loop().post([x = channel_, code, text = std::string{reason}] {
      x->close(code, text, close_info(ec::cancelled, "closed by us"));
    });
  }

  size_t queued_messages() const noexcept override {
    return channel_->queued_messages();
  }

  size_t queued_bytes() const noexcept override {
    return channel_->queued_bytes();
  }

  const ip_address& peer() const noexcept override { return peer_; }

private:
  std::shared_ptr<ws_channel> channel_;
  ip_address peer_;
};

} // namespace

std::shared_ptr<ws_channel>
make_session_channel(event_loop& loop, const ws_session_options& options,
                     std::shared_ptr<ws_session_listener> listener,
                     std::shared_ptr<void> permit) {
  return std::make_shared<session_channel>(loop, options, std::move(listener),
                                           std::move(permit));
}

ws_session_ptr make_ws_session(std::shared_ptr<ws_channel> channel,
                               const ip_address& peer) {
  return std::make_shared<session_handle>(std::move(channel), peer);
}

} // namespace weir::net
