#pragma once

#include "actors/support/context.hpp"
#include "actors/upstream/upstream_machine.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace weir::actors {

/// The socket of one stream, as far as an UPSTREAM needs it. Any thread.
class stream_socket {
public:
  virtual ~stream_socket() = default;

  virtual void grant(size_t frames, size_t bytes) = 0;

  /// Whether it has credit for frames and for bytes.
  virtual bool is_read() const = 0;

  /// Ends the connection; `stream_closed` still comes.
  virtual void close() = 0;
};

/// Dials `origin` at `cursor` and reports to `to` with the number of this
/// connection. The real one is `make_stream_dialer`; tests pass a fake.
using stream_dialer = std::function<std::shared_ptr<stream_socket>(
  const std::string& origin, std::optional<uint64_t> cursor,
  uint64_t connection, upstream_actor to)>;

/// Spawns the UPSTREAM of one stream.
///
/// Lifetime: from NODE, which restarts it from its stored row.
upstream_actor spawn_upstream(caf::actor_system& system, context_ptr shared,
                              storage::upstream_row row,
                              upstream_options options, stream_dialer dial);

} // namespace weir::actors
