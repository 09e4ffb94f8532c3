#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/context.hpp"

namespace weir::actors {

/// Asks IDENTITY for what a repo wants to know of itself, if anything.
/// @param from Hears the answers.
void ask_identity(const repo_effects& x, const atproto::did& repo,
                  const repo_actor& from, context& shared);

} // namespace weir::actors
