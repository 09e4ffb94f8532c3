#pragma once

#include "storage/format/repo_row.hpp"

#include <string_view>

/// The words of docs/api.md for states of repos and accounts. Everything that
/// the node answers, counts or logs uses these; events and `/info/:did` use the
/// words that clients of the network know (`storage::to_string`).
namespace weir::actors {

std::string_view account_word(storage::account_status x) noexcept;

} // namespace weir::actors
