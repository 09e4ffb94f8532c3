#include "bench/channel_reader.hpp"

#include "net/url.hpp"
#include "net/ws_client.hpp"

#include <deque>
#include <string_view>

namespace weir::bench {

namespace {

using namespace std::chrono_literals;

constexpr size_t window_frames = 512;
constexpr size_t window_bytes = 8'388'608;
constexpr auto retry_delay = 1ms;
constexpr auto reconnect_delay = 50ms;

/// The digits of `{"id":123,...`; empty when the text does not begin so.
std::string_view id_of(std::string_view event) {
  constexpr std::string_view start = R"({"id":)";
  if (!event.starts_with(start))
    return {};
  event.remove_prefix(start.size());
  return event.substr(0, event.find_first_not_of("0123456789"));
}

} // namespace

struct channel_reader::impl : std::enable_shared_from_this<impl> {
  impl(net::transport_ptr over, net::url channel)
    : network(std::move(over)), loop(network->next_loop()),
      target(std::move(channel)), timer(loop.make_timer()) {
    // nop
  }

  class session;

  void connect();
  void on_frames(const std::vector<shared_bytes>& frames);
  void on_close();
  void flush();

  net::transport_ptr network;
  net::event_loop& loop;
  const net::url target;
  std::unique_ptr<net::timer> timer;
  net::ws_client_ptr client;
  std::deque<std::string> acks; ///< Waiting for room in the socket's queue.
  size_t owed_frames = 0;       ///< Credit to return when the acks are sent.
  size_t owed_bytes = 0;
};

class channel_reader::impl::session final : public net::ws_listener {
public:
  explicit session(std::weak_ptr<impl> owner) : owner_(std::move(owner)) {
    // nop
  }

  void on_open() override {
    // nop
  }

  void on_frames(std::vector<shared_bytes> frames) override {
    if (const auto owner = owner_.lock())
      owner->on_frames(frames);
  }

  void on_close(const net::ws_close_info&) override {
    if (const auto owner = owner_.lock())
      owner->on_close();
  }

private:
  std::weak_ptr<impl> owner_;
};

void channel_reader::impl::connect() {
  acks.clear();
  owed_frames = owed_bytes = 0;
  net::ws_client_options options;
  options.target = target;
  options.accepts = net::ws_accepts::text;
  options.guard = net::address_guard{true};
  client = net::make_ws_client(network, std::move(options),
                               std::make_shared<session>(weak_from_this()));
  client->grant(window_frames, window_bytes);
}

void channel_reader::impl::on_close() {
  client.reset();
  timer->start(reconnect_delay, [self = weak_from_this()] {
    if (const auto x = self.lock())
      x->connect();
  });
}

void channel_reader::impl::on_frames(const std::vector<shared_bytes>& frames) {
  for (const auto& x : frames) {
    ++owed_frames;
    owed_bytes += x.size();
    if (const auto id = id_of(as_text(x.view())); !id.empty())
      acks.push_back(R"({"type":"ack","id":)" + std::string{id} + "}");
  }
  flush();
}

/// Credit is returned after the acks, so at most one window of them waits.
void channel_reader::impl::flush() {
  for (; client && !acks.empty(); acks.pop_front())
    if (!client->send_text(acks.front())) {
      timer->start(retry_delay, [self = weak_from_this()] {
        if (const auto x = self.lock())
          x->flush();
      });
      return;
    }
  if (client && owed_frames > 0)
    client->grant(std::exchange(owed_frames, 0), std::exchange(owed_bytes, 0));
}

channel_reader::channel_reader(std::shared_ptr<impl> x) noexcept
  : impl_(std::move(x)) {
  // nop
}

result<channel_reader> channel_reader::start(net::transport_ptr network,
                                             const std::string& data_url) {
  const auto origin = net::parse_url(data_url);
  if (!origin)
    return origin.error();
  auto made = std::make_shared<impl>(
    std::move(network), origin->as_websocket().with_target("/channel"));
  made->loop.post([made] {
    made->connect();
  });
  return channel_reader{std::move(made)};
}

} // namespace weir::bench
