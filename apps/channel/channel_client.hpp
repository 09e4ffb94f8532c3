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
  std::function<void()> opened; ///< A connection is open.
  std::function<void()> ended;  ///< It is over: `take` gets no more of it.
  /// The wait before it connects again after an end; empty: it does not.
  std::optional<std::chrono::microseconds> reconnect_delay;
  size_t window_frames = 256; ///< The most events on their way to `take`.
};

/// An application that speaks Tap's wire format, for the demo, the benchmarks
/// and the tests: it reads `/channel` of a node over a WebSocket, and acks.
///
/// # Ownership and threads
/// Works on one loop of `network`. Call it from any thread. The functions of
/// its options may still run after its destruction, until its task on the loop
/// has closed the connection.
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

  /// Closes the connection and connects only at the next `start`.
  void stop();

  /// Closes the connection, as if it had broken.
  void drop_connection();

  /// Acks an event later than `take` got it. Called right after `start`, the
  /// ack goes out before the first event comes.
  void ack(uint64_t id);

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace weir::apps
