#include "apps/weir/demo_consumer.hpp"

#include "net/ws_client.hpp"

#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>

namespace weir::apps {

namespace {

using namespace std::chrono_literals;

constexpr size_t window_frames = 256;
constexpr size_t window_bytes = 8'388'608;
constexpr auto flush_delay = 2ms;

} // namespace

struct demo_consumer::impl : std::enable_shared_from_this<impl> {
  impl(net::transport_ptr over, net::url channel,
       std::chrono::microseconds wait)
    : network(std::move(over)), loop(network->next_loop()),
      target(std::move(channel)), reconnect_delay(wait),
      timer(loop.make_timer()) {
    // nop
  }

  class session;

  void connect();
  void on_close(uint64_t number);
  void on_frames(const std::vector<shared_bytes>& frames);
  void take(const shared_bytes& frame);
  void flush();

  net::transport_ptr network;
  net::event_loop& loop;
  const net::url target;
  const std::chrono::microseconds reconnect_delay;

  // Used only on the loop:
  std::unique_ptr<net::timer> timer;
  net::ws_client_ptr client;
  uint64_t session_number = 0;
  std::deque<uint64_t> acks; ///< Waiting for room in the socket's queue.
  size_t owed_frames = 0;    ///< Credit to return when the acks are sent.
  size_t owed_bytes = 0;
  bool stopped = false;

  mutable std::mutex guard; ///< Guards everything below.
  event_copy copy;
  counters count;
  /// By account.
  std::unordered_map<std::string, std::set<uint64_t>> forgotten;
  uint64_t forget_every = 0;
};

/// One connection.
class demo_consumer::impl::session final : public net::ws_listener {
public:
  session(std::weak_ptr<impl> owner, uint64_t number)
    : owner_(std::move(owner)), number_(number) {
    // nop
  }

  void on_open() override {
    if (const auto owner = owner_.lock()) {
      const std::lock_guard lock{owner->guard};
      ++owner->count.connections;
    }
  }

  void on_frames(std::vector<shared_bytes> frames) override {
    const auto owner = owner_.lock();
    if (owner && owner->session_number == number_)
      owner->on_frames(frames);
  }

  void on_close(const net::ws_close_info&) override {
    if (const auto owner = owner_.lock())
      owner->on_close(number_);
  }

private:
  std::weak_ptr<impl> owner_;
  uint64_t number_;
};

void demo_consumer::impl::connect() {
  if (stopped)
    return;
  acks.clear();
  owed_frames = owed_bytes = 0;
  net::ws_client_options options;
  options.target = target;
  options.accepts = net::ws_accepts::text;
  options.guard = net::address_guard{true};
  client = net::make_ws_client(
    network, std::move(options),
    std::make_shared<session>(weak_from_this(), ++session_number));
  client->grant(window_frames, window_bytes);
}

void demo_consumer::impl::on_close(uint64_t number) {
  if (number != session_number || stopped)
    return;
  client.reset();
  timer->start(reconnect_delay, [self = weak_from_this()] {
    if (const auto x = self.lock())
      x->connect();
  });
}

void demo_consumer::impl::on_frames(const std::vector<shared_bytes>& frames) {
  {
    const std::lock_guard lock{guard};
    for (const auto& x : frames)
      take(x);
  }
  flush();
}

void demo_consumer::impl::take(const shared_bytes& frame) {
  ++owed_frames;
  owed_bytes += frame.size();
  const auto x = copy.take(as_text(frame.view()), system_clock().wall_now());
  if (!x)
    return;
  auto& waiting = forgotten[x->did];
  if (x->live && !waiting.empty() && *waiting.begin() < x->id)
    ++count.overtook;
  if (forget_every != 0 && !x->again
      && (copy.counts().received - 1) % forget_every == 0) {
    waiting.insert(x->id);
    ++count.forgotten;
    return;
  }
  if (x->again && waiting.erase(x->id) > 0)
    ++count.recovered;
  if (waiting.empty())
    forgotten.erase(x->did);
  acks.push_back(x->id);
}

/// Credit is returned after the acks, so no more acks wait than events fit into
/// the window.
void demo_consumer::impl::flush() {
  while (client && !acks.empty()) {
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
  if (client && owed_frames > 0)
    client->grant(std::exchange(owed_frames, 0), std::exchange(owed_bytes, 0));
}

demo_consumer::demo_consumer(net::transport_ptr network,
                             const std::string& data_url,
                             std::chrono::microseconds reconnect_delay)
  : impl_(std::make_shared<impl>(
    std::move(network),
    net::parse_url(data_url).value().as_websocket().with_target("/channel"),
    reconnect_delay)) {
  // nop
}

demo_consumer::~demo_consumer() {
  // Sockets and timers must end on their loop or after it.
  auto& loop = impl_->loop;
  loop.post([x = std::move(impl_)] {
    x->stopped = true;
    x->client.reset();
  });
}

void demo_consumer::start() {
  impl_->loop.post([x = impl_] {
    x->stopped = false;
    x->connect();
  });
}

void demo_consumer::stop() {
  impl_->loop.post([x = impl_] {
    x->stopped = true;
    x->timer->cancel();
    if (x->client)
      x->client->close();
  });
}

void demo_consumer::drop_connection() {
  impl_->loop.post([x = impl_] {
    if (x->client)
      x->client->close();
  });
}

void demo_consumer::set_forgetful(uint64_t every) {
  const std::lock_guard lock{impl_->guard};
  impl_->forget_every = every;
}

void demo_consumer::forget_records(const std::string& did) {
  const std::lock_guard lock{impl_->guard};
  impl_->copy.forget_records(did);
  impl_->forgotten.erase(did);
}

demo_consumer::counters demo_consumer::counts() const {
  const std::lock_guard lock{impl_->guard};
  return impl_->count;
}

void demo_consumer::read(
  const std::function<void(const event_copy&)>& look) const {
  const std::lock_guard lock{impl_->guard};
  look(impl_->copy);
}

} // namespace weir::apps
