#pragma once

#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"

#include <string>
#include <unordered_map>
#include <vector>

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

  /// Begins an update: `find` and `apply` follow for each transaction. When it
  /// has several, the heads of the earlier ones are kept in memory, because
  /// they are not written yet and cannot be read.
  void begin(bool several) {
    several_ = several;
    unwritten_.clear();
  }

  /// The head of a record before one operation; nothing when there is none.
  struct old_head {
    std::string key; ///< Of its row; empty for a `$` scope.
    std::optional<record_head> head;

    /// The operation that wrote the version which is replaced; 0 for none. A
    /// version that was erased is none.
    op_id replaced(op_id erased_through) const noexcept {
      return head && head->op > erased_through ? head->op : 0;
    }
  };

  /// The heads before the operations of a transaction, one for each.
  /// @pre it changes each record once, as a commit does
  result<std::vector<old_head>> find(const atproto::did& repo,
                                     const transaction& tx,
                                     const chain_row& chain) const;

  /// Writes the heads for `entry`, which was just appended.
  /// @param before What `find` returned for its transaction.
  void apply(const log_entry& entry, std::vector<old_head> before,
             chain_row& chain, write_batch& out);

private:
  using found_head = std::optional<record_head>;

  void apply_one(const log_entry& entry, size_t i, old_head before,
                 chain_row& chain, write_batch& out);
  result<found_head> load(const std::string& key) const;
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
