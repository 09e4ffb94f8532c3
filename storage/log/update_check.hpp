#pragma once

#include "storage/format/update.hpp"

#include <string>
#include <vector>

namespace weir::storage {

/// Adds a stream at its start for every scope of `in` that `chain` lacks.
/// @returns the collections among them.
std::vector<std::string> add_streams(const repo_update& in, chain_row& chain);

/// Why `in` can never be written, for people; empty when it can.
/// @param chain The chain it goes on, with its new streams.
std::string refusal_of(const repo_update& in, const chain_row& chain);

} // namespace weir::storage
