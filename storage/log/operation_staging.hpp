#pragma once

#include "storage/log/apply_request.hpp"

#include <concepts>
#include <memory>
#include <vector>

namespace weir::storage {

/// Collects the operations of one transaction while the callback of
/// `operation_store::apply` runs. Nothing that is staged is visible to anybody
/// before the callback has ended and all of it is written (OPLOG-21).
///
/// # Ownership and threads
/// A handle; copies stage for the same transaction. One thread.
///
/// # Limits
/// `limits::transaction_ops_max` operations, `limits::apply_bytes_max` bytes of
/// bodies.
///
/// # Errors
/// `ec::limit_reached` beyond a limit; `ec::invalid_argument` when the callback
/// has ended. After an error the whole transaction fails.
class operation_staging {
public:
  operation_staging() : staged_(std::make_shared<staged>()) {}

  /// Adds operations in their order (OPLOG-17).
  template <std::same_as<indexed_operation>... Operations>
  result<void> add_operations(Operations... each) {
    result<void> out;
    ((out = out ? add(std::move(each)) : out), ...);
    return out;
  }

  /// Ends the staging.
  /// @returns what was staged, or the first error
  result<std::vector<indexed_operation>> close();

private:
  struct staged {
    std::vector<indexed_operation> operations;
    size_t bytes = 0;
    bool closed = false;
    result<void> state;
  };

  result<void> add(indexed_operation x);

  std::shared_ptr<staged> staged_;
};

} // namespace weir::storage
