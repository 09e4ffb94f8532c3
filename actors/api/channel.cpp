#include "actors/api/channel.hpp"

#include "actors/api/limits.hpp"
#include "messages/consumer.hpp"
#include "net/ws_session.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

class socket_channel final : public event_channel {
public:
  void open(net::ws_session_ptr session) {
    session_ = std::move(session);
  }

  bool send(std::string_view text) override {
    return session_->send(net::ws_message::text(text));
  }

  void cut() override {
    session_->cut();
  }

private:
  net::ws_session_ptr session_;
};

class channel_listener final : public net::ws_session_listener {
public:
  channel_listener(consumer_actor to, uint64_t session,
                   channel_places::place_ptr place)
    : to_(std::move(to)), session_(session), place_(std::move(place)) {
    // nop
  }

  void on_text(std::string_view message) override {
    caf::anon_send(to_, channel_text{session_, std::string{message}});
  }

  void on_binary(bytes_view message) override {
    on_text(as_text(message));
  }

  void on_closed(std::string_view) override {
    caf::anon_send(to_, channel_closed{session_});
    to_ = nullptr;
    place_ = nullptr;
  }

private:
  consumer_actor to_;
  uint64_t session_;
  channel_places::place_ptr place_;
};

} // namespace

void open_channel(const consumer_actor& to, const net::upgrader& answer,
                  channel_places::place_ptr place) {
  if (!to) {
    answer.cut();
    return;
  }
  const auto number = place->number();
  auto channel = std::make_shared<socket_channel>();
  // One ack an event: a client that keeps up sends as many as it gets.
  net::ws_session_options options;
  options.frames_per_second_max = limits::channel_acks_per_second_max;
  options.stall_timeout = limits::channel_stall_timeout;
  auto session = answer.accept(
    std::make_shared<channel_listener>(to, number, std::move(place)), options);
  if (!session)
    return;
  channel->open(std::move(session));
  caf::anon_send(to, channel_opened{number, std::move(channel)});
}

} // namespace weir::actors
