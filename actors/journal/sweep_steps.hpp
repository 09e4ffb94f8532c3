#pragma once

#include "actors/journal/watched_disk.hpp"
#include "actors/support/partition_context.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"
#include "storage/log/committer.hpp"
#include "storage/log/tail_cache.hpp"

#include <utility>

namespace weir::actors {

/// What the JOURNAL does to its store for SWEEPER: one bounded step at a time,
/// each of which may be undone by a power failure and is then done again.
///
/// # Ownership and threads
/// Borrows what its constructor takes. The JOURNAL's thread.
///
/// # Errors
/// Of the writer only. When a step that makes the log smaller could not read
/// the store, nothing was done, a line says why, and its answer says so.
class sweep_steps {
public:
  sweep_steps(storage::committer& writer, storage::tail_cache& tail,
              partition_context& home, watched_disk& disk) noexcept
    : writer_(writer), tail_(tail), home_(home), disk_(disk) {}

  /// @param busy Updates are waiting.
  result<erase_stepped> erase(const erase_step& x, bool busy) {
    pass(crash_point::sweep_step);
    const auto more = disk_.run([&] { return writer_.erase_step(x.repo); });
    if (!more)
      return more.error();
    pass(crash_point::sweep_written);
    return erase_stepped{*more, busy};
  }

  /// @returns true when nothing is known of the repo any more.
  result<bool> end_erasing(const erase_over& x) {
    return disk_.run([&] { return writer_.end_erasure(x.repo, x.through); });
  }

  /// What the consumer needs is asked here, because SWEEPER looked earlier.
  result<log_trimmed> trim(const trim_log& x) {
    const auto done
      = smaller([&] { return writer_.trim(x.firsts, home_.outbox.uses_log); });
    if (writer_.failed())
      return done.error();
    if (done && done->blocks > 0) {
      tail_.forget_before(done->whole_from);
      home_.stats.whole_from = done->whole_from;
    }
    return log_trimmed{done ? done->operations : 0};
  }

  result<replaced_erased> erase(const erase_replaced& x) {
    const auto done = smaller([&] {
      return writer_.erase_replaced(x.until, home_.outbox.uses_log);
    });
    if (writer_.failed())
      return done.error();
    return done ? replaced_erased{done->erased, done->more}
                : replaced_erased{0, false, true};
  }

  result<void> end_purge() {
    return disk_.run([&] { return writer_.end_purge(); });
  }

private:
  template <class Step>
  auto smaller(Step step) -> decltype(step()) {
    pass(crash_point::sweep_step);
    auto out = disk_.run(step);
    if (!out)
      log::warn("trimming_failed", {{"reason", to_string(out.error())}});
    pass(crash_point::sweep_written);
    return out;
  }

  storage::committer& writer_;
  storage::tail_cache& tail_;
  partition_context& home_;
  watched_disk& disk_;
};

} // namespace weir::actors
