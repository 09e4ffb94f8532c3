#pragma once

#include "storage/format/repo_row.hpp"

#include <string_view>

namespace weir::actors {

/// The word of docs/api.md for the state of an account. Everything that the
/// node answers, counts or logs uses it; events and `/info/:did` use the words
/// that clients of the network know (`storage::to_string`).
inline std::string_view account_word(storage::account_status x) noexcept {
  return x == storage::account_status::inactive ? "inactive"
                                                : storage::to_string(x);
}

/// The state of an account that is not active, by the word of the network.
inline storage::account_status inactive_status(std::string_view word) noexcept {
  using enum storage::account_status;
  for (const auto known : {deactivated, suspended, takendown, deleted})
    if (word == storage::to_string(known))
      return known;
  return inactive;
}

} // namespace weir::actors
