#include "tests/system/channel_client.hpp"

#include "net/ws_client.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr size_t window_frames = 256;
constexpr size_t window_bytes = 8'388'608;
constexpr auto flush_delay = 1ms;
constexpr auto close_patience = 60s;

} // namespace

struct channel_client::impl : net::ws_listener,
                              std::enable_shared_from_this<impl> {
  impl(net::event_loop& on, taker x, std::vector<uint64_t> first,
       std::function<void()> last)
    : loop(on), take(std::move(x)), ended(std::move(last)),
      acks(first.begin(), first.end()), timer(loop.make_timer()) {
    // nop
  }

  void connect(const net::transport_ptr& network, const net::url& target) {
    net::ws_client_options options;
    options.target = target;
    options.accepts = net::ws_accepts::text;
    options.guard = net::address_guard{true};
    client
      = net::make_ws_client(network, std::move(options), shared_from_this());
    client->grant(window_frames, window_bytes);
  }

  void on_open() override { flush(); }

  void on_frames(std::vector<shared_bytes> frames) override {
    std::vector<std::string_view> texts;
    for (const auto& x : frames) {
      texts.push_back(as_text(x.view()));
      owed_bytes += x.size();
    }
    owed_frames += frames.size();
    for (const auto id : take(texts))
      acks.push_back(id);
    flush();
  }

  void on_close(const net::ws_close_info&) override {
    timer.reset();
    if (ended)
      ended();
    const std::lock_guard lock{guard};
    closed = true;
    changed.notify_all();
  }

  /// Credit follows the acks, so that not more of them wait than fit.
  void flush() {
    while (!acks.empty() && timer) {
      const auto text
        = R"({"type":"ack","id":)" + std::to_string(acks.front()) + "}";
      if (!client->send_text(text)) {
        timer->start(flush_delay, [self = weak_from_this()] {
          if (const auto x = self.lock())
            x->flush();
        });
        return;
      }
      acks.pop_front();
    }
    if (owed_frames > 0)
      client->grant(std::exchange(owed_frames, 0),
                    std::exchange(owed_bytes, 0));
  }

  net::event_loop& loop;
  const taker take;
  const std::function<void()> ended;

  // Only on the loop:
  net::ws_client_ptr client;
  std::deque<uint64_t> acks;
  std::unique_ptr<net::timer> timer; ///< Null when the connection is over.
  size_t owed_frames = 0;
  size_t owed_bytes = 0;

  std::mutex guard; ///< Of what follows.
  std::condition_variable changed;
  bool closed = false;
};

channel_client::channel_client(const net::transport_ptr& network,
                               const std::string& data_url, taker take,
                               std::vector<uint64_t> first,
                               std::function<void()> ended)
  : impl_(std::make_shared<impl>(network->next_loop(), std::move(take),
                                 std::move(first), std::move(ended))) {
  auto target
    = net::parse_url(data_url).value().as_websocket().with_target("/channel");
  impl_->loop.post([x = impl_, network, target = std::move(target)] {
    x->connect(network, target);
  });
}

channel_client::~channel_client() {
  hang_up();
  // The client holds its listener: let go of it on the loop.
  impl_->loop.post([x = impl_] {
    x->client.reset();
  });
}

void channel_client::ack(uint64_t id) {
  impl_->loop.post([x = impl_, id] {
    x->acks.push_back(id);
    x->flush();
  });
}

bool channel_client::over() const {
  return wait_over(0s);
}

bool channel_client::wait_over(std::chrono::seconds patience) const {
  std::unique_lock lock{impl_->guard};
  return impl_->changed.wait_for(lock, patience, [this] {
    return impl_->closed;
  });
}

void channel_client::hang_up() {
  impl_->loop.post([x = impl_] {
    x->client->close();
  });
  wait_over(close_patience);
}

} // namespace weir::tests
