#include "actors/repo/repo_outbox.hpp"

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

/// A reason besides those of atproto::verdict.
constexpr uint8_t of_another_host = 255;

uint8_t reason_of(const refused_commit& x) {
  return x.wrong_host ? of_another_host
                      : static_cast<uint8_t>(x.why.why) + 1;
}

std::string text_of(const refused_commit& x) {
  if (x.wrong_host)
    return "wrong_host: the account's document names "
           + (x.other_host.empty() ? std::string{"no host"} : x.other_host);
  std::string out = to_string(x.why.why);
  return x.why.reason.empty() ? out : out + ": " + x.why.reason;
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

void tell_news(const signed_news& x, const atproto::did& repo, uint64_t signer,
               const std::string& pds, context& shared) {
  if (x.heard.empty() && x.refused.empty())
    return;
  const auto now = shared.time->steady_now();
  for (const auto& y : x.heard) {
    signed_rev told{y.upstream, y.relay, atproto::stable_hash(pds), signer,
                    y.rev.time()};
    if (told.upstream == 0) {
      const auto from = shared.upstreams.accounting_for(pds);
      told.upstream = from.id;
      told.relay = from.relay;
    }
    shared.signers.on_signed(told, now, shared.time->wall_now());
  }
  shared.health.with([&](health_machine& health) {
    for (const auto& y : x.heard)
      if (y.sound)
        health.on_commit(y.upstream, signer, 0, {}, now);
      else
        health.remember(repo, true); // A document had its key.
    for (const auto& y : x.refused)
      health.on_commit(y.upstream, signer, reason_of(y), text_of(y), now);
  });
}

} // namespace weir::actors
