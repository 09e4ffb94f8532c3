#pragma once

#include "storage/collection_table.hpp"
#include "storage/update.hpp"

#include <string>

namespace weir::storage {

/// Adds a stream at its start for every scope of `in` that `chain` lacks.
void add_streams(const repo_update& in, chain_row& chain);

/// True for a collection that is new to the store. Streams with a history have
/// their ids.
bool lacks_id(const stream_head& x, const collection_table& names);

/// Why `in` can never be written, for people; empty when it can.
/// @param chain The chain it goes on, with its new streams.
std::string refusal_of(const repo_update& in, const chain_row& chain,
                       const collection_table& names);

} // namespace weir::storage
