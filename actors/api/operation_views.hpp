#pragma once

#include "storage/log/stored_operation.hpp"
#include "wire/operations_api.hpp"

namespace weir::actors {

/// An operation as answers show it. Borrows `x`.
/// @param id The number to show.
wire::operation_view view_of(uint64_t id, const storage::stored_operation& x);

/// Whether the operation is what the node says of an account.
bool is_fact(const storage::stored_operation& x) noexcept;

} // namespace weir::actors
