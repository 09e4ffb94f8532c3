#pragma once

#include "actors/repo/signed_news.hpp"
#include "actors/support/context.hpp"

#include <string>

namespace weir::actors {

/// Reports to the clock board and the health board.
/// @param signer Hash of the DID.
/// @param pds For news of a fetch: the host whose stream is accounted for it.
void tell_news(const signed_news& x, const atproto::did& repo, uint64_t signer,
               const std::string& pds, context& shared);

} // namespace weir::actors
