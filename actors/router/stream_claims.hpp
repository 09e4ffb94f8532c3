#pragma once

#include "actors/router/limits.hpp"
#include "atproto/stamped_frame.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// DIDs that the stream of a PDS names and that are not tracked. The SUPERVISOR
/// decides whether they are that host's accounts, since a PDS can name any
/// number of DIDs. Until it answers, the same DID is not claimed again.
///
/// The frames of such a DID are finished at once, so their content is
/// summarized here: whether the DID document may have changed, and the newest
/// rev of the host. The summary is passed on when the repo is added.
///
/// An account that is away is not claimed. It is claimed when it returns, or
/// found by the listing.
///
/// # Limits
/// Each stream has at most `limits::shard_claims_max` claims.
///
/// # Threads and ownership
/// Part of a ROUTER; no CAF or clock.
class stream_claims {
public:
  /// What frames stated while the repo was not tracked.
  struct news {
    bool look_up = false; ///< Its identity may have changed.
    atproto::tid least;   ///< The newest rev that a frame named.
  };

  enum class step : uint8_t {
    ask,      ///< Ask the SUPERVISOR.
    ask_anew, ///< The same, and the stored document does not suffice.
    wait,     ///< An answer is under way, or there is nothing to ask.
    drop,     ///< There is no room, or the stream rests.
  };

  /// Reads a frame whose DID is claimed by its stream.
  /// @returns false when there is no such claim.
  bool hear(const atproto::stamped_frame& x) {
    const auto i = claims_.find({x.repo, x.at.upstream});
    if (i == claims_.end())
      return false;
    read(x, i->second);
    return true;
  }

  /// Claims the DID of a frame that discovers it, when the stream does not
  /// claim it yet.
  step claim(const atproto::stamped_frame& x, steady_time now) {
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

  /// The SUPERVISOR decided that the repo is that host's.
  /// @param anew The document was looked up after the claim, so the #identity
  ///        frame that made the claim needs no second look-up.
  /// @returns whether the repo is to be added, by `begin`.
  bool confirm(uint32_t stream, const atproto::did& repo, bool anew) {
    const auto i = claims_.find({repo, stream});
    if (i == claims_.end())
      return false;
    auto& x = i->second;
    x.confirmed = true;
    x.heard.look_up |= std::exchange(x.asks_anew, false) && !anew;
    return true;
  }

  /// @returns none when there is nothing to add any more.
  std::optional<news> begin(uint32_t stream, const atproto::did& repo) {
    const auto known = take(stream, repo);
    return known && !known->away ? std::optional{known->heard} : std::nullopt;
  }

  /// The SUPERVISOR decided that the repo is not that host's (`failed`), or not
  /// at all. A PDS is charged for names that are not its own, as for bad
  /// frames.
  /// @returns the position of the frame for which the PDS is charged
  std::optional<position> drop(uint32_t stream, const atproto::did& repo,
                               bool failed) {
    const auto known = take(stream, repo);
    return known && failed ? std::optional{known->at} : std::nullopt;
  }

  /// Drops all claims of the stream that are not confirmed, and its new claims
  /// until `until`.
  /// @returns the number of dropped claims
  size_t rest(uint32_t stream, steady_time until) {
    auto& from = streams_[stream];
    from.rests_until = until;
    const auto out = std::erase_if(claims_, [stream](const auto& x) {
      return x.first.second == stream && !x.second.confirmed;
    });
    from.claims -= out;
    return out;
  }

  /// The repo is added for another reason.
  /// @returns whether its identity may have changed.
  bool forget(const atproto::did& repo) {
    auto out = false;
    for (auto i = claims_.lower_bound({repo, 0});
         i != claims_.end() && i->first.first == repo; i = erase(i))
      out |= i->second.heard.look_up || i->second.asks_anew;
    return out;
  }

  size_t size() const noexcept { return claims_.size(); }

private:
  struct entry {
    position at;
    news heard;
    bool asks_anew = false; ///< Its first frame required a new look-up.
    bool away = false;      ///< The last thing that its host stated.
    bool confirmed = false;
  };

  struct stream_state {
    size_t claims = 0;
    std::optional<steady_time> rests_until;
  };

  using entries = std::map<std::pair<atproto::did, uint32_t>, entry>;

  static void read(const atproto::stamped_frame& x, entry& into) {
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

  std::optional<entry> take(uint32_t stream, const atproto::did& repo) {
    const auto i = claims_.find({repo, stream});
    if (i == claims_.end())
      return std::nullopt;
    const auto out = i->second;
    erase(i);
    return out;
  }

  entries::iterator erase(entries::iterator i) {
    --streams_[i->first.second].claims;
    return claims_.erase(i);
  }

  entries claims_;
  std::unordered_map<uint32_t, stream_state> streams_;
};

} // namespace weir::actors
