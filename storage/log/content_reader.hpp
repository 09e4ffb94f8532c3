#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/content_block.hpp"

#include <optional>
#include <string>

namespace weir::storage {

/// What is stored under a content number.
struct stored_content {
  /// The version of the record was replaced or deleted, and its bytes erased.
  bool erased = false;
  shared_bytes body; ///< Empty when it is erased, and when nothing is stored.
};

/// A row of the content table.
struct content_row {
  uint64_t first = 0; ///< Content number of its first item.
  std::string value;
};

/// The row that may have this content: the last one that does not begin behind
/// it. Nothing when there is none.
result<std::optional<content_row>>
find_content_row(const database& db, uint16_t partition, uint64_t number);

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

  result<stored_content> read(uint64_t number);

  /// Only the body.
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
