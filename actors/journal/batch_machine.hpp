#pragma once

#include "actors/journal/limits.hpp"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace weir::actors {

/// Limits of one batch: updates, content bytes of live work and of backfill.
struct batch_bounds {
  size_t count_max = limits::journal_updates_max;
  size_t bytes_max = limits::journal_bytes_max;
  size_t backfill_bytes_max = limits::journal_backfill_bytes_max;
};

/// Chooses the JOURNAL's next batch: live work first, then backfill up to its
/// share, and no backfill while the store has to merge. The order within both
/// is kept. A repo never has work in both: it has one update in flight.
template <class Work>
class batch_machine {
public:
  explicit batch_machine(batch_bounds x = {}) : bounds_(x) {}

  void add(Work x, size_t bytes, bool backfill) {
    (backfill ? backfill_ : live_).push_back({std::move(x), bytes});
  }

  /// Whether backfill must not be written now.
  static bool rests(int level0_files) noexcept {
    return level0_files >= limits::level0_files_pause;
  }

  /// The next batch; empty when nothing may be written now.
  std::vector<Work> take(bool backfill_paused) {
    std::vector<Work> out;
    size_t used = 0;
    move_from(live_, bounds_.bytes_max, used, out);
    if (!backfill_paused) {
      size_t share = 0;
      move_from(backfill_, bounds_.backfill_bytes_max, share, out);
    }
    return out;
  }

  bool has_live() const noexcept { return !live_.empty(); }

  bool has_backfill() const noexcept { return !backfill_.empty(); }

private:
  struct item {
    Work work;
    size_t bytes = 0;
  };

  /// Moves at least one item if there is any, so that a large one passes, too.
  void move_from(std::deque<item>& from, size_t bytes_max, size_t& used,
                 std::vector<Work>& out) {
    size_t taken = 0;
    while (!from.empty() && out.size() < bounds_.count_max) {
      if (taken > 0 && used + from.front().bytes > bytes_max)
        return;
      used += from.front().bytes;
      out.push_back(std::move(from.front().work));
      from.pop_front();
      ++taken;
    }
  }

  batch_bounds bounds_;
  std::deque<item> live_;
  std::deque<item> backfill_;
};

} // namespace weir::actors
