#pragma once

#include "atproto/identifiers.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/repo_row.hpp"

#include <cstddef>

namespace weir::tests {

/// Most repos that `crowd_rows` makes.
inline constexpr size_t crowd_rows_max = 90'000;

/// The `n`th of a crowd that only a store knows: nobody has a document of it.
/// In front of the repos that tests and simulated networks make.
/// @pre n < crowd_rows_max
atproto::did crowd_did(size_t n);

/// The rows of a store that has so many tracked repos, each with this row.
/// @param which The store they are for: others of the crowd are left out.
storage::write_batch crowd_rows(const storage::repo_row& row, size_t repos,
                                const storage::store_identity& which = {});

} // namespace weir::tests
