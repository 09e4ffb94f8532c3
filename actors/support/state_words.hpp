#pragma once

#include "storage/format/repo_row.hpp"

#include <string_view>

/// The words of docs/api.md for states of repos and of accounts. Whatever the node
/// answers, counts or logs has them from here; events and `/info/:did` have the
/// words that clients of the network know (`storage::to_string`).
namespace weir::actors {

std::string_view account_word(storage::account_status x) noexcept;

} // namespace weir::actors
