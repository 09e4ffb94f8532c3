#include "actors/supervisor/claim_checks.hpp"

#include "actors/support/limits_health.hpp"
#include "actors/support/site.hpp"
#include "base/log.hpp"

namespace weir::actors {

namespace {

constexpr auto no_document
  = "the directory has no document of most accounts that it names";

/// The look-ups of all listings together take one turn under this name.
constexpr auto turn_of_listings = "listings";

/// The beginning of a text that others wrote.
std::string cut(std::string_view x) {
  return std::string{x.substr(0, limits::health_text_bytes_max)};
}

std::string remedy_of(const origin_machine::finding& x) {
  const auto origin = cut(x.origin);
  if (x.several)
    return "it lists accounts of several hosts, as a relay does: name it in "
           "upstream as relay:"
           + origin + " instead of pds:" + origin;
  return "name it in upstream by the origin that its accounts' documents name: "
         "pds:"
         + cut(x.host) + " instead of pds:" + origin
         + "; if it is a relay, as relay:" + origin;
}

} // namespace

void claim_checks::on_page(const std::vector<repo_listed>& unknown,
                           const std::shared_ptr<page_progress>& page) {
  auto claims = claims_in(unknown);
  if (claims.empty())
    return;
  for (const auto& line : unknown)
    if (line.account != storage::account_status::active)
      page->away.emplace(line.repo, line);
  const auto& what = page->verdict.what;
  page->parts->expect();
  claimed_[what] = page;
  perform(claims_.on_page(what, desk_.host_of(what.upstream), std::move(claims),
                          desk_.now(), desk_.wall()));
}

void claim_checks::perform(const claims_machine::effects& x) {
  held_.set(claims_.bytes());
  for (const auto& repo : x.ask)
    look_up(repo, false);
  for (const auto& repo : x.ask_anew)
    look_up(repo, true);
  perform_streams(x);
  desk_.metrics.claims_dropped.add(x.dropped);
  desk_.metrics.confirmed.add(x.confirmed.size());
  for (const auto& [what, repo] : x.confirmed) {
    const auto& page = claimed_.at(what);
    auto away = page->away.extract(repo);
    repo_listed line;
    if (!away.empty())
      line = std::move(away.mapped());
    line.repo = repo;
    line.upstream = what.upstream;
    give(desk_.router_of(repo), repo_listing{{std::move(line)}, true}, page);
    perform(origins_.on_confirmed(what.upstream));
  }
  for (const auto& page : x.pages)
    decide(page);
  desk_.arm(x.timer);
  if (!x.prove)
    return;
  const auto known = desk_.shared().health.with(
    [](const health_machine& health) { return health.known(); });
  if (known)
    desk_.ask_identity(*known, true, turn_of_listings);
  perform(claims_.on_proving(known, desk_.asked, desk_.now()));
}

void claim_checks::decide(const claims_machine::verdict& x) {
  const auto page = std::move(claimed_.extract(x.what).mapped());
  page->verdict = x;
  if (!x.trusted) {
    desk_.metrics.mistrusted.add();
    log::warn(
      "listing_mistrusted",
      {{"upstream", desk_.url_of(x.what.upstream)},
       {"reason", x.proved ? "the documents of most accounts that it lists "
                             "name another host; it is not read for a while"
                           : no_document}});
  }
  page->parts->answered();
}

void claim_checks::give(const router_actor& to, repo_listing lines,
                        const std::shared_ptr<page_progress>& page) {
  page->parts->expect();
  const auto taken = [page] { page->parts->answered(); };
  desk_.self->request(to, caf::infinite, std::move(lines))
    .then([taken](const listing_taken&) { taken(); },
          [taken](caf::error&) { taken(); });
}

/// A DID that a stream names takes a turn of its PDS, like the look-ups for its
/// accounts. All DIDs that listings name share one turn.
void claim_checks::look_up(const atproto::did& repo, bool anew) {
  const auto& origin = claims_.turn_of(repo);
  desk_.ask_identity(repo, anew,
                     origin.empty() ? turn_of_listings : site_of(origin));
}

void claim_checks::perform_streams(const claims_machine::effects& x) {
  for (const auto& each : x.answers) {
    const auto named = named_.extract({each.upstream, each.repo});
    if (named && named.mapped()
        && each.what == stream_claim_decided::outcome::confirmed)
      take_up(each.upstream, each.repo);
    desk_.tell(each.repo, each);
  }
  for (const auto& each : x.rests) {
    std::erase_if(named_, [&each](const auto& y) {
      return y.first.first == each.stream;
    });
    desk_.metrics.streams_mistrusted.add();
    log::warn(
      "stream_mistrusted",
      {{"upstream", desk_.url_of(each.stream)},
       {"reason",
        each.proved
          ? "the documents of most new accounts that it names do not name its "
            "host; for a while new ones are found by its listing only"
          : no_document}});
    for (const auto& router : desk_.shared().routers())
      desk_.self->send(router, stream_claims_rest{each.stream, each.until});
  }
}

/// One answer is for all streams that named the same DID.
void claim_checks::on_named(const stream_claim& x, bool returned) {
  const auto [i, is_first] = named_.try_emplace({x.upstream, x.repo}, returned);
  i->second |= returned;
  if (!is_first)
    return;
  perform(claims_.on_named(x.upstream, desk_.host_of(x.upstream), x.repo,
                           desk_.now(), desk_.wall(), x.anew));
}

void claim_checks::on_identity(const identity_answer& x) {
  const auto said = claim_word::of(x);
  perform(claims_.on_answer(x, desk_.now()));
  perform(origins_.on_word(x.repo, said, desk_.now()));
  perform(claims_.on_word(x.repo, said, desk_.now()));
}

void claim_checks::look_at_origin(const listing_page& x) {
  perform(origins_.on_page(x.upstream, desk_.host_of(x.upstream), *x.repos,
                           desk_.now(), desk_.wall()));
}

void claim_checks::perform(const origin_machine::effects& x) {
  for (const auto& each : x.ask)
    look_up(each.repo, each.anew);
  for (const auto& each : x.found) {
    std::string trouble;
    std::string remedy;
    if (!each.account.empty()) {
      trouble = "its accounts' documents do not name " + cut(each.origin)
                + ": that of " + cut(each.account) + " names " + cut(each.host)
                + ", so all that it says of them is refused";
      remedy = remedy_of(each);
    }
    desk_.shared().health.with([&](health_machine& health) {
      health.on_origin(each.upstream, trouble, remedy);
    });
  }
  desk_.arm(x.timer);
}

/// Its document names the host, and it has records of a signal collection.
void claim_checks::take_up(uint32_t upstream, const atproto::did& repo) {
  repo_listed line;
  line.repo = repo;
  line.upstream = upstream;
  desk_.self
    ->request(desk_.router_of(repo), caf::infinite,
              repo_listing{{std::move(line)}, true})
    .then([](const listing_taken&) {}, [](const caf::error&) {});
}

} // namespace weir::actors
