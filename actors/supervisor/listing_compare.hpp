#pragma once

#include "actors/support/all_stores.hpp"
#include "actors/support/upstream_view.hpp"

#include <vector>

namespace weir::actors {

/// Keeps only those lines of a listing that are news for their repos. A line
/// whose repo's rows cannot be read is kept. For an account with a tombstone in
/// the directory, a line that calls it active is news once a day.
///
/// Runs on READER threads.
/// @returns the lines of unknown repos
std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const all_stores& stores,
                                          const upstream_board& board,
                                          wall_time now);

} // namespace weir::actors
