#include "tests/sim/virtual_net.hpp"

#include "net/limits.hpp"
#include "tests/sim/virtual_stream.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

const net::endpoint here(uint16_t port) {
  return {net::ip_address::loopback_v4(), port};
}

} // namespace

virtual_net::virtual_net(timeline& time, trace& log)
  : time_(time), trace_(log) {
  // nop
}

virtual_net::~virtual_net() {
  for (const auto& x : machines_) {
    x->halt();
    x->drop_work();
  }
}

std::shared_ptr<virtual_net::machine> virtual_net::add(std::string name,
                                                       size_t loops) {
  machines_.push_back(
    std::make_shared<machine>(*this, std::move(name), loops));
  return machines_.back();
}

void virtual_net::keep(const std::shared_ptr<virtual_stream>& x) {
  std::erase_if(streams_, [](const auto& y) { return y.expired(); });
  streams_.push_back(x);
}

size_t virtual_net::connections() const {
  size_t out = 0;
  for (const auto& x : streams_) {
    const auto stream = x.lock();
    out += stream && !stream->is_over() ? 1 : 0;
  }
  return out;
}

std::pair<std::chrono::microseconds, uint16_t>
virtual_net::longest_unread(const machine& at, steady_time begin) const {
  std::pair<std::chrono::microseconds, uint16_t> out{0, 0};
  for (const auto& x : streams_) {
    const auto stream = x.lock();
    if (!stream || stream->is_over() || !stream->unread_since()
        || !at.owns(*stream))
      continue;
    const auto since = std::max(*stream->unread_since(), begin);
    out = std::max(out, {time_.now() - since, stream->server()});
  }
  return out;
}

void virtual_net::resume(uint16_t port) {
  to(port).stalls = false;
  for (const auto& x : std::vector{streams_})
    if (const auto stream = x.lock(); stream && stream->server() == port)
      stream->go_on();
}

size_t virtual_net::cut(uint16_t port) {
  size_t out = 0;
  for (const auto& x : std::vector{streams_})
    if (const auto stream = x.lock(); stream && stream->server() == port) {
      stream->fail_now(std::errc::connection_reset);
      ++troubles_[port].cut;
      ++out;
    }
  trace_.note(time_.now(), "cut", "connections", out);
  return out / 2;
}

/// The request for a connection arrives: a server listens, or not.
void virtual_net::connect(virtual_loop& from, const net::endpoint& to,
                          net::stream_handler done) {
  const auto server = ports_.find(to.port);
  if (server == ports_.end() || roads_[to.port].refuses) {
    troubles_[to.port].refused += roads_[to.port].refuses;
    trace_.note(time_.now(), "refused", from.name(), to.port);
    return from.post([done = std::move(done)] {
      done(fail(ec::unreachable, "connection refused"));
    });
  }
  auto& home = static_cast<virtual_loop&>(server->second.at->next_loop());
  const auto number = ++last_;
  auto mine = std::make_shared<virtual_stream>(*this, from, to, to.port,
                                               number);
  auto theirs = std::make_shared<virtual_stream>(*this, home, here(50'000),
                                                 to.port, number);
  virtual_stream::join(mine, theirs);
  keep(mine);
  keep(theirs);
  trace_.note(time_.now(), "connected", from.name(), to.port);
  home.post([this, port = to.port, owner = server->second.number, theirs] {
    const auto known = ports_.find(port);
    if (known != ports_.end() && known->second.number == owner)
      known->second.accepted(theirs);
    else
      theirs->close(true);
  });
  from.post([done = std::move(done), mine] { done(net::stream_ptr{mine}); });
  if (const auto most = roads_[to.port].lifetime; most.count() != 0)
    time_.set(time_.now() + most, [this, port = to.port,
                                   a = std::weak_ptr{mine},
                                   b = std::weak_ptr{theirs}] {
      for (const auto& x : {a.lock(), b.lock()})
        if (x) {
          troubles_[port].short_lived += x->is_over() ? 0 : 1;
          x->fail_now(std::errc::connection_reset);
        }
    });
}

// -- a machine ----------------------------------------------------------------

class virtual_net::machine::port final : public net::listener {
public:
  port(virtual_net& net, const net::endpoint& at, uint64_t number)
    : net_(net), at_(at), number_(number) {
    // nop
  }

  ~port() override { close(); }

  const net::endpoint& local() const noexcept override { return at_; }

  void close() noexcept override {
    const auto i = net_.ports_.find(at_.port);
    if (i != net_.ports_.end() && i->second.number == number_)
      net_.ports_.erase(i);
  }

private:
  virtual_net& net_;
  net::endpoint at_;
  uint64_t number_;
};

virtual_net::machine::machine(virtual_net& net, std::string name, size_t loops)
  : net_(net), name_(std::move(name)) {
  for (size_t i = 0; i < loops; ++i) {
    loops_.push_back(std::make_unique<virtual_loop>(
      net.time_, name_ + "." + std::to_string(i)));
    net.loops_.push_back(loops_.back().get());
  }
}

bool virtual_net::machine::owns(const virtual_stream& x) const {
  return std::any_of(loops_.begin(), loops_.end(), [&](const auto& loop) {
    return x.lives_on(*loop);
  });
}

void virtual_net::machine::halt() {
  std::erase_if(net_.ports_,
                [this](const auto& x) { return x.second.at == this; });
  for (const auto& x : std::vector{net_.streams_}) {
    const auto stream = x.lock();
    if (!stream)
      continue;
    if (owns(*stream))
      stream->close(true);
  }
}

void virtual_net::machine::drop_work() {
  for (const auto& x : loops_) {
    std::erase(net_.loops_, x.get());
    x->end();
  }
}

net::event_loop& virtual_net::machine::next_loop() noexcept {
  return *loops_[turn_++ % loops_.size()];
}

void virtual_net::machine::dial(net::event_loop& loop, const net::endpoint& to,
                                std::chrono::microseconds timeout,
                                net::stream_handler done) {
  auto& mine = static_cast<virtual_loop&>(loop);
  const auto& way = net_.to(to.port);
  auto& time = net_.time_;
  const auto silent = way.swallows || way.latency > timeout;
  const auto wait = silent ? timeout : way.latency;
  time.set(time.now() + wait,
           [this, &mine, to, silent, wait, done = std::move(done)]() mutable {
             if (net_.wait_tap_)
               net_.wait_tap_(name_, to.port, {}, wait);
             if (!silent)
               return net_.connect(mine, to, std::move(done));
             ++net_.troubles_[to.port].unanswered;
             net_.trace_.note(net_.time_.now(), "unanswered", mine.name(),
                              to.port);
             mine.post([done = std::move(done)] {
               done(fail(ec::unreachable, "no answer to the dial"));
             });
           });
}

result<std::unique_ptr<net::listener>>
virtual_net::machine::listen(const net::endpoint& at,
                             net::accept_handler accepted) {
  auto real = at;
  while (real.port == 0 || (at.port == 0 && net_.ports_.contains(real.port)))
    real.port = net_.next_port_++;
  if (net_.ports_.contains(real.port))
    return fail(ec::unreachable, "the port is in use");
  const auto number = ++net_.last_;
  net_.ports_[real.port] = {this, std::move(accepted), number};
  return std::unique_ptr<net::listener>{
    std::make_unique<port>(net_, real, number)};
}

void virtual_net::machine::resolve(
  net::event_loop& loop, std::string name,
  std::function<void(result<std::vector<net::ip_address>>)> done) {
  const auto known = net_.names_.find(name);
  const auto how
    = known == net_.names_.end() ? naming::unknown : known->second;
  auto& time = net_.time_;
  if (known != net_.names_.end() && how != naming::found)
    ++net_.misnamed_[{name, how}];
  const auto wait = how == naming::silent
                      ? std::chrono::microseconds{limits::dns_timeout}
                      : std::chrono::microseconds{1'000};
  time.set(time.now() + wait, [this, &loop, how, name, wait,
                               done = std::move(done)] {
    if (net_.wait_tap_)
      net_.wait_tap_(name_, 0, name, wait);
    loop.post([how, name, done] {
      if (how == naming::found)
        done(std::vector{net::ip_address::loopback_v4()});
      else if (how == naming::unknown)
        done(fail(ec::not_found, "no such name: " + name));
      else
        done(fail(ec::unreachable, "no answer about the name " + name));
    });
  });
}

void virtual_net::machine::resolve_txt(
  net::event_loop& loop, std::string name,
  std::function<void(result<std::vector<std::string>>)> done) {
  loop.post([done = std::move(done), name = std::move(name)] {
    done(fail(ec::not_found, "no such name: " + name));
  });
}

} // namespace weir::sim
