#pragma once

#include "storage/format/records.hpp"

#include <string>
#include <string_view>

namespace weir::storage {

/// What consumers see as the handle of an account without a verified one.
inline constexpr std::string_view no_handle = "handle.invalid";

/// @param verified Empty when there is none.
inline std::string_view handle_or_none(std::string_view verified) noexcept {
  return verified.empty() ? no_handle : verified;
}

inline bool has_handle(const repo_row& x) noexcept {
  return !x.handle.empty() && x.handle != no_handle;
}

/// The content of every `$identity` and `$account` operation: what the row says
/// of the account at that moment, as JSON. The CID of the operation is the raw
/// CID of these bytes. Equal facts give equal bytes, so the last fact of a repo
/// can be compared with its row.
std::string fact_json(const repo_row& x);

/// Makes a row say of the account what a fact says.
/// @returns false, and changes nothing, unless `json` is what `fact_json`
/// writes of some row.
bool read_fact(std::string_view json, repo_row& row);

} // namespace weir::storage
