#pragma once

#include "simnet/corpus.hpp"
#include "simnet/request_faults.hpp"
#include "simnet/servers.hpp"

#include <memory>

namespace weir::simnet {

/// Serves a corpus: repositories directly from the mapped file, and live events
/// at a rate or as fast as clients take them. It signs nothing and builds no
/// trees, so it can produce load for benchmarks.
///
/// The control address accepts GET /stats, POST /traffic {"rate": N} and POST
/// /commits {"count": N}, like that of a `network`. A corpus has no faults.
///
/// # Ownership and threads
/// As for `network`.
class replay {
public:
  /// @param options Only `relay`, `legacy_documents`, `gzip`, `port` and the
  /// population's `epoch` are used; the corpus defines the rest.
  static result<std::unique_ptr<replay>> open(const std::string& path,
                                              const network_options& options);

  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;

  /// Serves over real sockets. Call it only once.
  result<network_urls> start(size_t io_threads = 1) {
    return servers_.start(io_threads);
  }

  void stop() { servers_.stop(); }

  /// Sets the events per second, open loop; 0 pauses. Call it only after
  /// `start`.
  void set_rate(double per_second) { servers_.set_rate(per_second); }

  /// Plays all remaining events at once. Streams then run as fast as their
  /// clients read.
  void play_all() { corpus_->play(corpus_->events()); }

  corpus& truth() noexcept { return *corpus_; }

private:
  replay(std::unique_ptr<corpus> source, const network_options& options);

  const std::unique_ptr<corpus> corpus_;
  request_faults requests_;
  servers servers_;
};

} // namespace weir::simnet
