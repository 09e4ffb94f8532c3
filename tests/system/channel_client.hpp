#pragma once

#include "apps/channel/channel_client.hpp"

// One connection to `/channel`, as an application of its own makes it, whose
// end a test waits for.

namespace weir::tests {

/// # Ownership and threads
/// `taker` runs on an io thread of the transport, one call at a time, and not
/// any more once `hang_up` has returned or the object is gone.
class channel_client {
public:
  using taker = decltype(apps::channel_options::take);

  /// Connects to the node whose data port has this origin.
  /// @param first Acks that go out before anything is taken.
  /// @param ended Runs as `take` does, once, after its last run.
  channel_client(const net::transport_ptr& network, const std::string& data_url,
                 taker take, const std::vector<uint64_t>& first = {},
                 std::function<void()> ended = {});
  ~channel_client();

  channel_client(const channel_client&) = delete;
  channel_client& operator=(const channel_client&) = delete;

  /// Acks something later than its event came.
  void ack(uint64_t id) { client_.ack(id); }

  /// Whether the connection is over.
  bool over() const;

  /// Waits for the end of a connection that the node ends, taking all that is
  /// still on its way. False when it did not end.
  bool wait_over(std::chrono::seconds patience) const;

  /// Ends the connection.
  void hang_up();

private:
  struct ending;
  std::shared_ptr<ending> ending_;
  apps::channel_client client_;
};

} // namespace weir::tests
