#pragma once

#include "actors/support/all_stores.hpp"
#include "actors/support/upstream_view.hpp"

#include <vector>

namespace weir::actors {

/// Leaves those lines of a listing of which a repo has to know because the line
/// is news. A repo whose rows cannot be read stays. That an account is active is
/// news once a day where the directory has a tombstone for it.
///
/// Runs on READER threads.
/// @returns the lines of repos that are unknown
std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const all_stores& stores,
                                          const upstream_board& board,
                                          wall_time now);

} // namespace weir::actors
