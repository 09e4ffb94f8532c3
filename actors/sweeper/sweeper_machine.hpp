#pragma once

#include "base/clock.hpp"
#include "storage/format/erasure_row.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace weir::actors {

/// The range of one compaction.
struct sweeper_range {
  /// When its `first` is 0, the range is that of the commits that waited for
  /// the repos from `first` to `last` below, in the order of keys.
  storage::content_span content;
  atproto::did first;
  atproto::did last;
};

/// What SWEEPER has to do next: one of these, or wait for its timer.
struct sweeper_effects {
  bool scan = false; ///< Read the open erasings; answer with `on_scanned`.
  /// Ask the JOURNAL; answer with `on_stepped`.
  std::optional<atproto::did> step;
  /// Answer with `on_compacted`, or `on_failed`.
  std::optional<sweeper_range> compact;
  /// These erasings are over: the JOURNAL has to forget them.
  std::vector<storage::open_erasure> over;
  std::optional<steady_time> timer;
  bool trouble = false; ///< It failed and did not before, which is reported.
  bool well = false;    ///< It works again, which is reported.
};

/// The order of erasing: first the rows of all repos, step by step; then a
/// compaction of the ranges where they were, so that their bytes leave the
/// disk; and last their erasure rows. It begins at the start of the node and
/// whenever something was erased.
///
/// # Limits
/// One step or compaction at a time. Beside other work of the JOURNAL there is
/// a pause after each step (`limits::sweep_pause`); compactions take a tenth of
/// the time at most (`limits::compaction_rest_factor`).
///
/// # Errors
/// A failed operation is retried after `limits::sweep_retry_min`, and then
/// after twice the last wait, up to `limits::sweep_retry_max`. So is a
/// compaction that left something because a reader still uses it.
class sweeper_machine {
public:
  /// An erasing has begun, or may have. Also call this once at the start.
  sweeper_effects on_erased();

  /// @param rows Open erasings. Those with rows to erase come first; at most
  ///        `limits::sweep_repos_max` of each kind.
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
  steady_time rest_until_{}; ///< No compaction begins before this time.
  /// The wait before the last retry; 0: none.
  std::chrono::microseconds wait_{0};
  bool failed_ = false; ///< The last scan or compaction failed.
};

} // namespace weir::actors
