#pragma once

#include "net/connector.hpp"
#include "net/http_client.hpp"

#include <deque>
#include <map>

namespace weir::net {

class running_call;

/// The connections of one `http_client`, in use and kept alive.
///
/// # Ownership and threads
/// Lives on one loop. Calls keep it alive.
class http_pool : public std::enable_shared_from_this<http_pool> {
public:
  http_pool(transport_ptr network, http_client_options options);

  event_loop& loop() noexcept { return loop_; }

  const http_client_options& options() const noexcept { return options_; }

  /// Takes a new call in; it stays known until `forget`.
  void admit(std::shared_ptr<running_call> call);

  /// Finds a connection to the call's origin: an idle one, a new one, or after
  /// waiting for its turn. Ends in `on_connection` or `fail`.
  /// @param fresh Drops idle connections of that origin first; one of them has
  /// proved stale.
  void acquire(const std::shared_ptr<running_call>& call, bool fresh);

  /// Gives a connection back; null when it was closed.
  void release(const std::string& origin, stream_ptr x);

  void forget(const std::shared_ptr<running_call>& call);

  /// Cancels all calls and closes all connections.
  void close();

  /// Forgets all calls without a word, unless it is closed. Once no thread runs
  /// the loop any more.
  void drop() noexcept;

private:
  struct idle_connection {
    stream_ptr stream;
    steady_time since;
  };

  struct place {
    std::deque<idle_connection> idle; ///< Newest last.
    size_t in_use = 0;
    std::deque<std::shared_ptr<running_call>> waiting;
  };

  void dial(const std::shared_ptr<running_call>& call);
  void close_oldest_idle();
  void sweep();
  void arm();

  transport_ptr network_;
  http_client_options options_;
  event_loop& loop_;
  std::unique_ptr<timer> sweeper_;
  std::map<std::string, place> places_; ///< By origin.
  size_t idle_ = 0;
  size_t waiting_ = 0;
  std::map<uint64_t, std::shared_ptr<running_call>> calls_; ///< By number.
  uint64_t admitted_ = 0;
  bool closed_ = false;
};

} // namespace weir::net
