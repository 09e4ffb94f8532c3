#include "actors/supervisor/claims_machine.hpp"

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/support/site.hpp"

#include <algorithm>

namespace weir::actors {

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
  const auto take = [&](auto& of) {
    auto claimed = of.second.asked.extract(repo);
    if (claimed.empty())
      return;
    take_word(of, std::move(claimed.mapped()), x, now, out);
    judge(of, out);
  };
  for (auto& of : listings_)
    take(of);
  if (const auto askers = askers_.extract(repo))
    for (const auto stream : askers.mapped())
      take(*streams_.find(stream));
  return run(std::move(out), now);
}

const std::string& claims_machine::turn_of(const atproto::did& repo) const {
  static const std::string of_listings;
  const auto i = asked_.find(repo);
  return i == asked_.end() ? of_listings : i->second.host;
}

claims_machine::effects
claims_machine::on_proving(const std::optional<atproto::did>& known,
                           uint64_t number, steady_time now) {
  if (!known)
    return on_proof(false, now);
  proof_ = {*known, number};
  return {};
}

claims_machine::effects claims_machine::on_answer(const identity_answer& x,
                                                  steady_time now) {
  // An answer to an earlier question, which a fetch may have asked, proves
  // nothing. Nor does a tombstone, or a document without a host: a directory
  // that is wrong may give that answer for all identities.
  if (!proof_ || proof_->first != x.repo || x.asked < proof_->second
      || !x.settled)
    return {};
  proof_.reset();
  return on_proof(word::of(x).has_host(), now);
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
  const auto look = x.of.active || x.is_looked_up(said)
                      ? x.next_look(said, agrees)
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

/// Returns the listing that waits and had the fewest turns; every
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

/// Whether there is room for the claim. No stream may take all of it.
bool claims_machine::has_room(const stream_source& from,
                              size_t bytes) const noexcept {
  const auto others = stream_bytes_ - from.bytes;
  return from.size() < limits::stream_claims_max
         && 2 * (from.bytes + bytes) <= stream_bytes_max_ - others;
}

claims_machine::effects
claims_machine::on_named(uint32_t stream, const std::string& host,
                         const atproto::did& repo, steady_time now,
                         wall_time wall, bool anew) {
  effects out;
  auto& of = *streams_.try_emplace(stream).first;
  auto& from = of.second;
  const auto bytes = stream_cost_of(repo);
  const auto rests = from.rests_until && now < *from.rests_until;
  if (host.empty() || rests || !has_room(from, bytes)) {
    out.answers.push_back({stream, repo, outcome::dropped, false});
    return out;
  }
  from.host = host;
  from.bytes += bytes;
  stream_bytes_ += bytes;
  wait(of, {.of = {repo}, .since = wall.seconds(), .wants_anew = anew}, false);
  return run(std::move(out), now);
}

/// @param first Puts the claim before others of its stream.
void claims_machine::wait(streams::value_type& of, waiting_claim x,
                          bool first) {
  if (!std::exchange(of.second.has_turn, true))
    stream_turns_.push_back(of.first);
  of.second.put(std::move(x), first);
}

/// Takes the stream whose turn it is.
claims_machine::streams::value_type* claims_machine::next_stream() {
  for (auto left = stream_turns_.size(); left > 0; --left) {
    const auto id = stream_turns_.front();
    stream_turns_.pop_front();
    auto& of = *streams_.find(id);
    auto& from = of.second;
    const auto takes = from.waits(streams_asked_.has_web_place());
    from.has_turn = from.waiting_count() > (takes ? 1u : 0u);
    if (from.has_turn)
      stream_turns_.push_back(id);
    if (!takes)
      // Its claims were dropped, or enough of them are being looked up.
      continue;
    return &of;
  }
  return nullptr;
}

void claims_machine::take_word(streams::value_type& of, waiting_claim x,
                               const word& said, steady_time now,
                               effects& out) {
  auto& [id, from] = of;
  const auto agrees = said.what == word::kind::names_host
                      && said.pds == from.host;
  const auto is_away = said.what == word::kind::away
                       && !document_is_foreign(x.of.repo);
  if (is_away && ++x.tries < limits::claim_tries_max) {
    x.wants_anew = false; // The stored document may decide the claim.
    if (said.not_before > now + limits::claim_retry)
      put_later(from, std::move(x), said.not_before);
    else
      wait(of, std::move(x), false);
    return;
  }
  const auto look = is_away ? second_look::none : x.next_look(said, agrees);
  if (look == second_look::anew)
    wait(of, std::move(x), true);
  else if (look == second_look::later)
    look_later(from, std::move(x), true, now);
  if (look != second_look::none)
    return;
  const auto bytes = stream_cost_of(x.of.repo);
  from.bytes -= bytes;
  stream_bytes_ -= bytes;
  if (!is_away)
    from.decide(x, !agrees);
  out.answers.push_back({id, std::move(x.of.repo),
                         is_away  ? outcome::dropped
                         : agrees ? outcome::confirmed
                                  : outcome::failed,
                         x.asked_anew});
}

void claims_machine::judge(streams::value_type& of, effects& out) {
  auto& x = of.second;
  if (x.in_proof || x.decided < limits::claims_judged_min)
    return;
  if (x.is_bad())
    want_proof(x, out);
  else
    x.rest = std::chrono::seconds{0};
}

/// @param proved The directory is right. If it is not, the rest is short.
void claims_machine::let_rest(streams::value_type& of, bool proved,
                              steady_time now, effects& out) {
  auto& [id, x] = of;
  std::chrono::seconds rest = limits::claim_retry;
  if (proved)
    rest = x.rest = std::clamp<std::chrono::seconds>(
      2 * x.rest, limits::listing_mistrust_min, limits::stream_mistrust_max);
  x.rests_until = now + rest;
  x.forget_claims();
  stream_bytes_ -= std::exchange(x.bytes, 0);
  x.decided = x.failed = 0;
  out.rests.push_back({id, *x.rests_until, proved});
}

} // namespace weir::actors
