#pragma once

#include "atproto/stamped_frame.hpp"
#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// DIDs that the stream of a PDS names, that nobody tracks, and of which the
/// SUPERVISOR is to say whether they are that host's: a PDS can name any number
/// of them. Until it has answered there is no second claim for the same one.
///
/// Frames of such a DID are finished at once, so what they say is remembered
/// here: that the document may be another one by now, and which rev the host
/// has. It goes with the addition.
///
/// Whoever is away is no newcomer: he is claimed when he comes back, or by the
/// listing.
///
/// # Limits
/// `limits::shard_claims_max` of each stream.
///
/// # Threads and ownership
/// Part of a ROUTER; no CAF or clock.
class stream_claims {
public:
  /// What frames said while nobody tracked the repo.
  struct news {
    bool look_up = false; ///< Its identity may have changed.
    atproto::tid least;   ///< The newest rev.
  };

  enum class step : uint8_t {
    ask,      ///< The SUPERVISOR.
    ask_anew, ///< And what is known of its document is not enough.
    wait,     ///< For its answer, or for nothing.
    drop,     ///< There is no room, or the stream rests.
  };

  /// A frame of a DID of which a claim waits.
  /// @returns false when none does.
  bool hear(const atproto::stamped_frame& x);

  /// A frame that discovers a DID of which none waits.
  step claim(const atproto::stamped_frame& x, steady_time now);

  /// The repo is that host's.
  /// @param anew The document was looked up after the claim, so the #identity
  ///        that made it needs no second look-up.
  /// @returns whether its addition is to begin, by `begin`.
  bool confirm(uint32_t stream, const atproto::did& repo, bool anew);

  /// None: there is nothing to add any more.
  std::optional<news> begin(uint32_t stream, const atproto::did& repo);

  /// It is not. @returns the position of the frame that said so.
  std::optional<position> fail(uint32_t stream, const atproto::did& repo);

  void drop(uint32_t stream, const atproto::did& repo);

  /// All of the stream that are not confirmed, and what it claims until then.
  /// @returns how many
  size_t rest(uint32_t stream, steady_time until);

  /// The repo is added for another reason.
  /// @returns whether its identity may have changed.
  bool forget(const atproto::did& repo);

  size_t size() const noexcept { return claims_.size(); }

private:
  struct entry {
    position at;
    news heard;
    bool asks_anew = false; ///< The frame that claimed it said so.
    bool away = false;      ///< As its host said last.
    bool confirmed = false;
  };

  struct stream_state {
    size_t claims = 0;
    std::optional<steady_time> rests_until;
  };

  using entries = std::map<std::pair<atproto::did, uint32_t>, entry>;

  static void read(const atproto::stamped_frame& x, entry& into);
  entries::iterator erase(entries::iterator i);

  entries claims_;
  std::unordered_map<uint32_t, stream_state> streams_;
};

} // namespace weir::actors
