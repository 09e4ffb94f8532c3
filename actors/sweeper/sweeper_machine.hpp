#pragma once

#include "base/clock.hpp"
#include "storage/format/erasure_row.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace weir::actors {

/// What one compaction is for.
struct sweeper_range {
  storage::content_span content; ///< Its first is 0: commits that have waited,
  atproto::did first;            ///< for these repos, in the order of keys.
  atproto::did last;
};

/// What SWEEPER is to do next: one of these, or to wait for its timer.
struct sweeper_effects {
  bool scan = false; ///< Read the erasings that are not over: `on_scanned`.
  std::optional<atproto::did> step; ///< Ask the JOURNAL: `on_stepped`.
  std::optional<sweeper_range> compact; ///< `on_compacted`, or `on_failed`.
  /// These erasings are over: the JOURNAL is to forget them.
  std::vector<storage::open_erasure> over;
  std::optional<steady_time> timer;
  bool trouble = false; ///< It failed, and did not before: to be said.
  bool well = false;    ///< It does not fail any more: to be said.
};

/// The order of erasing: first the rows of all repos, step by step, then a
/// compaction of where they were, so that their bytes leave the disk, and last
/// their erasure rows. Begins at the start and whenever something was erased.
///
/// # Limits
/// One step or compaction at a time. Beside other work of the JOURNAL there is
/// a pause after each step (`limits::sweep_pause`); compactions take a tenth of
/// the time at most (`limits::compaction_rest_factor`).
///
/// # Errors
/// What failed is tried again after `limits::sweep_retry_min`, then after twice
/// the time, up to `limits::sweep_retry_max`. So is a compaction that left
/// something because a reader holds it.
class sweeper_machine {
public:
  /// An erasing has begun, or may have: also once at the start.
  sweeper_effects on_erased();

  /// @param rows Those that have rows to erase first, `limits::sweep_repos_max`
  ///        of each kind at most.
  sweeper_effects on_scanned(std::vector<storage::open_erasure> rows,
                             steady_time now);

  /// @param more The repo needs another step.
  /// @param busy The JOURNAL has other work.
  sweeper_effects on_stepped(bool more, bool busy, steady_time now);

  sweeper_effects on_compacted(storage::compacted x, steady_time now);

  /// The scan or compaction failed.
  sweeper_effects on_failed(steady_time now);

  sweeper_effects on_timer(steady_time now);

private:
  enum class doing : uint8_t { nothing, scanning, stepping, pausing, resting,
                               compacting, failing };

  sweeper_effects scan();
  sweeper_effects step();
  sweeper_effects begin_compaction(steady_time now);
  sweeper_effects end_compaction(steady_time now);
  steady_time retry(steady_time now);
  static std::deque<sweeper_range>
  ranges_of(const std::vector<storage::open_erasure>& rows);

  doing doing_ = doing::nothing;
  bool again_ = false; ///< Something was erased since the last scan.
  std::deque<atproto::did> to_step_;
  std::vector<storage::open_erasure> to_compact_;
  std::deque<sweeper_range> ranges_; ///< Still to be compacted.
  bool left_ = false; ///< A part of this compaction is still on the disk.
  steady_time compacting_since_{};
  steady_time rest_until_{}; ///< No compaction before.
  std::chrono::microseconds wait_{0}; ///< Before the last retry; 0 = none.
  bool failed_ = false; ///< The last scan or compaction did.
};

} // namespace weir::actors
