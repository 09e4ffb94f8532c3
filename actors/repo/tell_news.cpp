#include "actors/repo/tell_news.hpp"

namespace weir::actors {

namespace {

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
