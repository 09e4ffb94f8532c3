#pragma once

#include "storage/format/log_entry.hpp"
#include "storage/log/limits.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace weir::storage {

/// The most recent transactions of one partition's log, shared by all readers
/// that are near its end.
///
/// # Ownership and threads
/// All calls are safe from any thread. Entries are immutable and are shared
/// with the readers.
///
/// # Limits
/// At most `bytes_max` bytes, by `log_entry::bytes_held`. The oldest entries
/// are dropped first.
class tail_cache {
public:
  /// @param next Id that the next appended operation will get.
  explicit tail_cache(op_id next,
                      size_t bytes_max = limits::tail_cache_bytes_max);

  /// Appends entries that follow each other in the log. When they do not follow
  /// the cached ones, the cache is emptied first, so that `since` never skips
  /// an id.
  void add(std::span<const log_entry_ptr> entries);

  /// Returns consecutive entries after `after` that end at or before `through`,
  /// which is the durable id. It stops before `ops_max` operations or
  /// `bytes_max` bytes are passed, but returns at least one entry. When `after`
  /// is inside of a transaction, the first entry begins at or before it.
  /// @returns nothing when `after` is no longer cached: read the log itself.
  std::optional<std::vector<log_entry_ptr>>
  since(op_id after, op_id through, size_t ops_max = limits::log_page_ops_max,
        size_t bytes_max = limits::log_page_bytes_max) const;

  /// Drops the entries before this operation: they were trimmed, and the store
  /// knows which of them are outdated.
  void forget_before(op_id id);

  /// Drops all entries. Readers then read the log.
  void clear();

  size_t bytes_held() const;

private:
  void forget(); ///< @pre `mutex_` is locked

  mutable std::mutex mutex_;
  std::deque<log_entry_ptr> entries_;
  op_id next_;
  size_t held_ = 0;
  size_t bytes_max_;
};

} // namespace weir::storage
