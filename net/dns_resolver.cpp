#include "net/dns_resolver.hpp"

#include "net/asio_loop.hpp"
#include "net/limits.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <ares.h>
#include <arpa/nameser.h>
#include <cstring>
#include <map>

namespace weir::net {

namespace {

using boost::asio::posix::stream_descriptor;
using limits::dns_answers_max;

error dns_error(int status) {
  auto missing = status == ARES_ENOTFOUND || status == ARES_ENODATA
                 || status == ARES_EBADNAME;
  return fail(missing ? ec::not_found : ec::unreachable,
              std::string{"DNS: "} + ares_strerror(status));
}

/// One socket of c-ares; `open` turns false when c-ares closes it.
struct watched_socket {
  explicit watched_socket(boost::asio::io_context& context, int fd)
    : descriptor(context, fd) {}

  stream_descriptor descriptor;
  bool open = true;
  bool wants_read = false;
  bool wants_write = false;
  bool waits_read = false;
  bool waits_write = false;
};

/// One look-up: c-ares or the deadline answers it, once.
template <class T>
struct query {
  event_loop& loop;
  std::function<void(result<T>)> done;
  std::unique_ptr<timer> deadline;
  size_t* in_flight = nullptr;

  void answer(result<T> x) {
    deadline->cancel();
    if (done)
      loop.post([done = std::exchange(done, nullptr), x = std::move(x)] {
        done(x);
      });
  }
};

result<std::vector<ip_address>> collect(int status, const ares_addrinfo* list) {
  if (status != ARES_SUCCESS)
    return dns_error(status);
  std::vector<ip_address> v4;
  std::vector<ip_address> v6;
  for (auto node = list->nodes; node; node = node->ai_next) {
    ip_address x;
    if (node->ai_family == AF_INET) {
      auto from = reinterpret_cast<const sockaddr_in*>(node->ai_addr);
      std::memcpy(x.octets.data(), &from->sin_addr, 4);
      v4.push_back(x);
    } else if (node->ai_family == AF_INET6) {
      auto from = reinterpret_cast<const sockaddr_in6*>(node->ai_addr);
      std::memcpy(x.octets.data(), &from->sin6_addr, 16);
      x.v6 = true;
      v6.push_back(x);
    }
  }
  // IPv4 comes first, since it works on more machines. IPv6 may have half.
  auto reserved = std::min(v6.size(), dns_answers_max / 2);
  v4.resize(std::min(v4.size(), dns_answers_max - reserved));
  v4.insert(v4.end(), v6.begin(),
            v6.begin()
              + static_cast<ptrdiff_t>(
                std::min(v6.size(), dns_answers_max - v4.size())));
  if (v4.empty())
    return dns_error(ARES_ENODATA);
  return v4;
}

result<std::vector<std::string>> collect_txt(int status, const uint8_t* answer,
                                             int size) {
  if (status != ARES_SUCCESS)
    return dns_error(status);
  if (static_cast<size_t>(size) > limits::dns_answer_bytes_max)
    return fail(ec::limit_reached, "DNS: the answer is too long");
  ares_txt_ext* list = nullptr;
  status = ares_parse_txt_reply_ext(answer, size, &list);
  if (status != ARES_SUCCESS)
    return dns_error(status);
  std::vector<std::string> values;
  for (auto part = list; part; part = part->next) {
    if (part->record_start)
      values.emplace_back();
    values.back().append(reinterpret_cast<const char*>(part->txt),
                         part->length);
  }
  ares_free_data(list);
  values.resize(std::min(values.size(), dns_answers_max));
  return values;
}

/// c-ares driven by an Asio loop.
class ares_resolver final : public dns_resolver,
                            public std::enable_shared_from_this<ares_resolver> {
public:
  ares_resolver(asio_loop& loop, std::chrono::microseconds timeout)
    : loop_(loop), timeout_(timeout), timer_(loop.make_timer()) {}

  ~ares_resolver() override {
    if (channel_)
      ares_destroy(channel_); // Ends all queries through their callbacks.
    ares_library_cleanup();
  }

  void open(const std::vector<endpoint>& servers) {
    ares_library_init(ARES_LIB_INIT_ALL);
    ares_options options{};
    options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
    // In milliseconds. The second try waits twice as long, so both take a
    // little less than our timeout. Then an answer for one address family is
    // kept when the other one fails.
    options.timeout = static_cast<int>(timeout_.count() / 3'300) + 1;
    options.tries = 2;
    options.sock_state_cb
      = [](void* self, ares_socket_t fd, int read, int write) {
          static_cast<ares_resolver*>(self)->watch(fd, read != 0, write != 0);
        };
    options.sock_state_cb_data = this;
    auto mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES
                | ARES_OPT_SOCK_STATE_CB;
    if (ares_init_options(&channel_, &options, mask) != ARES_SUCCESS)
      channel_ = nullptr;
    else if (!servers.empty())
      use(servers);
  }

  void resolve(event_loop& loop, std::string name,
               addresses_handler done) override {
    start<std::vector<ip_address>>(
      loop, std::move(done), [this, name = std::move(name)](void* q) {
        ares_addrinfo_hints hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_flags = ARES_AI_NOSORT;
        auto answered = [](void* arg, int status, int, ares_addrinfo* list) {
          finish<std::vector<ip_address>>(arg, collect(status, list));
          ares_freeaddrinfo(list);
        };
        ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, answered, q);
      });
  }

  void resolve_txt(event_loop& loop, std::string name,
                   txt_handler done) override {
    start<std::vector<std::string>>(
      loop, std::move(done), [this, name = std::move(name)](void* q) {
        auto answered
          = [](void* arg, int status, int, unsigned char* answer, int size) {
              finish<std::vector<std::string>>(
                arg, collect_txt(status, answer, size));
            };
        ares_query(channel_, name.c_str(), ns_c_in, ns_t_txt, answered, q);
      });
  }

private:
  using socket_ptr = std::shared_ptr<watched_socket>;

  void use(const std::vector<endpoint>& servers) {
    std::vector<ares_addr_port_node> nodes(servers.size());
    for (size_t i = 0; i < servers.size(); ++i) {
      auto& [address, port] = servers[i];
      auto& node = nodes[i];
      node.next = i + 1 < nodes.size() ? &nodes[i + 1] : nullptr;
      node.family = address.v6 ? AF_INET6 : AF_INET;
      std::memcpy(&node.addr, address.octets.data(), address.v6 ? 16 : 4);
      node.udp_port = node.tcp_port = port;
    }
    ares_set_servers_ports(channel_, nodes.data());
  }

  /// Counts and starts one look-up on our own loop.
  template <class T>
  void start(event_loop& loop, std::function<void(result<T>)> done,
             std::function<void(void*)> ask) {
    loop_.post([self = shared_from_this(), &loop, done = std::move(done),
                ask = std::move(ask)]() mutable {
      if (!self->channel_ || self->in_flight_ >= limits::dns_queries_max) {
        auto code = self->channel_ ? ec::limit_reached : ec::unreachable;
        loop.post([done = std::move(done), code] {
          done(fail(code, "DNS: no look-up can be started now"));
        });
        return;
      }
      ++self->in_flight_;
      auto q = new query<T>{loop, std::move(done), self->loop_.make_timer(),
                            &self->in_flight_};
      q->deadline->start(self->timeout_, [q] {
        q->answer(fail(ec::unreachable, "DNS: timed out"));
      });
      ask(q);
      self->arm();
    });
  }

  /// c-ares has finished a query, perhaps after our deadline.
  template <class T>
  static void finish(void* arg, result<T> x) {
    std::unique_ptr<query<T>> q{static_cast<query<T>*>(arg)};
    --*q->in_flight;
    q->answer(std::move(x));
  }

  /// c-ares opens, changes or closes a socket.
  void watch(int fd, bool read, bool write) {
    auto& x = sockets_[fd];
    if (!read && !write) {
      if (x) {
        x->open = false;
        x->descriptor.release(); // c-ares closes it itself.
      }
      sockets_.erase(fd);
      return;
    }
    if (!x)
      x = std::make_shared<watched_socket>(loop_.context(), fd);
    x->wants_read = read;
    x->wants_write = write;
    wait(x);
  }

  void wait(const socket_ptr& x) {
    if (x->wants_read && !std::exchange(x->waits_read, true))
      wait(x, stream_descriptor::wait_read);
    if (x->wants_write && !std::exchange(x->waits_write, true))
      wait(x, stream_descriptor::wait_write);
  }

  void wait(const socket_ptr& x, stream_descriptor::wait_type what) {
    x->descriptor.async_wait(what, [weak = weak_from_this(), x, what](
                                     const boost::system::error_code& error) {
      auto self = weak.lock();
      if (!self || error || !x->open)
        return;
      auto reads = what == stream_descriptor::wait_read;
      (reads ? x->waits_read : x->waits_write) = false;
      auto fd = x->descriptor.native_handle();
      ares_process_fd(self->channel_, reads ? fd : ARES_SOCKET_BAD,
                      reads ? ARES_SOCKET_BAD : fd);
      if (x->open)
        self->wait(x);
      self->arm();
    });
  }

  /// Sets the alarm for c-ares' next retry.
  void arm() {
    timeval left{};
    if (!ares_timeout(channel_, nullptr, &left)) {
      timer_->cancel();
      return;
    }
    auto delay = std::chrono::seconds{left.tv_sec}
                 + std::chrono::microseconds{left.tv_usec};
    timer_->start(delay, [this] {
      ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
      arm();
    });
  }

  asio_loop& loop_;
  std::chrono::microseconds timeout_;
  std::unique_ptr<timer> timer_;
  ares_channel channel_ = nullptr;
  std::map<int, socket_ptr> sockets_;
  size_t in_flight_ = 0;
};

} // namespace

std::shared_ptr<dns_resolver>
make_dns_resolver(event_loop& loop, const system_transport_options& options) {
  auto end_on_loop = [&loop](ares_resolver* x) {
    loop.post([owner = std::shared_ptr<ares_resolver>{x}] {});
  };
  std::shared_ptr<ares_resolver> x{
    new ares_resolver{static_cast<asio_loop&>(loop), options.dns_timeout},
    end_on_loop};
  x->open(options.name_servers);
  return x;
}

} // namespace weir::net
