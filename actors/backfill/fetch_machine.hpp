#pragma once

#include "actors/backfill/import_machine.hpp"
#include "actors/backfill/limits.hpp"
#include "atproto/limits.hpp"
#include "base/clock.hpp"
#include "messages/backfill.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

struct fetch_bounds {
  size_t spool_bytes_max = limits::spool_memory_bytes_max; ///< Held in memory.
  size_t index_entries_max = limits::walk_index_entries_max;
  size_t chunks_max = limits::job_chunks_max;
};

/// The rules of one fetch of one repo: what its host's answer means, how far
/// the work may run ahead of the REPO, and what the fetch shows about the host.
///
/// The body is fed to an `import_machine`. When that is complete, the import is
/// stepped here or on another thread, as long as `may_step` allows, and each
/// result goes to `on_step`. Chunks go to the REPO, which may have `chunks_max`
/// of them at once. While one more waits here, no step is made.
///
/// # Threads
/// One. While a step runs elsewhere, only `on_chunk_stored` may be called.
class fetch_machine {
public:
  struct ending {
    result<void> outcome{}; ///< Success: all of the difference was handed out.
    host_verdict host = host_verdict::fine;
    std::chrono::seconds retry_after{0};
    /// Set when the host states that the account is not active or not there.
    std::optional<storage::account_status> account;
    /// The rev of a root whose only fault is that it is ahead of our clock.
    atproto::tid ahead;
    /// What the node's health counts against the host. Empty: it counts for the
    /// host; nothing: the ending shows nothing about the host.
    std::optional<std::string> host_fault = "";
  };

  /// They are carried out in this order.
  struct effects {
    bool progress = false; ///< Report how far the download is.
    /// Body bytes that may be read in addition to those granted before.
    uint64_t grant = 0;
    std::optional<std::vector<storage::new_operation>> chunk{};
    /// Read a page of record heads after this path.
    std::optional<std::string> heads_after{};
    std::optional<ending> end{};
  };

  fetch_machine(std::shared_ptr<import_machine> import, fetch_bounds bounds,
                steady_time now);

  /// What the answer begins with. Only its status decides what it means: a CAR
  /// under another content type is read as well.
  effects on_head(fetch_head x) {
    head_ = std::move(x);
    return {.progress = true};
  }

  effects on_bytes(bytes_view piece, steady_time now);

  /// The answer ended; success: the body is complete.
  effects on_end(const result<void>& outcome, wall_time now);

  effects on_step(result<import_progress> x);

  /// A page of our record heads, which `heads_after` asked for.
  effects on_heads(heads_page page);

  /// The REPO has stored a chunk.
  effects on_chunk_stored();

  /// Whether the import is to be stepped now.
  bool may_step() const noexcept {
    return stepping_ && !awaits_heads_ && !waiting_chunk_ && !ended_;
  }

  uint64_t received() const noexcept { return received_; } ///< Body bytes.

  bool is_received() const noexcept { return is_received_; }

  /// An upper bound of the fetch's memory: bytes that were granted, bytes that
  /// were fed until they lie in a file, and chunks under way.
  uint64_t bytes_held() const noexcept;

private:
  effects give_up(error why, host_verdict host,
                  std::optional<storage::account_status> account = {});
  effects refused_by_host();
  error with_type(error why) const;
  void succeed(effects& out) {
    ended_ = true;
    out.end = ending{};
  }

  std::shared_ptr<import_machine> import_;
  fetch_bounds bounds_;
  fetch_head head_; ///< Status 0: none came.
  std::string error_body_;
  uint64_t received_ = 0;
  steady_time reported_;
  size_t chunks_out_ = 0;
  bool is_received_ = false;
  /// The body is complete, and not everything is handed out.
  bool stepping_ = false;
  bool awaits_heads_ = false;
  bool ended_ = false;
  std::optional<std::vector<storage::new_operation>> waiting_chunk_;
};

} // namespace weir::actors
