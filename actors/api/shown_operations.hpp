#pragma once

#include "actors/support/all_stores.hpp"
#include "storage/log/stored_operation.hpp"
#include "wire/operations_api.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// The word for content that is not shown while its account is away. The store
/// has it (docs/api.md, `GET /v1/ops`).
constexpr std::string_view hidden_content = "hidden";

/// Operations on their way into an answer. What an account that is away has
/// written is not shown; what the node says about the account is.
///
/// # Ownership and threads
/// Borrows the stores. One thread, for one answer.
class shown_operations {
public:
  explicit shown_operations(const all_stores& stores) : stores_(stores) {}

  /// @param id As in events.
  result<void> add(uint64_t id, storage::stored_operation x);

  /// Valid until the next `add`.
  std::vector<wire::operation_view> views() const;

private:
  struct shown {
    uint64_t id;
    storage::stored_operation operation;
    bool hidden;
  };

  result<bool> is_away(const atproto::did& repo);

  const all_stores& stores_;
  std::vector<shown> all_;
  std::unordered_map<atproto::did, bool> away_;
};

} // namespace weir::actors
