#pragma once

#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"

#include <string>
#include <unordered_map>

namespace weir::storage {

class database;
class write_batch;

/// Turns operations of the log into rows of the current state: record heads and
/// content references. Also counts the records in the chain.
///
/// # Reads
/// A create needs no read, since the chain proves that there is no head. An
/// update or delete reads the previous head, whose content reference it
/// removes. In a repo that was erased once, a create reads as well: a head that
/// is still to be erased may have a reference.
///
/// # Ownership and threads
/// Borrows what its constructor takes. One thread.
class head_writer {
public:
  head_writer(const database& db, const collection_names& names,
              uint16_t partition, size_t inline_refs_min)
    : db_(db), names_(names), partition_(partition),
      inline_refs_min_(inline_refs_min) {}

  /// Begins an update. When it has several transactions, the heads of the
  /// earlier ones are kept in memory, because they are not written yet and
  /// cannot be read.
  void begin(bool several) {
    several_ = several;
    unwritten_.clear();
  }

  /// Writes the heads for `entry`, which was just appended.
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
