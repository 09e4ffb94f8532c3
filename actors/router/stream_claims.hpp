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

/// DIDs that the stream of a PDS names and that are not tracked. The SUPERVISOR
/// decides whether they are that host's accounts, since a PDS can name any
/// number of DIDs. Until it has answered, the same DID is not claimed a second
/// time.
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
  bool hear(const atproto::stamped_frame& x);

  /// Claims the DID of a frame that discovers it, when the stream does not
  /// claim it yet.
  step claim(const atproto::stamped_frame& x, steady_time now);

  /// The SUPERVISOR decided that the repo is that host's.
  /// @param anew The document was looked up after the claim, so the #identity
  ///        frame that made the claim needs no second look-up.
  /// @returns whether the repo is to be added, by `begin`.
  bool confirm(uint32_t stream, const atproto::did& repo, bool anew);

  /// @returns none when there is nothing to add any more.
  std::optional<news> begin(uint32_t stream, const atproto::did& repo);

  /// The SUPERVISOR decided that the repo is not that host's.
  /// @returns the position of the frame that made the claim.
  std::optional<position> fail(uint32_t stream, const atproto::did& repo);

  void drop(uint32_t stream, const atproto::did& repo);

  /// Drops all claims of the stream that are not confirmed, and its new claims
  /// until `until`.
  /// @returns the number of dropped claims
  size_t rest(uint32_t stream, steady_time until);

  /// The repo is added for another reason.
  /// @returns whether its identity may have changed.
  bool forget(const atproto::did& repo);

  size_t size() const noexcept { return claims_.size(); }

private:
  struct entry {
    position at;
    news heard;
    bool asks_anew = false; ///< Its first frame required a new look-up.
    bool away = false;      ///< As its host stated last.
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
