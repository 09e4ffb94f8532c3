#include "apps/channel/channel_client.hpp"

#include "apps/channel/limits.hpp"
#include "net/ws_client.hpp"

#include <deque>
#include <utility>

namespace weir::apps {

/// The state, which is used only on the loop.
struct channel_client::impl : std::enable_shared_from_this<impl> {
  impl(net::transport_ptr over, net::url channel, channel_options x)
    : network(std::move(over)), loop(network->next_loop()),
      target(std::move(channel)), options(std::move(x)),
      timer(loop.make_timer()) {}

  class session;

  void connect();
  void on_close();
  void on_frames(const std::vector<shared_bytes>& frames);
  void flush();

  net::transport_ptr network;
  net::event_loop& loop;
  const net::url target;
  const channel_options options;
  std::unique_ptr<net::timer> timer;
  net::ws_client_ptr client;
  uint64_t session_number = 0;
  std::deque<uint64_t> acks; ///< They wait for room in the socket's queue.
  size_t owed_frames = 0;    ///< Credit to give back when the acks are out.
  size_t owed_bytes = 0;
  bool stopped = false;
};

/// One connection.
class channel_client::impl::session final : public net::ws_listener {
public:
  session(std::weak_ptr<impl> owner, uint64_t number)
    : owner_(std::move(owner)), number_(number) {}

  void on_open() override {
    const auto owner = current();
    if (!owner)
      return;
    if (owner->options.opened)
      owner->options.opened();
    owner->flush();
  }

  void on_frames(std::vector<shared_bytes> frames) override {
    if (const auto owner = current())
      owner->on_frames(frames);
  }

  void on_close(const net::ws_close_info&) override {
    if (const auto owner = current())
      owner->on_close();
  }

private:
  /// The owner; null when it is gone or has another connection by now.
  std::shared_ptr<impl> current() const {
    auto owner = owner_.lock();
    return owner && owner->session_number == number_ ? owner : nullptr;
  }

  std::weak_ptr<impl> owner_;
  uint64_t number_;
};

void channel_client::impl::connect() {
  if (stopped)
    return;
  acks.clear();
  owed_frames = owed_bytes = 0;
  net::ws_client_options how;
  how.target = target;
  how.accepts = net::ws_accepts::text;
  how.guard = net::address_guard{true};
  client = net::make_ws_client(
    network, std::move(how),
    std::make_shared<session>(weak_from_this(), ++session_number));
  client->grant(options.window_frames, limits::channel_window_bytes);
}

void channel_client::impl::on_close() {
  client.reset();
  timer->cancel();
  if (options.ended)
    options.ended();
  if (!stopped && options.reconnect_delay)
    timer->start(*options.reconnect_delay, [self = weak_from_this()] {
      if (const auto x = self.lock())
        x->connect();
    });
}

void channel_client::impl::on_frames(const std::vector<shared_bytes>& frames) {
  std::vector<std::string_view> texts;
  texts.reserve(frames.size());
  for (const auto& x : frames) {
    texts.push_back(as_text(x.view()));
    owed_bytes += x.size();
  }
  owed_frames += frames.size();
  for (const auto id : options.take(texts))
    acks.push_back(id);
  flush();
}

/// Sends acks, and gives credit back when all are out. So no more acks wait
/// than events fit into the window.
void channel_client::impl::flush() {
  for (; client && !acks.empty(); acks.pop_front()) {
    const auto text
      = R"({"type":"ack","id":)" + std::to_string(acks.front()) + "}";
    if (client->send_text(text))
      continue;
    timer->start(limits::channel_flush_delay, [self = weak_from_this()] {
      if (const auto x = self.lock())
        x->flush();
    });
    return;
  }
  if (client && owed_frames > 0)
    client->grant(std::exchange(owed_frames, 0), std::exchange(owed_bytes, 0));
}

channel_client::channel_client(net::transport_ptr network,
                               const std::string& data_url,
                               channel_options options)
  : impl_(std::make_shared<impl>(
    std::move(network),
    net::parse_url(data_url).value().as_websocket().with_target("/channel"),
    std::move(options))) {}

channel_client::~channel_client() {
  // Sockets and timers are destroyed on their loop, or after it.
  auto& loop = impl_->loop;
  loop.post([x = std::move(impl_)] {
    x->stopped = true;
    x->client.reset();
  });
}

void channel_client::start() {
  impl_->loop.post([x = impl_] {
    x->stopped = false;
    x->connect();
  });
}

void channel_client::stop() {
  impl_->loop.post([x = impl_] {
    x->stopped = true;
    x->timer->cancel();
    if (x->client)
      x->client->close();
  });
}

void channel_client::drop_connection() {
  impl_->loop.post([x = impl_] {
    if (x->client)
      x->client->close();
  });
}

void channel_client::ack(uint64_t id) {
  impl_->loop.post([x = impl_, id] {
    x->acks.push_back(id);
    x->flush();
  });
}

} // namespace weir::apps
