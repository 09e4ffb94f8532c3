#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/context.hpp"

#include <string>

/// What a REPO sends to the parts of its node that all repos share.
namespace weir::actors {

/// Sends to IDENTITY the look-up that the effects of a repo ask for, if any.
/// @param from Receives the answers.
void ask_identity(const repo_effects& x, const atproto::did& repo,
                  const repo_actor& from, context& shared);

/// Reports to the clock board and the health board.
/// @param signer Hash of the DID.
/// @param pds For news of a fetch: the host whose stream is accounted for it.
void tell_news(const signed_news& x, const atproto::did& repo, uint64_t signer,
               const std::string& pds, context& shared);

} // namespace weir::actors
