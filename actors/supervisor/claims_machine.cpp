#include "actors/supervisor/claims_machine.hpp"

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/support/did_method.hpp"

#include <algorithm>

namespace weir::actors {

size_t claims_machine::cost_of(const claim& x) noexcept {
  // An account that is away also needs its listing line.
  const size_t lines = x.active ? 1 : 2;
  return lines * (limits::claim_entry_bytes + 2 * x.repo.str().size())
         + x.repo.str().size();
}

claims_machine::effects claims_machine::on_page(const listing_id& what,
                                                std::string host,
                                                std::vector<claim> claims,
                                                steady_time now,
                                                wall_time wall) {
  effects out;
  auto& of = *listings_.try_emplace(what).first;
  const auto claimed = claims.size();
  const auto bytes = take_places(of.second, claims);
  if (bytes_ + bytes > bytes_max_) {
    spare_ -= std::exchange(of.second.spare, 0);
    out.pages.push_back({.what = what, .has_room = false});
    return out;
  }
  out.dropped = claimed - claims.size();
  of.second.host = std::move(host);
  of.second.open = true;
  of.second.bytes += bytes;
  bytes_ += bytes;
  for (auto& x : claims)
    of.second.put({.of = std::move(x), .since = wall.seconds()});
  judge(of, out);
  return run(std::move(out), now);
}

claims_machine::effects claims_machine::on_word(const atproto::did& repo,
                                                const word& x,
                                                steady_time now) {
  effects out;
  const auto asked = asked_.extract(repo);
  if (asked.empty())
    return out; // A second answer for the same DID.
  const auto& [host, anew] = asked.mapped();
  (host.empty() ? listings_asked_ : streams_asked_).remove(repo);
  // A DID that was not found a moment ago waits before it is looked up anew; it
  // counts as away too, which proves nothing about the directory.
  if (x.what == word::kind::away && !anew && !document_is_foreign(repo))
    rest_until_ = now + limits::claim_retry;
  for (auto& of : listings_) {
    auto claimed = of.second.asked.extract(repo);
    if (claimed.empty())
      continue;
    take_word(of, std::move(claimed.mapped()), x, now, out);
    judge(of, out);
  }
  take_words(repo, x, now, out);
  return run(std::move(out), now);
}

const std::string& claims_machine::turn_of(const atproto::did& repo) const {
  static const std::string of_listings;
  const auto i = asked_.find(repo);
  return i == asked_.end() ? of_listings : i->second.host;
}

claims_machine::effects claims_machine::on_proof(bool has, steady_time now) {
  effects out;
  proving_ = false;
  for (auto& of : listings_)
    if (of.second.in_proof)
      close(of, {.what = of.first, .trusted = false, .proved = has}, out);
  for (auto& of : streams_)
    if (of.second.in_proof)
      let_rest(of, has, now, out);
  return run(std::move(out), now);
}

size_t claims_machine::size() const noexcept {
  size_t out = 0;
  for (const auto& [what, x] : listings_)
    out += x.size();
  for (const auto& [what, x] : streams_)
    out += x.size();
  return out;
}

/// Drops claims that find no place beyond `limits::claims_of_page_max`, and
/// claims that would never find one: DIDs may be long, and the room small.
/// @returns the bytes of the remaining claims
size_t claims_machine::take_places(listing& x, std::vector<claim>& claims) {
  size_t bytes = 0;
  size_t taken = 0;
  for (; taken < claims.size(); ++taken) {
    const auto cost = cost_of(claims[taken]);
    if (taken >= limits::claims_of_page_max) {
      if (spare_ >= limits::claims_spare_max
          || bytes_ + bytes + cost > bytes_max_)
        break;
      ++x.spare;
      ++spare_;
    } else if (bytes + cost > bytes_max_) {
      break;
    }
    bytes += cost;
  }
  claims.resize(taken);
  return bytes;
}

claims_machine::second_look
claims_machine::next_look(waiting_claim& x, const word& said, bool agrees) {
  const auto is_web = document_is_foreign(x.of.repo);
  // After the first look, a tombstone or a missing host is established.
  const auto is_gone = said.what == word::kind::names_host && said.pds.empty();
  if ((said.what == word::kind::missing || is_gone) && !is_web) {
    x.wants_anew = is_gone && !x.was_missing;
    return std::exchange(x.was_missing, true) ? second_look::none
                                              : second_look::later;
  }
  // The same second counts as old, too, since the order within it is unknown.
  x.wants_anew = said.what == word::kind::names_host && !agrees
                 && said.fetched_at <= x.since && !x.asked_anew;
  return x.wants_anew ? second_look::anew : second_look::none;
}

/// Whether the directory is asked a second time for an account that has a
/// tombstone there and that a listing calls away: when the tombstone was read
/// just now, or long ago. The directory may have erred.
bool claims_machine::is_looked_up(const word& said,
                                  const waiting_claim& x) noexcept {
  constexpr auto known_long
    = std::chrono::seconds{limits::gone_claim_interval}.count();
  return said.what == word::kind::names_host && said.pds.empty()
         && (said.fetched_at >= x.since
             || said.fetched_at + known_long <= x.since);
}

void claims_machine::look_later(source& from, waiting_claim x, bool fails,
                                steady_time now) {
  from.decide_first(x, fails);
  put_later(from, std::move(x), now + limits::claim_retry);
}

void claims_machine::put_later(source& from, waiting_claim x, steady_time at) {
  from.put_later(std::move(x), at);
  wake_at_ = std::min(wake_at_.value_or(at), at);
}

/// Looks up again the claims that have waited long enough.
void claims_machine::wake(steady_time now) {
  if (!wake_at_ || now < *wake_at_)
    return;
  wake_at_.reset();
  const auto take = [&](source& from, const auto& put) {
    auto& later = from.later;
    for (; !later.empty() && later.front().first <= now; later.pop_front())
      put(std::move(later.front().second));
    if (!later.empty())
      wake_at_ = std::min(wake_at_.value_or(later.front().first),
                          later.front().first);
  };
  for (auto& [what, x] : listings_)
    take(x, [&x = x](waiting_claim y) { x.put(std::move(y)); });
  for (auto& of : streams_)
    take(of.second, [&](waiting_claim y) { wait(of, std::move(y), false); });
}

void claims_machine::take_word(listings::value_type& of, waiting_claim x,
                               const word& said, steady_time now,
                               effects& out) {
  auto& [what, from] = of;
  const auto is_web = document_is_foreign(x.of.repo);
  if (said.what == word::kind::away && !is_web) {
    x.wants_anew = false; // The stored document may decide the claim.
    if (++x.tries < limits::claim_tries_max) {
      from.put(std::move(x));
    } else {
      release(from, cost_of(x.of));
      ++out.dropped;
    }
    return;
  }
  // A did:web host serves its own document: an unreachable one counts like a
  // missing document.
  const auto names_host = said.what == word::kind::names_host;
  const auto agrees
    = said.has_host() && (from.host.empty() || said.pds == from.host);
  const auto fails
    = !names_host || (!agrees && !said.pds.empty() && x.of.active);
  const auto look = x.of.active || is_looked_up(said, x)
                      ? next_look(x, said, agrees)
                      : second_look::none;
  if (look == second_look::anew)
    from.put(std::move(x), true);
  else if (look == second_look::later)
    look_later(from, std::move(x), fails, now);
  if (look != second_look::none)
    return;
  release(from, cost_of(x.of));
  from.decide(x, fails);
  if (agrees)
    out.confirmed.emplace_back(what, std::move(x.of.repo));
}

void claims_machine::judge(listings::value_type& of, effects& out) {
  auto& [what, x] = of;
  if (!x.open || x.in_proof)
    return;
  if (x.is_bad())
    want_proof(x, out);
  else if (x.size() == 0)
    close(of, {.what = what}, out);
}

void claims_machine::close(listings::value_type& of, verdict x, effects& out) {
  auto& from = of.second;
  from.open = false;
  spare_ -= std::exchange(from.spare, 0);
  from.forget_claims();
  release(from, from.bytes);
  if (!x.trusted)
    from.decided = from.failed = 0;
  out.pages.push_back(std::move(x));
}

/// Of the listings that wait, the one that had the fewest turns; every
/// `limits::claims_even_turn`th time the next one in order.
claims_machine::listing* claims_machine::next_listing() {
  listings::value_type* fewest = nullptr;
  listings::value_type* next = nullptr;
  for (auto& x : listings_) {
    if (!x.second.waits(listings_asked_.has_web_place()))
      continue;
    if (fewest == nullptr || x.second.turns < fewest->second.turns)
      fewest = &x;
    if (next == nullptr || (next->first <= last_ && last_ < x.first))
      next = &x;
  }
  if (fewest == nullptr)
    return nullptr;
  if (++turns_ % limits::claims_even_turn != 0)
    return &fewest->second;
  last_ = next->first;
  return &next->second;
}

/// @param host The origin of the stream; empty for a listing.
/// @pre a claim of `from` waits
atproto::did claims_machine::ask_next(source& from, const std::string& host,
                                      effects& out) {
  auto& asked = host.empty() ? listings_asked_ : streams_asked_;
  auto next = from.take(asked.has_web_place());
  const auto repo = next.of.repo;
  const auto is_first
    = asked_.try_emplace(repo, question{host, next.wants_anew}).second;
  next.asked_anew = is_first && next.wants_anew;
  if (is_first) {
    asked.add(repo);
    (next.wants_anew ? out.ask_anew : out.ask).push_back(repo);
  }
  from.asked.insert_or_assign(repo, std::move(next));
  return repo;
}

claims_machine::effects claims_machine::run(effects out, steady_time now) {
  if (rest_until_ && now < *rest_until_) {
    out.timer = rest_until_;
    return out;
  }
  rest_until_.reset();
  wake(now);
  while (listings_asked_.has_place()) {
    auto* x = next_listing();
    if (x == nullptr)
      break;
    ++x->turns;
    ask_next(*x, {}, out);
  }
  while (streams_asked_.has_place()) {
    auto* x = next_stream();
    if (x == nullptr)
      break;
    askers_[ask_next(x->second, x->second.host, out)].push_back(x->first);
  }
  out.timer = wake_at_;
  return out;
}

} // namespace weir::actors
