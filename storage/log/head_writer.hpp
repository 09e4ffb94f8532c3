#pragma once

#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"

#include <string>
#include <unordered_map>

namespace weir::storage {

class database;
class write_batch;

/// Turns logged operations into rows of current state: record heads and
/// content references; counts records in the chain.
///
/// # Reads
/// None for a create: its chain proves that there is no head. One for an
/// update or delete, whose previous head gives up its content reference. A
/// repo that was erased once is looked up for creates as well, since heads
/// that wait to be erased may hold references.
///
/// # Ownership and threads
/// Borrows all it is made with. One thread.
class head_writer {
public:
  head_writer(const database& db, const collection_names& names,
              uint16_t partition, size_t inline_refs_min)
    : db_(db), names_(names), partition_(partition),
      inline_refs_min_(inline_refs_min) {
    // nop
  }

  /// Begins an update. With several transactions, the heads of the earlier
  /// ones are remembered: they cannot be read yet.
  void begin(bool several) {
    several_ = several;
    unwritten_.clear();
  }

  /// Writes the heads of `entry`, which was just appended.
  result<void> apply(const log_entry& entry, chain_row& chain,
                     write_batch& out);

private:
  using found_head = std::optional<record_head>;

  result<void> apply_one(const log_entry& entry, size_t i, chain_row& chain,
                         write_batch& out);
  result<found_head> find(const std::string& key) const;
  void refer(const record_head& head, write_batch& out) const;
  void release(const record_head& head, write_batch& out) const;

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
  size_t inline_refs_min_;
  bool several_ = false;
  std::unordered_map<std::string, found_head> unwritten_;
};

} // namespace weir::storage
