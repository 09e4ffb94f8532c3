#include "net/connector.hpp"

#include <algorithm>

namespace weir::net {

namespace {

/// One attempt to connect to the host of a URL. Its operation in progress keeps
/// it alive.
class connector : public std::enable_shared_from_this<connector> {
public:
  connector(transport_ptr network, event_loop& loop, const url& to,
            connect_options options, stream_handler done)
    : network_(std::move(network)), loop_(loop), to_(to),
      options_(std::move(options)), done_(std::move(done)) {}

  void start() {
    if (auto allowed = options_.guard.check_url(to_); !allowed)
      return done_(allowed.error());
    if (to_.secure() && !options_.tls)
      return done_(fail(ec::invalid_argument, "TLS is not set up"));
    if (auto literal = ip_address::parse(to_.host))
      return on_resolved(std::vector{*literal});
    if (to_.host == "localhost" || to_.host.ends_with(".localhost"))
      return on_resolved(
        std::vector{ip_address::loopback_v4(), ip_address::loopback_v6()});
    network_->resolve(loop_, to_.host,
                      [self = shared_from_this()](auto addresses) {
                        self->on_resolved(std::move(addresses));
                      });
  }

private:
  void on_resolved(result<std::vector<ip_address>> addresses) {
    if (!addresses)
      return done_(addresses.error());
    result<void> allowed = fail(ec::not_found, "no address: " + to_.host);
    for (auto& x : *addresses) {
      allowed = options_.guard.check_address(x);
      if (allowed)
        addresses_.push_back(x);
    }
    if (addresses_.empty())
      return done_(allowed.error());
    deadline_ = loop_.now() + options_.connect_timeout;
    dial(0);
  }

  void dial(size_t index) {
    // The time left is shared evenly among the addresses left.
    auto left = deadline_ - loop_.now();
    auto share = left / static_cast<int64_t>(addresses_.size() - index);
    network_->dial(loop_, {addresses_[index], to_.port},
                   std::max(share, std::chrono::microseconds{1}),
                   [self = shared_from_this(), index](auto connected) {
                     self->on_dialled(std::move(connected), index);
                   });
  }

  void on_dialled(result<stream_ptr> connected, size_t index) {
    if (!connected) {
      if (index + 1 < addresses_.size())
        return dial(index + 1);
      return done_(connected.error());
    }
    auto& stream = *connected;
    auto allowed = options_.guard.check_address(stream->remote().address);
    if (!allowed) {
      stream->close();
      return done_(allowed.error());
    }
    if (!to_.secure())
      return done_(std::move(stream));
    options_.tls->connect(std::move(stream), to_.host, options_.tls_timeout,
                          std::move(done_));
  }

  transport_ptr network_;
  event_loop& loop_;
  url to_;
  connect_options options_;
  stream_handler done_;
  std::vector<ip_address> addresses_;
  steady_time deadline_;
};

} // namespace

void connect_to(transport_ptr network, event_loop& loop, const url& to,
                connect_options options, stream_handler done) {
  auto x = std::make_shared<connector>(std::move(network), loop, to,
                                       std::move(options), std::move(done));
  loop.post([x] {
    x->start();
  });
}

} // namespace weir::net
