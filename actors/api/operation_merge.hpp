#pragma once

#include "storage/log/stored_operation.hpp"
#include "wire/event_numbers.hpp"

#include <deque>
#include <functional>
#include <vector>

namespace weir::actors {

/// Gives the operations of several partitions as if in one log: in the order of
/// their ids, as applications see them, as far as each partition has them. An
/// operation that a partition writes later may have an id below those that were
/// given; it comes then, since each partition has a place of its own.
///
/// # Ownership and threads
/// One thread, for one page.
///
/// # Limits
/// Those of `bounds`. An operation is read at most once, apart from some that
/// are left when the page ends.
class operation_merge {
public:
  struct bounds {
    size_t ops_max = 0;
    /// Bytes of bodies; but one operation is always given.
    size_t bytes_max = 0;
    /// Operations of all partitions that are looked at.
    size_t looked_max = 0;
  };

  /// Reads the operations of a partition after `after` within these bounds, of
  /// which `ops_max`, `bytes_max` and `looked_max` are set.
  using read_page = std::function<result<storage::operation_page>(
    uint16_t partition, storage::op_id after,
    const storage::read_bounds& within)>;

  struct merged {
    uint64_t id = 0; ///< As in events.
    storage::stored_operation operation;
  };

  operation_merge(const bounds& x, read_page read)
    : bounds_(x), read_(std::move(read)) {}

  /// Adds the next partition.
  /// @param numbers Must outlive this.
  /// @param after Its place.
  /// @param more Whether it has operations after that.
  void add(const wire::event_numbers& numbers, storage::op_id after, bool more);

  /// The next operation; nothing when the page has ended.
  result<std::optional<merged>> next();

  /// For each partition, the last operation before the next page.
  std::vector<uint64_t> places() const;

  /// There are operations after the page to look at.
  bool more() const noexcept;

private:
  struct lane {
    const wire::event_numbers* numbers;
    storage::op_id through;
    bool more;
    std::deque<storage::stored_operation> waiting;
  };

  result<bool> fill(uint16_t partition);
  result<std::optional<uint16_t>> first_lane();

  bounds bounds_;
  read_page read_;
  std::vector<lane> lanes_;
  size_t given_ = 0;
  size_t bytes_ = 0;
  size_t looked_ = 0;
};

} // namespace weir::actors
