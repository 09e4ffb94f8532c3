#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/context.hpp"

namespace weir::actors {

/// Sends to IDENTITY the look-up that the effects of a repo ask for, if any.
/// @param from Receives the answers.
void ask_identity(const repo_effects& x, const atproto::did& repo,
                  const repo_actor& from, context& shared);

} // namespace weir::actors
