#pragma once

#include "actors/support/store_readers.hpp"
#include "actors/support/upstream_view.hpp"

#include <vector>

namespace weir::actors {

/// Leaves those lines of a listing of which a repo has to know: it is unknown
/// (with `discover`), or the line is news. A repo whose rows cannot be read
/// stays.
///
/// Runs on READER threads.
void drop_known_lines(std::vector<repo_listed>& lines,
                      const store_readers& store, const upstream_board& board,
                      bool discover);

} // namespace weir::actors
