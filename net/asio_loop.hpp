#pragma once

#include "net/event_loop.hpp"
#include "net/transport.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <mutex>
#include <vector>

namespace weir::net {

/// The real loop: one `io_context` run by one thread. Only for the .cpp files
/// of this folder that use Asio.
///
/// Work of other threads comes through a list of its own. Asio wakes its thread
/// while it still has the lock that this thread needs first, so that both
/// threads switch twice for each piece of work.
class asio_loop final : public event_loop {
public:
  asio_loop();

  void post(task x) override;

  bool here() const noexcept override {
    return context_.get_executor().running_in_this_thread();
  }

  std::unique_ptr<timer> make_timer() override;

  steady_time now() const noexcept override {
    return system_clock().steady_now();
  }

  boost::asio::io_context& context() noexcept { return context_; }

  /// Destroys all work that is left. Call it when no thread runs the loop.
  void drop_work();

private:
  struct one_thread_context : boost::asio::io_context {
    one_thread_context() : io_context(1) {}

    using io_context::shutdown;
  };

  void await_posts();
  void run_posts();
  bool take_posts();

  // `get_executor` is not const in Asio, though it changes nothing.
  mutable one_thread_context context_;
  boost::asio::posix::stream_descriptor alarm_; ///< An eventfd.
  std::array<std::byte, 8> alarm_bytes_{};
  std::mutex mutex_;
  std::vector<task> posts_; ///< Tasks of other threads; the first one rings.
  std::vector<task> taken_; ///< Taken from `posts_`, to be run.
};

using tcp = boost::asio::ip::tcp;

tcp::endpoint to_asio(const endpoint& x);
endpoint from_asio(const tcp::endpoint& x);

/// Keeps the descriptor out of programs that this process starts.
void keep_from_children(int descriptor) noexcept;

/// Wraps a connected socket. It sends without delay (TCP_NODELAY), and the
/// kernel holds little unsent data, so that pongs do not wait behind megabytes
/// of events.
stream_ptr make_tcp_stream(asio_loop& loop, tcp::socket socket);

/// The socket inside a stream of `make_tcp_stream`, or null. The stream must
/// outlive its use.
tcp::socket* tcp_socket(stream& x) noexcept;

} // namespace weir::net
