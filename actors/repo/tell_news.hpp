#pragma once

#include "actors/repo/signed_news.hpp"
#include "actors/support/context.hpp"

#include <string>

namespace weir::actors {

/// Tells the boards of clock and health.
/// @param signer Hash of the DID.
/// @param pds A fetch speaks for the stream by which this host is accounted.
void tell_news(const signed_news& x, const atproto::did& repo, uint64_t signer,
               const std::string& pds, context& shared);

} // namespace weir::actors
