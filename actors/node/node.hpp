#pragma once

#include "actors/node/node_config.hpp"
#include "base/error.hpp"
#include "base/metrics.hpp"
#include "net/tls.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace weir {
class clock;
class random_source;
} // namespace weir

namespace weir::net {
class transport;
} // namespace weir::net

namespace weir::storage {
class disk_env;
} // namespace weir::storage

namespace weir::actors {

class executor;
class node;

/// What a node gets from outside: the seams.
struct node_seams {
  const clock* time = nullptr;       ///< Null: the machine's.
  random_source* random = nullptr;   ///< Null: the kernel's.
  storage::disk_env* disk = nullptr; ///< Null: the machine's.
  /// Null: the machine's sockets, on threads of the node. Otherwise its loops
  /// must run until the node has ended.
  std::shared_ptr<net::transport> transport = nullptr;
  /// Null: uses the certificates of `ca_file`, which are read at start.
  net::tls_client_ptr tls = nullptr;
  executor* run = nullptr; ///< Null: threads of the node's own.
  /// Returns how much memory of the process is in RAM; null: the machine's
  /// figure.
  std::function<uint64_t()> resident = {};
  /// Called between the steps of a start, and within long ones: true ends the
  /// start with `ec::cancelled`. Nothing was promised by then.
  std::function<bool()> end_wanted = {};
  /// Called once, within `start`, when the ports are open and no stream is open
  /// yet.
  std::function<void(const node&)> opened = {};
};

/// What the stores of a node contain.
struct node_holdings {
  uint64_t repos = 0;
  uint64_t store_bytes = 0; ///< Approximate size on disk.
  /// Repos that must be fetched again because `collections` has changed, as
  /// counted at its start.
  uint64_t outdated = 0;
};

/// A whole node: store, actors, sockets. It starts in the order of dependencies
/// and stops in reverse.
///
/// # Ownership and threads
/// Owned by `main`, a test, or a benchmark; several nodes may be in one process
/// with different data directories. `stop` and the destructor block until
/// everything has ended; do not call them from an actor or a socket callback.
class node {
public:
  /// Opens or creates the data directory and starts everything.
  /// @param on_failure Called once, from any thread, when the node cannot go on
  /// (a failed write, a dead actor beyond its restarts): the process should
  /// exit with a code other than zero. After `ec::disk_full` a new start can
  /// succeed: the disk was full, the store was only read since, and now there
  /// is room.
  static result<std::unique_ptr<node>>
  start(node_config config, std::function<void(const error&)> on_failure,
        node_seams seams = {});

  ~node();

  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// `http://127.0.0.1:PORT` of the data port and the operations port.
  const std::string& data_url() const noexcept;
  const std::string& operations_url() const noexcept;

  /// Names the ids of its events (`wire::event_numbers::name_of`).
  const std::string& log_epoch() const noexcept;

  node_holdings holdings() const;

  /// Requests need this password from now on; any thread.
  /// @pre not empty where there was one: it protects addresses other than
  /// loopback
  void set_admin_password(const std::string& x);

  /// Drains and stops: intake first, then the actors, the store last.
  void stop();

  /// Metrics of this node; they live as long as the node.
  metrics_registry& metrics() noexcept;

private:
  struct impl;
  explicit node(std::unique_ptr<impl> x) noexcept;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::actors
