#pragma once

#include "actors/repo/repo_machine.hpp"
#include "actors/support/context.hpp"

namespace weir::actors {

/// Claims room for the commits of a repo that wait for a document. When a node
/// runs short of memory or disk, it drops these commits first, because a fetch
/// brings them, too.
/// @returns false when the commits must be dropped.
bool keep_doubts(const repo_machine& of, doubt_claim& claim,
                 const context& shared);

} // namespace weir::actors
