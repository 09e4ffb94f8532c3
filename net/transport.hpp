#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "net/event_loop.hpp"
#include "net/ip_address.hpp"
#include "net/limits.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace weir::net {

class io_threads;

/// Ends a read or write: gets the error and how many bytes were moved.
using io_handler = std::function<void(std::error_code, size_t)>;

/// A connected, ordered stream of bytes: TCP, TLS over TCP, or memory.
///
/// # Ownership and threads
/// Shared; lives on one loop and is used only there. At most one read and one
/// write are in flight; their memory must stay valid until the handler ran. The
/// handler never runs inside the call that started the operation. It always
/// runs (after `close` with an error), unless the loop stops first.
class stream {
public:
  virtual ~stream() = default;

  virtual event_loop& loop() noexcept = 0;

  /// The address that is really connected (getpeername).
  virtual const endpoint& remote() const noexcept = 0;

  /// Reads at least one byte. No error and 0 bytes: the peer ended the stream
  /// in good order (FIN; with TLS only after close_notify, otherwise an error).
  virtual void read_some(std::span<uint8_t> into, io_handler done) = 0;

  /// Writes some of `parts`, gathered in one call; at least one byte.
  /// @pre `parts` is not empty and has at most `gather_max` elements.
  virtual void write_some(std::span<const bytes_view> parts, io_handler done)
    = 0;

  /// Ends our direction: close_notify with TLS, then FIN. Reading goes on.
  virtual void shut_down() = 0;

  /// Cuts the connection. `reset` asks for RST instead of FIN.
  virtual void close(bool reset = false) noexcept = 0;

  static constexpr size_t gather_max = 64;
};

using stream_ptr = std::shared_ptr<stream>;
using stream_handler = std::function<void(result<stream_ptr>)>;
using accept_handler = std::function<void(stream_ptr)>;

/// An open port. Its destruction closes it; accepted streams stay open.
class listener {
public:
  virtual ~listener() = default;

  /// The address where it listens, with the real port instead of port 0.
  virtual const endpoint& local() const noexcept = 0;

  /// Stops accepting. From any thread.
  virtual void close() noexcept = 0;
};

/// The network seam: everything that reaches another machine goes through
/// here. `make_system_transport` makes the real one; the simulator and tests
/// have their own.
///
/// # Ownership and threads
/// Shared by clients and servers; all calls are safe from any thread. Handlers
/// run on the loop that is named in the call, exactly once unless it stops.
class transport {
public:
  virtual ~transport() = default;

  /// Returns the loop for a new connection; connections spread over all loops.
  virtual event_loop& next_loop() noexcept = 0;

  /// Connects to an address. Errors: `ec::unreachable`.
  virtual void dial(event_loop& loop, const endpoint& to,
                    std::chrono::microseconds timeout, stream_handler done)
    = 0;

  /// Opens a port; `accepted` runs on the loop of the new stream.
  /// Errors: `ec::unreachable` (in use, not permitted).
  virtual result<std::unique_ptr<listener>> listen(const endpoint& at,
                                                   accept_handler accepted)
    = 0;

  /// Addresses of a name, at most `limits::dns_answers_max`, within
  /// `limits::dns_timeout`. Errors: `ec::not_found` (no such name or no
  /// address), `ec::unreachable`, `ec::limit_reached` (too many in flight).
  virtual void
  resolve(event_loop& loop, std::string name,
          std::function<void(result<std::vector<ip_address>>)> done)
    = 0;

  /// TXT values of a name, the parts of each joined. Bounds and errors are
  /// those of `resolve`.
  virtual void
  resolve_txt(event_loop& loop, std::string name,
              std::function<void(result<std::vector<std::string>>)> done)
    = 0;
};

using transport_ptr = std::shared_ptr<transport>;

/// How the real network looks up names.
struct system_transport_options {
  /// DNS servers; empty: those that the machine uses.
  std::vector<endpoint> name_servers;
  std::chrono::microseconds dns_timeout = limits::dns_timeout;
};

/// Uses real sockets. `threads` must outlive it.
transport_ptr make_system_transport(io_threads& threads,
                                    const system_transport_options& options
                                    = {});

} // namespace weir::net
