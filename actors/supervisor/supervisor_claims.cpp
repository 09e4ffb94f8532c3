#include "actors/supervisor/supervisor_impl.hpp"
#include "actors/support/site.hpp"
#include "base/log.hpp"
#include "messages/identity.hpp"

/// Claims that only a listing or the stream of a PDS makes. Their rules are in
/// claims_machine.
namespace weir::actors {

namespace {

constexpr auto no_document
  = "the directory has no document of most accounts that it names";

/// The look-ups of all listings together take one turn under this name.
constexpr auto turn_of_listings = "listings";

claims_machine::word word_of(const identity_answer& x) {
  using kind = claims_machine::word::kind;
  if (x.fact)
    return {kind::names_host, x.fact->tombstoned ? std::string{} : x.fact->pds,
            x.fact->fetched_at};
  const auto code = x.fact.error().code;
  const auto away = code == ec::unreachable || code == ec::limit_reached;
  return {away ? kind::away : kind::missing, {}, 0, x.not_before};
}

/// An answer with a tombstone or without a host proves nothing about the
/// directory: a wrong directory may give it for all identities.
bool is_usable(const identity_answer& x) {
  return x.fact && !x.fact->tombstoned && !x.fact->pds.empty();
}

} // namespace

/// The page is not done before its claims are decided.
void supervisor::claim(const std::vector<repo_listed>& lines,
                       const std::shared_ptr<page_progress>& page) {
  std::vector<claims_machine::claim> claims;
  for (const auto& line : lines) {
    if (!atproto::supported_did(line.repo.str()))
      continue;
    const auto active = line.account == storage::account_status::active;
    claims.push_back({line.repo, active});
    if (!active)
      page->away.emplace(line.repo, line);
  }
  if (claims.empty())
    return;
  const auto from = env_.shared->upstreams.find(page->what.upstream);
  page->parts->expect();
  claimed_[page->what] = page;
  perform(claims_.on_page(page->what, from.relay ? std::string{} : from.origin,
                          std::move(claims), now(), wall()));
}

void supervisor::perform(const claims_machine::effects& x) {
  claims_held_.set(claims_.bytes());
  for (const auto& repo : x.ask)
    look_up_claim(repo, false);
  for (const auto& repo : x.ask_anew)
    look_up_claim(repo, true);
  perform_streams(x);
  claims_dropped_->add(x.dropped);
  confirmed_->add(x.confirmed.size());
  for (const auto& [what, repo] : x.confirmed) {
    const auto& page = claimed_.at(what);
    auto away = page->away.extract(repo);
    repo_listed line;
    if (!away.empty())
      line = std::move(away.mapped());
    line.repo = repo;
    line.upstream = what.upstream;
    give(router_of(repo), repo_listing{{std::move(line)}, true}, page);
    perform(origins_.on_confirmed(what.upstream));
  }
  for (const auto& page : x.pages) {
    const auto decided = std::move(claimed_.extract(page.what).mapped());
    decided->trusted = page.trusted;
    decided->proved = page.proved;
    decided->has_room = page.has_room;
    if (!page.trusted) {
      mistrusted_->add();
      log::warn("listing_mistrusted",
                {{"upstream", url_of(page.what.upstream)},
                 {"reason", page.proved
                              ? "the documents of most accounts that it lists "
                                "name another host; it is not read for a while"
                              : no_document}});
    }
    decided->parts->answered();
  }
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
  if (x.prove)
    prove_directory();
}

/// A DID that a stream names takes a turn of its PDS, like the look-ups for its
/// accounts. All DIDs that listings name share one turn.
void supervisor::look_up_claim(const atproto::did& repo, bool anew) {
  const auto& origin = claims_.turn_of(repo);
  ask_identity(repo, anew,
               origin.empty() ? turn_of_listings : site_of(origin));
}

/// Asks for a document that the directory had, if any is known.
void supervisor::prove_directory() {
  const auto known
    = env_.shared->health.with([](const health_machine& health) {
        return health.known();
      });
  if (!known) {
    perform(claims_.on_proof(false, now()));
    return;
  }
  ask_identity(*known, true, turn_of_listings);
  proof_ = {*known, asked_};
}

void supervisor::perform_streams(const claims_machine::effects& x) {
  for (const auto& each : x.answers) {
    const auto named = named_.extract({each.upstream, each.repo});
    if (named && named.mapped()
        && each.what == stream_claim_decided::outcome::confirmed)
      take_up(each.upstream, each.repo);
    send(router_of(each.repo), each);
  }
  for (const auto& each : x.rests) {
    std::erase_if(named_, [&each](const auto& y) {
      return y.first.first == each.stream;
    });
    streams_mistrusted_->add();
    log::warn(
      "stream_mistrusted",
      {{"upstream", url_of(each.stream)},
       {"reason",
        each.proved
          ? "the documents of most new accounts that it names do not name its "
            "host; for a while new ones are found by its listing only"
          : no_document}});
    for (const auto& router : env_.shared->routers())
      send(router, stream_claims_rest{each.stream, each.until});
  }
}

/// In signal mode a stream claims DIDs by commits, which do not concern
/// documents. A claim whose document may have changed is therefore an account
/// that is active again.
void supervisor::on_stream_claim(const stream_claim& x) {
  if (x.anew && !env_.holders_listing.empty())
    on_active(x.upstream, x.repo);
  else
    look_up_named(x.upstream, x.repo, x.anew, false);
}

/// One answer is for all streams that named the same DID.
void supervisor::look_up_named(uint32_t upstream, const atproto::did& repo,
                               bool anew, bool returned) {
  const auto [i, is_first] = named_.try_emplace({upstream, repo}, returned);
  i->second |= returned;
  if (!is_first)
    return;
  const auto from = env_.shared->upstreams.find(upstream);
  perform(claims_.on_named(upstream, from.relay ? std::string{} : from.origin,
                           repo, now(), wall(), anew));
}

void supervisor::on_identity(const identity_answer& x) {
  // What was known of it before, as a fetch may ask for, proves nothing.
  if (proof_ && proof_->first == x.repo && x.asked >= proof_->second
      && x.settled) {
    proof_.reset();
    perform(claims_.on_proof(is_usable(x), now()));
  }
  const auto said = word_of(x);
  perform(machine_.on_identity(x, now()));
  perform(origins_.on_word(x.repo, said, now()));
  perform(claims_.on_word(x.repo, said, now()));
}

} // namespace weir::actors
