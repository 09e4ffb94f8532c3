#include "actors/router/stream_claims.hpp"

#include "actors/router/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

void stream_claims::read(const atproto::stamped_frame& x, entry& into) {
  using atproto::frame_kind;
  if (x.kind == frame_kind::identity)
    into.heard.look_up = true;
  if (x.kind == frame_kind::account) {
    const auto event = atproto::decode_frame(x.bytes.view());
    const auto* said
      = event ? std::get_if<atproto::account_event>(&*event) : nullptr;
    into.away = said != nullptr && !said->active;
    into.heard.look_up |= into.away;
  }
  if (x.kind != frame_kind::commit && x.kind != frame_kind::sync)
    return;
  const auto peek = atproto::peek_frame(x.bytes.view());
  const auto rev = peek ? atproto::tid::parse(peek->rev) : std::nullopt;
  into.heard.least = std::max(into.heard.least, rev.value_or(atproto::tid{}));
}

bool stream_claims::hear(const atproto::stamped_frame& x) {
  const auto i = claims_.find({x.repo, x.at.upstream});
  if (i == claims_.end())
    return false;
  read(x, i->second);
  return true;
}

stream_claims::step stream_claims::claim(const atproto::stamped_frame& x,
                                         steady_time now) {
  entry made;
  made.at = x.at;
  read(x, made);
  if (made.away)
    return step::wait;
  made.asks_anew = std::exchange(made.heard.look_up, false);
  auto& from = streams_[x.at.upstream];
  if (from.claims >= limits::shard_claims_max
      || (from.rests_until && now < *from.rests_until))
    return step::drop;
  if (!claims_.try_emplace({x.repo, x.at.upstream}, made).second)
    return step::wait;
  ++from.claims;
  return made.asks_anew ? step::ask_anew : step::ask;
}

bool stream_claims::confirm(uint32_t stream, const atproto::did& repo,
                            bool anew) {
  const auto i = claims_.find({repo, stream});
  if (i == claims_.end())
    return false;
  auto& x = i->second;
  x.confirmed = true;
  x.heard.look_up |= std::exchange(x.asks_anew, false) && !anew;
  return true;
}

std::optional<stream_claims::news>
stream_claims::begin(uint32_t stream, const atproto::did& repo) {
  const auto i = claims_.find({repo, stream});
  if (i == claims_.end())
    return std::nullopt;
  const auto known = i->second;
  erase(i);
  if (known.away)
    return std::nullopt;
  return known.heard;
}

std::optional<position> stream_claims::fail(uint32_t stream,
                                            const atproto::did& repo) {
  const auto i = claims_.find({repo, stream});
  if (i == claims_.end())
    return std::nullopt;
  const auto at = i->second.at;
  erase(i);
  return at;
}

void stream_claims::drop(uint32_t stream, const atproto::did& repo) {
  const auto i = claims_.find({repo, stream});
  if (i != claims_.end())
    erase(i);
}

size_t stream_claims::rest(uint32_t stream, steady_time until) {
  size_t out = 0;
  streams_[stream].rests_until = until;
  for (auto i = claims_.begin(); i != claims_.end();) {
    if (i->first.second != stream || i->second.confirmed) {
      ++i;
      continue;
    }
    i = erase(i);
    ++out;
  }
  return out;
}

bool stream_claims::forget(const atproto::did& repo) {
  auto out = false;
  for (auto i = claims_.lower_bound({repo, 0});
       i != claims_.end() && i->first.first == repo; i = erase(i))
    out |= i->second.heard.look_up || i->second.asks_anew;
  return out;
}

stream_claims::entries::iterator stream_claims::erase(entries::iterator i) {
  --streams_[i->first.second].claims;
  return claims_.erase(i);
}

} // namespace weir::actors
