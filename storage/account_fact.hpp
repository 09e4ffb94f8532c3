#pragma once

#include "storage/records.hpp"

#include <string>

namespace weir::storage {

/// Content of every `$identity` and `$account` operation: what the row says of
/// the account at that moment, as JSON. The CID of the operation is that of
/// these bytes, raw. Rows that differ in nothing else give the same bytes, so
/// that the last fact of a repo can be compared with its row.
std::string fact_json(const repo_row& x);

} // namespace weir::storage
