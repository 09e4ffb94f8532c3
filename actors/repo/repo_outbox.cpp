#include "actors/repo/repo_outbox.hpp"

#include "actors/repo/outbox_rules.hpp"
#include "messages/identity.hpp"

#include <caf/send.hpp>

namespace weir::actors {

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

void tell_news(const signed_news& x, const atproto::did& repo, uint64_t signer,
               const std::string& pds, context& shared) {
  if (x.heard.empty() && x.refused.empty())
    return;
  const auto now = shared.time->steady_now();
  for (const auto& y : x.heard)
    shared.signers.on_signed(signed_by(signer, y, pds, shared.upstreams), now,
                             shared.time->wall_now());
  shared.health.with([&](health_machine& health) {
    for (const auto& y : x.heard)
      if (y.sound)
        health.on_commit(y.upstream, signer, 0, {}, now);
      else
        health.remember(repo, true); // A document had its key.
    for (const auto& y : x.refused)
      health.on_commit(y.upstream, signer, y.reason(), y.text(), now);
  });
}

} // namespace weir::actors
