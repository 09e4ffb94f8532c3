#pragma once

#include "storage/format/update.hpp"

#include <string>
#include <vector>

namespace weir::storage {

/// Adds a new stream for every scope of `in` that `chain` does not have.
/// @returns the collections among them.
std::vector<std::string> add_streams(const repo_update& in, chain_row& chain);

/// Says in words why `in` can never be written; empty when it can.
/// @param chain The chain that `in` extends, with its new streams.
std::string refusal_of(const repo_update& in, const chain_row& chain);

/// Says in words why no store can have this operation; empty when one can.
std::string refusal_of_op(const new_operation& op);

} // namespace weir::storage
