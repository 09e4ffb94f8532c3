#pragma once

#include "simnet/corpus.hpp"
#include "simnet/request_faults.hpp"
#include "simnet/servers.hpp"

#include <memory>

namespace weir::simnet {

/// Serves a corpus: repositories straight from the mapped file, live events as
/// fast as they are taken or at a rate. No signing, no trees: load for
/// benchmarks.
///
/// The control address knows GET /stats, POST /traffic {"rate": N} and POST
/// /commits {"count": N}, as that of a living network; a corpus has no faults.
///
/// # Ownership and threads
/// As `network`.
class replay {
public:
  /// @param options `relay`, `legacy_documents`, `gzip`, `port` and the
  /// population's `epoch` count; the rest is the corpus's.
  static result<std::unique_ptr<replay>> open(const std::string& path,
                                              const network_options& options);

  ~replay();

  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;

  /// Serves over real sockets. Once only.
  result<network_urls> start(size_t io_threads = 1);

  void stop();

  /// Events per second, open loop; 0 rests. Only after `start`.
  void set_rate(double events_per_second);

  /// Everything that is left is there at once, and streams take it as fast as
  /// their clients do.
  void play_all();

  corpus& truth() noexcept;
  request_faults& requests() noexcept;

private:
  struct impl;
  explicit replay(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace weir::simnet
