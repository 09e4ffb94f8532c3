#include "actors/api/channel.hpp"

#include "actors/api/limits.hpp"
#include "actors/support/ack_inbox.hpp"
#include "actors/support/event_channel.hpp"
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

/// The application's reading of one partition.
struct reading {
  consumer_actor consumer;
  std::shared_ptr<ack_inbox> acks;
};

class channel_listener final : public net::ws_session_listener {
public:
  channel_listener(const placement& places, std::vector<reading> to,
                   uint64_t session, channel_places::place_ptr place)
    : places_(places), to_(std::move(to)), session_(session),
      place_(std::move(place)) {}

  /// An ack goes to the partition of its event, anything else to the first.
  void on_text(std::string_view message) override {
    const auto ack = wire::parse_ack(message);
    if (!ack || !*ack)
      return caf::anon_send(
        to_.front().consumer,
        channel_refused{ack ? "a message of another type than ack"
                            : ack.error().context});
    const auto& x = to_[places_.partition_of_event(**ack)];
    if (x.acks->put(**ack))
      caf::anon_send(x.consumer, acks_waiting{});
  }

  void on_binary(bytes_view message) override { on_text(as_text(message)); }

  void on_closed(std::string_view) override {
    for (const auto& x : std::exchange(to_, {}))
      caf::anon_send(x.consumer, channel_closed{session_});
    place_ = nullptr;
  }

private:
  placement places_;
  std::vector<reading> to_; ///< One for each partition, in order.
  uint64_t session_;
  channel_places::place_ptr place_;
};

} // namespace

void open_channel(const context& shared, const net::upgrader& answer,
                  channel_places::place_ptr place) {
  std::vector<reading> to;
  for (const auto& x : shared.partitions()) {
    if (!x->consumer)
      return answer.cut();
    to.push_back({x->consumer, std::make_shared<ack_inbox>()});
  }
  const auto number = place->number();
  auto channel = std::make_shared<socket_channel>();
  // One ack for each event: a client that keeps up sends as many as it gets.
  net::ws_session_options options;
  options.frames_per_second_max = limits::channel_acks_per_second_max;
  options.stall_timeout = limits::channel_stall_timeout;
  auto listener = std::make_shared<channel_listener>(shared.places(), to,
                                                     number, std::move(place));
  auto session = answer.accept(std::move(listener), options);
  if (!session)
    return;
  channel->open(std::move(session));
  for (const auto& x : to)
    caf::anon_send(x.consumer, channel_opened{number, channel, x.acks});
}

} // namespace weir::actors
