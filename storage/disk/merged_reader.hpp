#pragma once

#include "storage/disk/database.hpp"

#include <span>
#include <vector>

namespace weir::storage {

/// Reads the rows that several stores have in a range, in the order of keys, as
/// if they stood in one. No key is in two of them. For the rest it is a
/// `row_reader`.
class merged_reader {
public:
  /// @pre there is a store; all outlive the reader
  merged_reader(std::span<const database* const> stores,
                const key_range& range) {
    rows_.reserve(stores.size());
    for (const auto* x : stores)
      rows_.push_back(x->scan(range));
    find_first();
  }

  bool valid() const noexcept { return rows_[at_].valid(); }
  std::string_view key() const noexcept { return rows_[at_].key(); }
  std::string_view value() const noexcept { return rows_[at_].value(); }

  void next() {
    rows_[at_].next();
    find_first();
  }

  /// The error of the first reader that has one.
  result<void> status() const {
    for (const auto& x : rows_)
      if (auto ok = x.status(); !ok)
        return ok;
    return {};
  }

private:
  void find_first() {
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].valid() && (!valid() || rows_[i].key() < key()))
        at_ = i;
  }

  std::vector<row_reader> rows_;
  size_t at_ = 0; ///< The reader with the first key, if there is a key.
};

} // namespace weir::storage
