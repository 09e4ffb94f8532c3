#include "actors/supervisor/claims_machine.hpp"
#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits.hpp"

#include "actors/support/did_method.hpp"

#include <algorithm>
#include <utility>

/// Claims of the streams of PDSs.
namespace weir::actors {

/// Whether the claim has room. One stream never has all of the room, however
/// early it comes.
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

void claims_machine::take_words(const atproto::did& repo, const word& said,
                                steady_time now, effects& out) {
  const auto askers = askers_.extract(repo);
  if (askers.empty())
    return;
  for (const auto id : askers.mapped()) {
    auto& of = *streams_.find(id);
    auto claimed = of.second.asked.extract(repo);
    if (claimed.empty())
      continue;
    take_word(of, std::move(claimed.mapped()), said, now, out);
    judge(of, out);
  }
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
  const auto look = is_away ? second_look::none : next_look(x, said, agrees);
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
