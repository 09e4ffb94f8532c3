#pragma once

#include "base/clock.hpp"
#include "base/limits_sweeper.hpp"
#include "storage/erasure_row.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace weir::actors {

/// What SWEEPER is to do next: one of these, or to wait for its timer.
struct sweeper_effects {
  bool scan = false; ///< Read the erasings that are not over: `on_scanned`.
  std::optional<atproto::did> step; ///< Ask the JOURNAL: `on_stepped`.
  /// Compact content, and where commits have waited: `on_compacted`.
  bool compact = false;
  storage::op_id first = 0; ///< 0: no content.
  storage::op_id last = 0;
  /// These erasings are over: the JOURNAL is to forget them.
  std::vector<storage::open_erasure> over;
  std::optional<steady_time> timer;
};

/// The order of erasing: first the rows of all repos, step by step, then a
/// compaction of where they were, so that their bytes leave the disk, and last
/// their erasure rows. Begins at the start and whenever something was erased.
///
/// # Limits
/// One step or compaction at a time. Beside other work of the JOURNAL there is
/// a pause after each step (`limits::sweep_pause`); compactions take a tenth of
/// the time at most (`limits::compaction_rest_factor`).
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

  /// @param next Content from here on was not compacted; 0 = all was.
  sweeper_effects on_compacted(storage::op_id next, steady_time now);

  sweeper_effects on_timer(steady_time now);

private:
  enum class doing : uint8_t { nothing, scanning, stepping, pausing, resting,
                               compacting };

  struct range {
    storage::op_id first = 0;
    storage::op_id last = 0;
  };

  sweeper_effects scan();
  sweeper_effects step();
  sweeper_effects begin_compaction(steady_time now);
  static std::deque<range> ranges_of(std::vector<storage::open_erasure>& rows);

  doing doing_ = doing::nothing;
  bool again_ = false; ///< Something was erased since the last scan.
  std::deque<atproto::did> to_step_;
  std::vector<storage::open_erasure> to_compact_;
  std::deque<range> ranges_; ///< Of content, still to be compacted.
  steady_time compacting_since_{};
  steady_time rest_until_{};
};

} // namespace weir::actors
