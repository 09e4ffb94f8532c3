#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/site.hpp"
#include "actors/support/upstream_view.hpp"

namespace weir::actors {

/// The host whose look-ups this one is counted with; empty: the account's own
/// host, also when a relay caused the look-up.
inline std::string turn_of(uint32_t cause, const upstream_board& board) {
  const auto from = board.find(cause);
  return from.id == 0 || from.relay ? std::string{} : site_of(from.origin);
}

/// The rev as the clock board counts it: for the stream that brought it, and
/// after a fetch for the stream that accounts for its host `pds`.
inline signed_rev signed_by(uint64_t signer, const heard_rev& x,
                            const std::string& pds,
                            const upstream_board& board) {
  const auto host = atproto::stable_hash(pds);
  if (x.upstream != 0)
    return {x.upstream, x.relay, host, signer, x.rev.time()};
  const auto from = board.accounting_for(pds);
  return {from.id, from.relay, host, signer, x.rev.time()};
}

} // namespace weir::actors
