#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Values of the content table: the bodies of one transaction
/// (docs/storage-format.md 3.3).
namespace weir::storage {

/// One body. When it is erased, only its size is left.
struct content_item {
  bool erased = false;
  uint32_t size = 0; ///< Size of the original body, in bytes.
  bytes_view body;   ///< Borrowed; empty when erased.
};

/// Builds the value of one content block, body by body.
class content_block_writer {
public:
  /// @pre `count() < limits::transaction_ops_max`
  void add(bytes_view body);

  /// Adds the place of a body that was erased.
  /// @pre the same
  void add_erased(uint32_t size);

  size_t count() const noexcept { return items_.size(); }

  size_t body_bytes() const noexcept { return body_bytes_; }

  /// Returns the value, which ends with the bodies in the order in which they
  /// were added. The writer is empty afterwards.
  std::string take();

private:
  std::vector<content_item> items_;
  size_t body_bytes_ = 0;
};

/// Reads the value of a content block without copying bodies.
///
/// # Ownership and threads
/// Borrows the value. The CRC32C of an item is checked when it is read, so a
/// damaged item does not affect the others.
class content_block_reader {
public:
  static result<content_block_reader> open(std::string_view value);

  size_t count() const noexcept { return slots_.size(); }

  /// `ec::not_found` beyond the last item, `ec::storage_failure` on damage.
  result<content_item> at(size_t i) const;

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
