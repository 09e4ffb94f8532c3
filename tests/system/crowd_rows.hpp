#pragma once

#include "atproto/identifiers.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/repo_row.hpp"

#include <cstddef>

namespace weir::tests {

/// The largest number of repos that `crowd_rows` makes.
inline constexpr size_t crowd_rows_max = 90'000;

/// The `n`th DID of a crowd that only a store knows; no directory has its
/// document. It sorts before the DIDs that tests and simulated networks make.
/// @pre n < crowd_rows_max
atproto::did crowd_did(size_t n);

/// The rows of a store that tracks `repos` repos, each with this row.
/// @param which The store that they are for; the crowd's repos of other stores
/// are left out.
storage::write_batch crowd_rows(const storage::repo_row& row, size_t repos,
                                const storage::store_identity& which = {});

} // namespace weir::tests
