#include "net/http_client.hpp"

#include "net/http_call.hpp"

namespace weir::net {

http_pool::http_pool(transport_ptr network, http_client_options options)
  : network_(std::move(network)), options_(std::move(options)),
    loop_(network_->next_loop()), sweeper_(loop_.make_timer()) {}

void http_pool::admit(std::shared_ptr<running_call> call) {
  if (closed_)
    return call->end(fail(ec::cancelled, "the client is closed"));
  call->set_number(++admitted_);
  calls_.emplace(call->number(), call);
  call->start();
}

void http_pool::acquire(const std::shared_ptr<running_call>& call, bool fresh) {
  auto& x = places_[call->target().origin()];
  if (fresh) {
    idle_ -= x.idle.size();
    for (auto& stale : std::exchange(x.idle, {}))
      stale.stream->close();
  }
  if (!x.idle.empty()) {
    auto stream = std::move(x.idle.back().stream);
    x.idle.pop_back();
    --idle_;
    ++x.in_use;
    return call->on_connection(std::move(stream), true);
  }
  if (x.in_use < options_.connections_per_origin_max) {
    ++x.in_use;
    return dial(call);
  }
  if (waiting_ >= options_.waiting_calls_max)
    return call->end(fail(ec::limit_reached, "too many calls are waiting"));
  ++waiting_;
  x.waiting.push_back(call);
}

void http_pool::dial(const std::shared_ptr<running_call>& call) {
  connect_options how{options_.guard, options_.tls, call->limits().connect,
                      call->limits().tls};
  auto origin = call->target().origin();
  connect_to(
    network_, loop_, call->target(), std::move(how),
    [self = shared_from_this(), call, origin](result<stream_ptr> connected) {
      if (connected && !call->over())
        return call->on_connection(std::move(*connected), false);
      if (connected)
        (*connected)->close();
      self->release(origin, nullptr);
      if (!connected)
        call->end(connected.error());
    });
}

void http_pool::release(const std::string& origin, stream_ptr x) {
  auto at = places_.find(origin);
  if (at == places_.end())
    return;
  auto& here = at->second;
  --here.in_use;
  if (x && !closed_) {
    if (idle_ >= limits::http_idle_connections_max)
      close_oldest_idle();
    here.idle.push_back({std::move(x), loop_.now()});
    if (idle_++ == 0)
      arm();
  } else if (x) {
    x->close();
  }
  while (!here.waiting.empty()) {
    auto next = std::move(here.waiting.front());
    here.waiting.pop_front();
    --waiting_;
    if (!next->over())
      return acquire(next, false);
  }
  if (here.in_use == 0 && here.idle.empty())
    places_.erase(at);
}

void http_pool::forget(const std::shared_ptr<running_call>& call) {
  calls_.erase(call->number());
  auto at = places_.find(call->target().origin());
  if (at != places_.end())
    waiting_ -= std::erase(at->second.waiting, call);
}

void http_pool::close() {
  closed_ = true;
  sweeper_->cancel();
  for (auto& [number, call] : std::exchange(calls_, {}))
    call->end(fail(ec::cancelled, "the client was closed"));
  for (auto& [origin, spot] : places_)
    for (auto& x : std::exchange(spot.idle, {}))
      x.stream->close();
  idle_ = 0;
}

void http_pool::drop() noexcept {
  if (closed_)
    return;
  closed_ = true;
  sweeper_->cancel();
  // The calls keep the pool alive, so they are destroyed last.
  const auto calls = std::exchange(calls_, {});
  const auto places = std::exchange(places_, {});
}

void http_pool::close_oldest_idle() {
  auto oldest = places_.end();
  for (auto at = places_.begin(); at != places_.end(); ++at)
    if (!at->second.idle.empty()
        && (oldest == places_.end()
            || at->second.idle.front().since
                 < oldest->second.idle.front().since))
      oldest = at;
  if (oldest == places_.end())
    return;
  oldest->second.idle.front().stream->close();
  oldest->second.idle.pop_front();
  --idle_;
}

/// Closes connections that were idle for too long.
void http_pool::sweep() {
  auto before = loop_.now() + -options_.idle_timeout;
  for (auto at = places_.begin(); at != places_.end();) {
    auto& [origin, spot] = *at;
    while (!spot.idle.empty() && spot.idle.front().since <= before) {
      spot.idle.front().stream->close();
      spot.idle.pop_front();
      --idle_;
    }
    auto unused = spot.idle.empty() && spot.in_use == 0;
    at = unused ? places_.erase(at) : std::next(at);
  }
  if (idle_ > 0)
    arm();
}

namespace {

/// Collects a small answer.
class collecting_sink final : public http_sink {
public:
  explicit collecting_sink(http_handler done) : done_(std::move(done)) {}

  bool on_head(const http_response_head& head) override {
    static_cast<http_response_head&>(response_) = head;
    return true;
  }

  void on_body(bytes_view piece) override {
    response_.body.insert(response_.body.end(), piece.begin(), piece.end());
  }

  void on_end(result<void> outcome) override {
    if (outcome)
      done_(std::move(response_));
    else
      done_(outcome.error());
  }

private:
  http_handler done_;
  http_response response_;
};

class client final : public http_client {
public:
  client(transport_ptr network, http_client_options options)
    : pool_(
      std::make_shared<http_pool>(std::move(network), std::move(options))) {}

  /// When the loop has stopped, the task never runs. Then its destruction drops
  /// the calls, and no sink is called.
  ~client() override {
    pool_->loop().post(
      [last = std::shared_ptr<http_pool>{pool_.get(), [owner = pool_](auto* x) {
                                           x->drop();
                                         }}] {
        last->close();
      });
  }

  client(const client&) = delete;
  client& operator=(const client&) = delete;

  http_call_ptr get(http_request request, http_handler done) override {
    request.credit = UINT64_MAX;
    return stream(std::move(request),
                  std::make_shared<collecting_sink>(std::move(done)));
  }

  http_call_ptr stream(http_request request,
                       std::shared_ptr<http_sink> sink) override {
    auto call = std::make_shared<running_call>(pool_, std::move(request),
                                               std::move(sink));
    pool_->loop().post([x = pool_, call] {
      x->admit(call);
    });
    return call;
  }

private:
  std::shared_ptr<http_pool> pool_;
};

} // namespace

http_client_ptr make_http_client(transport_ptr network,
                                 http_client_options options) {
  return std::make_shared<client>(std::move(network), std::move(options));
}

} // namespace weir::net
