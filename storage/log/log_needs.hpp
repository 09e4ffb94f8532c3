#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/keys.hpp"
#include "storage/format/values.hpp"

#include <vector>

/// What consumers still need of a log.
namespace weir::storage {

/// The durable positions, acks and dead letters of all consumers of one
/// partition's log, as they are when this is made. An event that a consumer
/// gets a second time counts as acked only when its row says so: it is a dead
/// letter until then.
///
/// # Ownership and threads
/// Borrows the database. One thread.
class log_needs {
public:
  /// @param used Whether a consumer was ever sent an event. If not, it can
  /// begin with any state, so nothing is needed.
  static result<log_needs> load(const database& db, uint16_t partition,
                                bool used);

  /// Whether a consumer has not acked the event, or has it as a dead letter,
  /// which may be ordered again.
  result<bool> needs(op_id id) const;

  /// Whether one of the block's operations is needed. Facts of an account count
  /// as needed while an event before them is: they say in which state the
  /// account was then.
  result<bool> needs_any(op_id first, const log_block& block) const;

private:
  struct consumer {
    consumer_key key;
    op_id position = 0; ///< Everything up to it is acked.
    bool has_letters = false;
  };

  log_needs(const database& db, uint16_t partition, bool used)
    : db_(db), partition_(partition), used_(used) {}

  result<bool> needs(const consumer& x, op_id id) const;
  result<bool> has_acked(const consumer& x, op_id id) const;

  const database& db_;
  uint16_t partition_;
  bool used_;
  std::vector<consumer> consumers_;
};

} // namespace weir::storage
