#pragma once

#include "apps/channel/channel_client.hpp"
#include "apps/demo/copy.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace weir::apps {

/// An application that keeps a copy of what comes over `/channel`. It can leave
/// out some acks until the event comes again.
///
/// # Ownership and threads
/// Works on one loop of `network`. All calls are safe from any thread.
class demo_consumer {
public:
  /// Sees each event after the copy took it, and whether it is acked.
  using witness
    = std::function<void(const event_copy&, const event_copy::taken&, bool)>;

  /// @param data_url Origin of the node's data port.
  /// @param reconnect_delay How soon it connects again after a connection has
  /// ended.
  demo_consumer(net::transport_ptr network, const std::string& data_url,
                std::chrono::microseconds reconnect_delay
                = std::chrono::milliseconds{100},
                witness watch = {});

  void start() { client_.start(); }

  /// Closes the connection until the next `start`.
  void stop() { client_.stop(); }

  /// Closes the connection; it connects again a moment later.
  void drop_connection() { client_.drop_connection(); }

  /// Leaves out the ack of every `every`-th event when it first comes; 0 acks
  /// all.
  void set_forgetful(uint64_t every);

  /// See `event_copy::forget_records`.
  void forget_records(const std::string& did);

  struct counters {
    uint64_t forgotten = 0; ///< Acks that were left out.
    uint64_t recovered = 0; ///< Those of them whose event came again.
  };

  counters counts() const;

  /// Calls `look` with the copy while nothing changes it.
  void read(const std::function<void(const event_copy&)>& look) const;

private:
  struct memory;

  std::shared_ptr<memory> memory_; ///< Shared with what runs on the loop.
  channel_client client_;
};

} // namespace weir::apps
