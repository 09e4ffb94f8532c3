#pragma once

#include "actors/repo/repo_machine.hpp"
#include "actors/support/context.hpp"

namespace weir::actors {

/// Claims the room for the commits of a repo that wait for a document. They are
/// the first that a node in want of memory or disk does without: a fetch brings
/// them, too.
/// @returns false when they have to go.
bool keep_doubts(const repo_machine& of, doubt_claim& claim,
                 const context& shared);

} // namespace weir::actors
