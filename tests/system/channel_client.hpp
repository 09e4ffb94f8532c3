#pragma once

#include "apps/channel/channel_client.hpp"

// One connection to `/channel` that works as that of an application. A test can
// wait for its end.

namespace weir::tests {

/// # Ownership and threads
/// `taker` runs on an io thread of the transport, one call at a time. It does
/// not run any more when `hang_up` has returned or the object is destroyed.
class channel_client {
public:
  using taker = decltype(apps::channel_options::take);

  /// Connects to the node whose data port has this origin.
  /// @param first Acks that are sent before an event is taken.
  /// @param ended Runs once on the same thread as `take`, after its last call.
  channel_client(const net::transport_ptr& network, const std::string& data_url,
                 taker take, const std::vector<uint64_t>& first = {},
                 std::function<void()> ended = {});
  ~channel_client();

  channel_client(const channel_client&) = delete;
  channel_client& operator=(const channel_client&) = delete;

  /// Acks an event later than on its arrival.
  void ack(uint64_t id) { client_.ack(id); }

  /// Whether the connection is over.
  bool over() const;

  /// Waits until the node has ended the connection; events that are still on
  /// their way are taken. False when it did not end in time.
  bool wait_over(std::chrono::seconds patience) const;

  /// Ends the connection.
  void hang_up();

private:
  struct ending;
  std::shared_ptr<ending> ending_;
  apps::channel_client client_;
};

} // namespace weir::tests
