#include "net/asio_loop.hpp"
#include "net/dns_resolver.hpp"
#include "net/io_threads.hpp"

#include <boost/asio/ip/v6_only.hpp>

#include <atomic>

namespace weir::net {

namespace {

class system_listener final : public listener {
public:
  struct core : std::enable_shared_from_this<core> {
    core(io_threads& all, asio_loop& own)
      : threads(all), loop(own), acceptor(own.context()),
        pause(own.make_timer()) {}

    result<void> open(const endpoint& at) {
      boost::system::error_code error;
      auto to = to_asio(at);
      acceptor.open(to.protocol(), error);
      if (!error)
        keep_from_children(acceptor.native_handle());
      if (!error)
        acceptor.set_option(tcp::acceptor::reuse_address{true}, error);
      if (!error && at.address.v6)
        acceptor.set_option(boost::asio::ip::v6_only{true}, error);
      if (!error)
        acceptor.bind(to, error);
      if (!error)
        acceptor.listen(boost::asio::socket_base::max_listen_connections,
                        error);
      if (error)
        return fail(ec::unreachable, "cannot listen on " + to_string(at) + ": "
                                       + error.message());
      local = from_asio(acceptor.local_endpoint(error));
      return {};
    }

    void accept() {
      if (closed)
        return;
      auto& next = static_cast<asio_loop&>(threads.next_loop());
      acceptor.async_accept(
        next.context(),
        [self = shared_from_this(),
         &next](const boost::system::error_code& error, tcp::socket socket) {
          if (self->closed)
            return;
          if (error) {
            self->pause->start(limits::accept_pause,
                               [weak = std::weak_ptr{self}] {
                                 if (auto x = weak.lock())
                                   x->accept();
                               });
            return;
          }
          auto x = make_tcp_stream(next, std::move(socket));
          next.dispatch([self, x] {
            self->accepted(x);
          });
          self->accept();
        });
    }

    io_threads& threads;
    asio_loop& loop;
    tcp::acceptor acceptor;
    std::unique_ptr<timer> pause;
    accept_handler accepted;
    endpoint local;
    std::atomic<bool> closed = false;
  };

  explicit system_listener(std::shared_ptr<core> x) : core_(std::move(x)) {}

  ~system_listener() override { close(); }

  const endpoint& local() const noexcept override { return core_->local; }

  void close() noexcept override {
    if (core_->closed.exchange(true))
      return;
    // This works even when the loop has ended: clients are refused at once.
    ::shutdown(core_->acceptor.native_handle(), SHUT_RDWR);
    core_->loop.post([x = core_] {
      boost::system::error_code error;
      x->acceptor.close(error);
      x->pause->cancel();
    });
  }

private:
  std::shared_ptr<core> core_;
};

/// One attempt to connect within a given time.
struct dialling : std::enable_shared_from_this<dialling> {
  explicit dialling(asio_loop& own)
    : loop(own), socket(own.context()), deadline(own.make_timer()) {}

  void start(const endpoint& to, std::chrono::microseconds timeout) {
    // The operation of the socket keeps this object alive.
    deadline->start(timeout, [this] {
      boost::system::error_code error;
      timed_out = true;
      socket.close(error);
    });
    socket.async_connect(
      to_asio(to),
      [self = shared_from_this(), to](const boost::system::error_code& error) {
        self->deadline->cancel();
        if (self->timed_out)
          self->done(fail(ec::unreachable,
                          "connecting to " + to_string(to) + " timed out"));
        else if (error)
          self->done(fail(ec::unreachable, "connecting to " + to_string(to)
                                             + ": " + error.message()));
        else
          self->done(make_tcp_stream(self->loop, std::move(self->socket)));
      });
  }

  asio_loop& loop;
  tcp::socket socket;
  std::unique_ptr<timer> deadline;
  bool timed_out = false;
  stream_handler done;
};

class system_transport final : public transport {
public:
  system_transport(io_threads& threads, std::shared_ptr<dns_resolver> dns)
    : threads_(threads), dns_(std::move(dns)) {}

  event_loop& next_loop() noexcept override { return threads_.next_loop(); }

  void dial(event_loop& loop, const endpoint& to,
            std::chrono::microseconds timeout, stream_handler done) override {
    auto x = std::make_shared<dialling>(static_cast<asio_loop&>(loop));
    x->done = std::move(done);
    loop.dispatch([x, to, timeout] {
      x->start(to, timeout);
    });
  }

  result<std::unique_ptr<listener>> listen(const endpoint& at,
                                           accept_handler accepted) override {
    auto x = std::make_shared<system_listener::core>(
      threads_, static_cast<asio_loop&>(threads_.loop(0)));
    if (auto opened = x->open(at); !opened)
      return opened.error();
    x->accepted = std::move(accepted);
    x->loop.post([x] {
      x->accept();
    });
    return std::make_unique<system_listener>(std::move(x));
  }

  void
  resolve(event_loop& loop, std::string name,
          std::function<void(result<std::vector<ip_address>>)> done) override {
    dns_->resolve(loop, std::move(name), std::move(done));
  }

  void resolve_txt(
    event_loop& loop, std::string name,
    std::function<void(result<std::vector<std::string>>)> done) override {
    dns_->resolve_txt(loop, std::move(name), std::move(done));
  }

private:
  io_threads& threads_;
  std::shared_ptr<dns_resolver> dns_;
};

} // namespace

transport_ptr make_system_transport(io_threads& threads,
                                    const system_transport_options& options) {
  auto dns = make_dns_resolver(threads.loop(0), options);
  return std::make_shared<system_transport>(threads, std::move(dns));
}

} // namespace weir::net
