#pragma once

#include "storage/verify/verify_context.hpp"

namespace weir::storage {

/// Checks that the contents of replaced versions are erased, and no others
/// (docs/storage-format.md 5.2).
class replaced_check {
public:
  explicit replaced_check(verify_context& x);

  /// The content of this operation is erased, but its account is not: a later
  /// version of the record must be current, or none.
  void check_erased(const log_block& block, op_id id,
                    const block_operation& op);

  /// `id` replaces the version that `before` wrote. When `id` is old, that
  /// content is erased, unless a row says that it is still needed; otherwise it
  /// is not.
  void check_before(op_id id, op_id before);

  /// Checks the rows about contents that are needed.
  /// @param end One more than the last operation of the log.
  void finish(op_id end);

private:
  void check_kept(const kept_content_key& key, std::string_view value);

  verify_context& x_;
  op_id through_ = 1; ///< Operations before this one are old.
};

} // namespace weir::storage
