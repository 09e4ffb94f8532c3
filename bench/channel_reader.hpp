#pragma once

#include "net/transport.hpp"

#include <memory>
#include <string>

namespace weir::bench {

/// A minimal application for Tap's wire: it acks every event of `/channel` and
/// does nothing else.
///
/// # Ownership and threads
/// Works on one loop of `network`, which outlives it. All calls are safe from
/// any thread.
class channel_reader {
public:
  /// Connects, and connects again whenever the connection ends.
  /// @param data_url Origin of the node's data port.
  static result<channel_reader> start(net::transport_ptr network,
                                      const std::string& data_url);

private:
  struct impl;
  explicit channel_reader(std::shared_ptr<impl> x) noexcept;
  std::shared_ptr<impl> impl_;
};

} // namespace weir::bench
