#include "actors/supervisor/origin_machine.hpp"

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/support/did_method.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

/// At most `most` accounts from all over the page, since accounts that moved
/// away may stand next to each other. DIDs of did:web, whose hosts may hang,
/// are used only when there are no others.
std::vector<atproto::did> sample(std::vector<atproto::did> all, size_t most) {
  const auto web = std::stable_partition(
    all.begin(), all.end(),
    [](const auto& x) { return !document_is_foreign(x); });
  if (web != all.begin())
    all.erase(web, all.end());
  const auto count = std::min(most, all.size());
  std::vector<atproto::did> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(std::move(all[i * all.size() / count]));
  return out;
}

} // namespace

void origin_machine::on_begin(uint32_t upstream) {
  auto& x = looks_[upstream];
  x.begins = true;
  x.agrees = false;
}

bool origin_machine::wants(uint32_t upstream) const {
  const auto i = looks_.find(upstream);
  return i == looks_.end()
         || (!i->second.agrees && !i->second.asked && i->second.left.empty());
}

origin_machine::effects
origin_machine::on_page(uint32_t upstream, const std::string& origin,
                        std::vector<atproto::did> active, steady_time now,
                        wall_time wall) {
  effects out;
  if (active.empty() || !wants(upstream))
    return out;
  auto& x = looks_[upstream];
  if (std::exchange(x.begins, false)) {
    x.elsewhere = x.without = x.undecided = 0;
    x.several = false;
  }
  const auto looked_at = x.elsewhere + x.without + x.undecided;
  const auto most = looked_at < limits::origin_accounts_max
                      ? limits::origin_accounts_max - looked_at
                      : 1; // One account of each further page.
  x.origin = origin;
  x.since = wall.seconds();
  for (auto& repo : sample(std::move(active), most))
    x.left.push_back({std::move(repo)});
  turns_.push_back(upstream);
  run(out, now);
  return out;
}

origin_machine::effects origin_machine::on_confirmed(uint32_t upstream) {
  effects out;
  const auto i = looks_.find(upstream);
  if (i != looks_.end() && !i->second.agrees)
    agree(*i, out);
  return out;
}

origin_machine::effects origin_machine::on_word(const atproto::did& repo,
                                                const word& said,
                                                steady_time now) {
  effects out;
  while (auto asker = askers_.extract(repo)) {
    auto& of = *looks_.find(asker.mapped());
    auto x = *std::exchange(of.second.asked, std::nullopt);
    if (!of.second.agrees) // Otherwise the result is no longer needed.
      take_word(of, std::move(x), said, now, out);
  }
  run(out, now);
  return out;
}

origin_machine::effects origin_machine::on_timer(steady_time now) {
  effects out;
  run(out, now);
  return out;
}

void origin_machine::take_word(looks::value_type& of, candidate x,
                               const word& said, steady_time now,
                               effects& out) {
  auto& at = of.second;
  const auto names_host
    = said.what == word::kind::names_host && !said.pds.empty();
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
void origin_machine::judge(looks::value_type& of, effects& out) {
  const auto& x = of.second;
  if (x.undecided == 0 && x.elsewhere > x.without)
    out.found.push_back(
      {of.first, x.origin, x.example.str(), x.example_host, x.several});
  else if (x.undecided == 0 && x.elsewhere == 0)
    out.found.push_back({.upstream = of.first, .origin = x.origin});
}

/// The origin is right.
void origin_machine::agree(looks::value_type& of, effects& out) {
  auto& x = of.second;
  x.agrees = true;
  x.left.clear();
  out.found.push_back({.upstream = of.first, .origin = x.origin});
}

void origin_machine::run(effects& out, steady_time now) {
  if (rest_until_ && now < *rest_until_) {
    out.timer = rest_until_;
    return;
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
}

} // namespace weir::actors
