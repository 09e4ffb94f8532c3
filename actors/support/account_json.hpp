#pragma once

#include "storage/format/records.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string_view>

/// Reads what hosts report about accounts in XRPC answers.
namespace weir::actors {

/// Reads `active` and `status`, as in a line of listRepos or in getRepoStatus.
storage::account_status read_account_status(const boost::json::object& x);

/// What the error of a getRepo or getRepoStatus means for the account.
std::optional<storage::account_status>
account_of_error(std::string_view name) noexcept;
/// A member that is a text; otherwise empty.
std::string_view text_of(const boost::json::object& from, std::string_view key);

/// An answer that is one JSON object.
std::optional<boost::json::object> parse_object(std::string_view body);

} // namespace weir::actors
