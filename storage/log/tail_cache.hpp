#pragma once

#include "storage/format/limits.hpp"
#include "storage/format/log_entry.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace weir::storage {

/// The most recent transactions of one partition's log, shared by everybody
/// who reads near its end.
///
/// # Ownership and threads
/// Any thread may call any function. Entries are immutable and live as long as
/// somebody holds them.
///
/// # Limits
/// Holds at most `bytes_max` (by `log_entry::bytes_held`); the oldest leave
/// first.
class tail_cache {
public:
  /// @param next Id that the next appended operation will get.
  explicit tail_cache(op_id next,
                      size_t bytes_max = limits::tail_cache_bytes_max);

  /// Appends entries that follow each other in the log. A hole before them
  /// empties the cache, so that `since` never skips an id.
  void add(std::span<const log_entry_ptr> entries);

  /// Consecutive entries after `after` that end at or before `through` (the
  /// durable id); stops before `ops_max` operations or `bytes_max` bytes are
  /// passed, but gives at least one. When `after` lies inside a transaction,
  /// the first entry begins at or before it.
  /// @returns nothing when `after` is too old: read the log itself.
  std::optional<std::vector<log_entry_ptr>>
  since(op_id after, op_id through, size_t ops_max = limits::log_page_ops_max,
        size_t bytes_max = limits::log_page_bytes_max) const;

  /// Forgets all entries; who reads them next reads the log.
  void clear();

  size_t bytes_held() const;

private:
  void forget(); ///< @pre `mutex_` is held.

  mutable std::mutex mutex_;
  std::deque<log_entry_ptr> entries_;
  op_id next_;
  size_t held_ = 0;
  size_t bytes_max_;
};

} // namespace weir::storage
