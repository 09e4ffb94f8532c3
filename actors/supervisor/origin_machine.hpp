#pragma once

#include "actors/supervisor/claims_machine.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/support/site.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Finds `pds:` upstreams that are configured with an origin that no document
/// names, for example with an address. All statements of such a host about its
/// accounts are refused, since their documents name it by another origin.
///
/// The documents of a few active accounts of each listing of all repos are
/// looked up, one after the other, until one of them names the origin, as the
/// first one does at a correct host. When `limits::origin_accounts_max`
/// accounts, or all accounts of a small host, were looked at, none of their
/// documents names the origin and most name another host, the upstream is
/// reported. The report ends as soon as one document agrees.
///
/// A document that was stored before the page came and names another host is
/// fetched anew first: the account may have moved here. When a document cannot
/// be had, its content is not known, and nothing is concluded from it.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
///
/// # Limits
/// Asks for `limits::origin_asked_max` documents at once, one of an upstream.
class origin_machine {
public:
  using word = claims_machine::word;

  struct question {
    atproto::did repo;
    bool anew = false; ///< The stored document does not suffice.
  };

  struct finding {
    uint32_t upstream = 0;
    std::string origin;    ///< The origin as it is configured.
    std::string account{}; ///< An example account; empty: the problem is over.
    std::string host{}; ///< The host that the document of that account names.
    bool several = false; ///< Others name yet another host, as at a relay.
  };

  struct effects {
    std::vector<question> ask;
    std::vector<finding> found; ///< The same finding may come again.
    std::optional<steady_time> timer;
  };

  /// A listing of all repos of a PDS begins.
  void on_begin(uint32_t upstream) {
    auto& x = looks_[upstream];
    x.begins = true;
    x.agrees = false;
  }

  /// Whether `on_page` would look at a page of this upstream.
  bool wants(uint32_t upstream) const {
    const auto i = looks_.find(upstream);
    return i == looks_.end()
           || (!i->second.agrees && !i->second.asked && i->second.left.empty());
  }

  /// A page of that listing came.
  /// @param origin Empty for a relay, which has accounts of all hosts.
  effects on_page(uint32_t upstream, const std::string& origin,
                  const std::vector<repo_listed>& lines, steady_time now,
                  wall_time wall) {
    effects out;
    if (origin.empty() || !wants(upstream))
      return out;
    auto claims = claims_in(lines);
    std::erase_if(claims, [](const auto& y) { return !y.active; });
    if (claims.empty())
      return out;
    auto& x = looks_[upstream];
    if (std::exchange(x.begins, false)) {
      x.elsewhere = x.without = x.undecided = 0;
      x.several = false;
    }
    const auto looked_at = x.elsewhere + x.without + x.undecided;
    // After that many, one account of each further page is looked at.
    const auto most
      = std::max(limits::origin_accounts_max, looked_at + 1) - looked_at;
    x.origin = origin;
    x.since = wall.seconds();
    for (auto& each : sample(std::move(claims), most))
      x.left.push_back({std::move(each.repo)});
    turns_.push_back(upstream);
    return run(std::move(out), now);
  }

  /// Another part found that an account there has a document with its origin.
  effects on_confirmed(uint32_t upstream) {
    effects out;
    const auto i = looks_.find(upstream);
    if (i != looks_.end() && !i->second.agrees)
      agree(*i, out);
    return out;
  }

  effects on_word(const atproto::did& repo, const word& said, steady_time now) {
    effects out;
    while (auto asker = askers_.extract(repo)) {
      auto& of = *looks_.find(asker.mapped());
      auto x = *std::exchange(of.second.asked, std::nullopt);
      if (!of.second.agrees) // Otherwise the result is no longer needed.
        take_word(of, std::move(x), said, now, out);
    }
    return run(std::move(out), now);
  }

  effects on_timer(steady_time now) { return run({}, now); }

private:
  /// At most `most` accounts from all over the page, since accounts that moved
  /// away may stand next to each other. DIDs of did:web, whose hosts may hang,
  /// are used only when there are no others.
  static std::vector<listed_claim> sample(std::vector<listed_claim> all,
                                          size_t most) {
    const auto web
      = std::stable_partition(all.begin(), all.end(), [](const auto& x) {
          return !document_is_foreign(x.repo);
        });
    if (web != all.begin())
      all.erase(web, all.end());
    const auto count = std::min(most, all.size());
    std::vector<listed_claim> out;
    for (size_t i = 0; i < count; ++i)
      out.push_back(std::move(all[i * all.size() / count]));
    return out;
  }

  struct candidate {
    atproto::did repo;
    size_t asked_anew = 0;
    size_t tries = 0; ///< Look-ups that brought no answer.
  };

  /// The look at one upstream, in the listing under way.
  struct look {
    std::string origin;
    /// Accounts whose documents are still to be looked up.
    std::deque<candidate> left;
    std::optional<candidate> asked;
    int64_t since = 0;    ///< When the page came, in Unix seconds.
    bool begins = true;   ///< No page of the listing was looked at yet.
    bool agrees = false;  ///< A document names the origin.
    size_t elsewhere = 0; ///< Documents that name another host.
    size_t without = 0;   ///< Accounts without a document, or a host in it.
    size_t undecided = 0; ///< Accounts that could not be decided.
    atproto::did example; ///< One of `elsewhere`.
    std::string example_host;
    bool several = false; ///< `elsewhere` are of more than one host.
  };

  using looks = std::map<uint32_t, look>;

  void take_word(looks::value_type& of, candidate x, const word& said,
                 steady_time now, effects& out) {
    auto& at = of.second;
    const auto names_host = said.has_host();
    if (names_host && said.pds == at.origin)
      return agree(of, out);
    // Another part may have asked for the same account: the first answers may
    // belong to earlier questions.
    const auto is_old = names_host && said.fetched_at <= at.since
                        && x.asked_anew < limits::origin_looks_max;
    const auto is_away = said.what == word::kind::away
                         && !document_is_foreign(x.repo)
                         && ++x.tries < limits::claim_tries_max;
    if (is_away)
      rest_until_ = now + limits::claim_retry;
    if (is_old || is_away) {
      x.asked_anew += is_old ? 1 : 0;
      at.left.push_front(std::move(x));
    } else if (names_host) {
      at.several |= at.elsewhere > 0 && said.pds != at.example_host;
      ++at.elsewhere;
      at.example = std::move(x.repo);
      at.example_host = said.pds;
    } else if (said.what == word::kind::away) {
      ++at.undecided;
    } else {
      ++at.without;
    }
    if (at.left.empty())
      judge(of, out);
    else
      turns_.push_back(of.first);
  }

  /// All accounts were looked at, and no document agrees.
  static void judge(looks::value_type& of, effects& out) {
    const auto& x = of.second;
    if (x.undecided == 0 && x.elsewhere > x.without)
      out.found.push_back(
        {of.first, x.origin, x.example.str(), x.example_host, x.several});
    else if (x.undecided == 0 && x.elsewhere == 0)
      out.found.push_back({.upstream = of.first, .origin = x.origin});
  }

  static void agree(looks::value_type& of, effects& out) {
    auto& x = of.second;
    x.agrees = true;
    x.left.clear();
    out.found.push_back({.upstream = of.first, .origin = x.origin});
  }

  effects run(effects out, steady_time now) {
    if (rest_until_ && now < *rest_until_) {
      out.timer = rest_until_;
      return out;
    }
    rest_until_.reset();
    while (!turns_.empty() && askers_.size() < limits::origin_asked_max) {
      const auto id = turns_.front();
      turns_.pop_front();
      auto& x = looks_.find(id)->second;
      if (x.asked || x.left.empty())
        continue; // A document agreed meanwhile.
      x.asked = std::move(x.left.front());
      x.left.pop_front();
      askers_.emplace(x.asked->repo, id);
      out.ask.push_back({x.asked->repo, x.asked->asked_anew > 0});
    }
    return out;
  }

  looks looks_;                ///< Keys: upstreams.
  std::deque<uint32_t> turns_; ///< Upstreams with accounts that are left.
  std::unordered_multimap<atproto::did, uint32_t> askers_;
  std::optional<steady_time> rest_until_; ///< The directory is away.
};

} // namespace weir::actors
