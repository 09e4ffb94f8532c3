#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/content_block.hpp"

namespace weir::storage {

/// Reads bodies by their content number. Damage gives `ec::storage_failure`,
/// never a wrong body.
///
/// # Ownership and threads
/// Borrows the database. One thread. It keeps the last block in memory, so
/// reading numbers in growing order costs one read for each block.
class content_reader {
public:
  content_reader(const database& db, uint16_t partition)
    : db_(db), partition_(partition) {}

  /// The body is empty for number 0 and when it was erased.
  result<shared_bytes> read_one(uint64_t number);

private:
  result<void> load(uint64_t number);
  bool holds(uint64_t number) const noexcept {
    return number >= first_ && number - first_ < block_.count();
  }

  const database& db_;
  uint16_t partition_;
  uint64_t first_ = 0;
  std::string value_;
  content_block_reader block_; ///< Borrows `value_`.
};

} // namespace weir::storage
