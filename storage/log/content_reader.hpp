#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/content_block.hpp"

#include <span>

namespace weir::storage {

/// Reads stored bytes by content number. Damage is `ec::storage_failure`,
/// never a wrong body.
///
/// # Ownership and threads
/// Borrows the database. One thread; the block read last is kept, so that
/// numbers in growing order cost one read a block.
class content_reader {
public:
  content_reader(const database& db, uint16_t partition)
    : db_(db), partition_(partition) {
    // nop
  }

  /// Bodies in the order of `numbers`; empty where nothing is held (number 0,
  /// erased). The caller bounds how many.
  result<std::vector<shared_bytes>> read(std::span<const uint64_t> numbers);

  result<shared_bytes> read_one(uint64_t number);

private:
  result<void> load(uint64_t number);
  bool holds(uint64_t number) const noexcept;

  const database& db_;
  uint16_t partition_;
  uint64_t first_ = 0;
  std::string value_;
  content_block_reader block_; ///< Borrows `value_`.
};

} // namespace weir::storage
