#pragma once

#include "net/transport.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// What an application does with its channel. Every function runs on the
/// channel's loop, one at a time; all but `take` may be empty.
struct channel_options {
  /// Takes what one read of the socket brought, in order; returns the ids to
  /// ack, in order.
  std::function<std::vector<uint64_t>(const std::vector<std::string_view>&)>
    take;
  std::function<void()> opened; ///< A connection stands.
  std::function<void()> ended;  ///< It is over: nothing more of it is taken.
  /// It connects again this long after a connection ended; empty: it does not.
  std::optional<std::chrono::microseconds> reconnect_delay;
  size_t window_frames = 256; ///< Events on their way to `take` at most.
};

/// An application on Tap's wire, for the demo, the benchmarks and the tests:
/// reads `/channel` of a node over a WebSocket, and acks.
///
/// # Ownership and threads
/// Works on one loop of `network`. All calls from any thread. The functions of
/// its options may still run when it is gone, until the loop has noticed.
class channel_client {
public:
  /// @param data_url Origin of the node's data port.
  /// @pre `data_url` is a URL
  channel_client(net::transport_ptr network, const std::string& data_url,
                 channel_options options);
  ~channel_client();

  channel_client(const channel_client&) = delete;
  channel_client& operator=(const channel_client&) = delete;

  /// Connects.
  void start();

  /// Hangs up and stays away until the next `start`.
  void stop();

  /// Hangs up, as a connection that breaks.
  void drop_connection();

  /// Acks something later than its event came, or before the first event when
  /// it is called right after `start`.
  void ack(uint64_t id);

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace weir::apps
