#include "actors/repo/ask_identity.hpp"

#include "actors/support/site.hpp"
#include "messages/identity.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

/// The host whose look-ups this one is counted with; empty: the account's own
/// host, also when a relay caused the look-up.
std::string turn_of(uint32_t cause, const upstream_board& board) {
  const auto from = board.find(cause);
  return from.id == 0 || from.relay ? std::string{} : site_of(from.origin);
}

} // namespace

void ask_identity(const repo_effects& x, const atproto::did& repo,
                  const repo_actor& from, context& shared) {
  if (x.load_identity || x.refresh_identity)
    caf::anon_send(shared.identity,
                   identity_ask{repo, x.refresh_identity, x.identity_asked,
                                turn_of(x.identity_cause, shared.upstreams)},
                   identity_sink{from});
  else if (x.share_identity)
    caf::anon_send(
      shared.identity,
      identity_shared{repo, turn_of(x.identity_cause, shared.upstreams)});
}

} // namespace weir::actors
