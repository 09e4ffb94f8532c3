#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace leveldb {
class WriteBatch;
} // namespace leveldb

namespace weir::storage {

/// Changes that are written together or not at all.
class write_batch {
public:
  write_batch();
  ~write_batch();
  write_batch(write_batch&&) noexcept;
  write_batch& operator=(write_batch&&) noexcept;

  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  void clear();

  /// Gives every change, in order, to `take`: its key, and its value or null
  /// when the row is erased.
  void for_each(
    const std::function<void(std::string_view key,
                             const std::string_view* value)>& take) const;

  size_t rows() const noexcept { return rows_; }

  /// Bytes of all keys and values.
  size_t bytes() const noexcept { return bytes_; }

  bool empty() const noexcept { return rows() == 0; }

private:
  friend class database;

  std::unique_ptr<leveldb::WriteBatch> rep_;
  size_t rows_ = 0;
  size_t bytes_ = 0;
};

} // namespace weir::storage
