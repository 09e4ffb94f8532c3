#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Values of the content table: the stored bytes of one transaction's records
/// (docs/storage-format.md 3.3).
namespace weir::storage {

/// One stored block of bytes. `erased` replaces the bytes by their length.
struct content_item {
  bool erased = false;
  uint32_t size = 0; ///< Of the original bytes.
  bytes_view body;   ///< Borrowed; empty when erased.
};

/// Builds the value of one content block from bodies that lie elsewhere, so
/// that each body is copied once, into the value.
///
/// # Ownership and threads
/// Borrows the bodies until `take`. One thread.
class content_block_writer {
public:
  /// @pre `count() < limits::transaction_ops_max`
  void add(bytes_view body);

  size_t count() const noexcept { return bodies_.size(); }

  size_t body_bytes() const noexcept { return body_bytes_; }

  /// The value, which ends with the bodies in the order in which they were
  /// added. The writer is empty afterwards.
  std::string take();

private:
  std::vector<bytes_view> bodies_;
  size_t body_bytes_ = 0;
};

/// Opens the value of a content block without copying bodies.
///
/// # Ownership and threads
/// Borrows the value. Each item's CRC32C is checked when it is read, so one
/// damaged item leaves the others readable.
class content_block_reader {
public:
  static result<content_block_reader> open(std::string_view value);

  size_t count() const noexcept { return slots_.size(); }

  /// `ec::not_found` past the end, `ec::storage_failure` on damage.
  result<content_item> at(size_t i) const;

  /// The value with the bodies of some items replaced by stubs.
  result<std::string> with_stubs(const std::vector<size_t>& erase) const;

private:
  struct slot {
    uint32_t size = 0;
    uint32_t sum = 0;
    bool erased = false;
    size_t offset = 0;
  };

  std::vector<slot> slots_;
  std::string_view bodies_;
};

} // namespace weir::storage
