#include "net/ws_session_channel.hpp"

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

ws_close_info by_us(const char* why) {
  ws_close_info info;
  info.reason = fail(ec::cancelled, why);
  return info;
}

class session_handle final : public ws_session {
public:
  explicit session_handle(std::shared_ptr<ws_session_channel> x)
    : channel_(std::move(x)) {}

  ~session_handle() override { cut(); }

  session_handle(const session_handle&) = delete;
  session_handle& operator=(const session_handle&) = delete;

  bool send(const ws_message& x) override {
    return channel_->enqueue(x.frame());
  }

  void cut() override {
    channel_->loop().post([x = channel_] {
      x->cut(by_us("cut by us"));
    });
  }

  void close(uint16_t code, std::string_view reason) override {
    channel_->loop().post([x = channel_, code, text = std::string{reason}] {
      x->close(code, text, by_us("closed by us"));
    });
  }

  size_t queued_messages() const noexcept override {
    return channel_->queued_messages();
  }

  size_t queued_bytes() const noexcept override {
    return channel_->queued_bytes();
  }

  const ip_address& peer() const noexcept override { return channel_->peer(); }

private:
  std::shared_ptr<ws_session_channel> channel_;
};

} // namespace

ws_session_channel::ws_session_channel(
  event_loop& loop, const ws_session_options& options,
  std::shared_ptr<ws_session_listener> listener, const ip_address& peer,
  std::shared_ptr<void> permit)
  : ws_channel(loop, channel_options(options)), listener_(std::move(listener)),
    peer_(peer), permit_(std::move(permit)),
    frames_(options.frames_per_second_max, options.frames_per_second_max),
    controls_(options.control_per_minute_max / 60,
              options.control_per_minute_max),
    pause_(loop.make_timer()) {}

bool ws_session_channel::ready() {
  auto wait = frames_.delay(loop().now());
  if (wait.count() == 0)
    return true;
  pause_->start(wait, [this] {
    pump();
  });
  return false;
}

void ws_session_channel::on_data_frame() {
  frames_.take(loop().now());
}

bool ws_session_channel::on_control_frame() {
  return controls_.take(loop().now());
}

void ws_session_channel::on_message(ws_decoder::kind kind,
                                    shared_bytes payload) {
  if (kind == ws_decoder::kind::text)
    listener_->on_text(as_text(payload.view()));
  else
    listener_->on_binary(payload.view());
}

void ws_session_channel::on_drained() {
  listener_->on_drained();
}

void ws_session_channel::on_over(const ws_close_info& info) {
  pause_->cancel();
  std::exchange(listener_, nullptr)->on_closed(info.reason.context);
}

ws_session_ptr make_ws_session(std::shared_ptr<ws_session_channel> channel) {
  return std::make_shared<session_handle>(std::move(channel));
}

} // namespace weir::net
