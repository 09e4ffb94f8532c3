#include "actors/api/channel.hpp"

#include "actors/api/limits.hpp"
#include "messages/consumer.hpp"
#include "net/ws_session.hpp"
#include "wire/tap.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

class socket_channel final : public event_channel {
public:
  void open(net::ws_session_ptr session) { session_ = std::move(session); }

  bool send(std::string_view text) override {
    return session_->send(net::ws_message::text(text));
  }

  void cut() override { session_->cut(); }

private:
  net::ws_session_ptr session_;
};

class channel_listener final : public net::ws_session_listener {
public:
  channel_listener(const placement& places, std::vector<consumer_actor> to,
                   uint64_t session, channel_places::place_ptr place)
    : places_(places), to_(std::move(to)), session_(session),
      place_(std::move(place)) {}

  void on_text(std::string_view message) override {
    caf::anon_send(to_[partition_of(message)],
                   channel_text{session_, std::string{message}});
  }

  void on_binary(bytes_view message) override { on_text(as_text(message)); }

  void on_closed(std::string_view) override {
    for (const auto& x : std::exchange(to_, {}))
      caf::anon_send(x, channel_closed{session_});
    place_ = nullptr;
  }

private:
  /// The partition of the event that a message acks. A message that is no ack
  /// goes to the first one, which counts it.
  size_t partition_of(std::string_view message) const {
    if (to_.size() == 1)
      return 0;
    const auto ack = wire::parse_ack(message);
    return ack && *ack ? places_.partition_of_event(**ack) : 0;
  }

  placement places_;
  std::vector<consumer_actor> to_; ///< By partition.
  uint64_t session_;
  channel_places::place_ptr place_;
};

} // namespace

void open_channel(const context& shared, const net::upgrader& answer,
                  channel_places::place_ptr place) {
  std::vector<consumer_actor> to;
  for (const auto& x : shared.partitions()) {
    if (!x->consumer) {
      answer.cut();
      return;
    }
    to.push_back(x->consumer);
  }
  const auto number = place->number();
  auto channel = std::make_shared<socket_channel>();
  // One ack for each event: a client that keeps up sends as many as it gets.
  net::ws_session_options options;
  options.frames_per_second_max = limits::channel_acks_per_second_max;
  options.stall_timeout = limits::channel_stall_timeout;
  auto session = answer.accept(
    std::make_shared<channel_listener>(shared.places(), to, number,
                                       std::move(place)),
    options);
  if (!session)
    return;
  channel->open(std::move(session));
  for (const auto& x : to)
    caf::anon_send(x, channel_opened{number, channel});
}

} // namespace weir::actors
