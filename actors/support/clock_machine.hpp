#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace weir::actors {

/// The meaning of a rev that is later than our clock.
enum class clock_verdict : uint8_t {
  undecided, ///< Too few signers were received on its stream.
  right,     ///< Most signers are not ahead: the rev is wrong.
  /// Most signers are ahead: the clock is suspect, and the rev waits.
  suspect,
  /// It is still suspect, but signers are received: waiting frames make room.
  hearing,
};

/// Whether the rev waits.
constexpr bool is_suspect(clock_verdict x) noexcept {
  return x == clock_verdict::suspect || x == clock_verdict::hearing;
}

struct clock_state {
  bool suspect = false;
  bool holds = false; ///< Intake is stopped.
  /// How far, about, it was behind when it became suspect.
  std::chrono::microseconds behind{0};
  /// Number of times the clock was set forward: revs that were later than it
  /// may no longer be.
  uint64_t corrections = 0;
  /// How far the directory's clock is ahead of ours, when its last recent
  /// answer shows that one of the two is wrong.
  std::optional<std::chrono::microseconds> directory_ahead = std::nullopt;
};

/// The rev of a commit whose signature is valid.
struct signed_rev {
  /// Its stream; for a fetch, the stream that accounts for the repo.
  uint32_t upstream = 0;
  bool relay = false;
  uint64_t host = 0;   ///< Hash of the account's PDS.
  uint64_t signer = 0; ///< Hash of the DID.
  wall_time rev;
};

/// Judges whether the wall clock is behind, by the revs of those who sign
/// commits: one wrong clock is likelier than many. No clock, threads or I/O in
/// here.
///
/// Hosts have votes, not accounts, because a host can make any number of
/// accounts. A host votes "behind" when three of four of its signers in the
/// last minute have revs later than our clock. A stream votes "behind" when
/// three of four of its hosts do, with at least `clock_signers_min` signers.
/// The clock is suspect when most streams with votes say "behind". A relay
/// needs two hosts. The stream of one PDS has one host, so such streams must be
/// most of all streams, silent or not.
///
/// Streams with too few signers of their own are judged together, like one more
/// stream of at least two hosts that have no vote elsewhere. Its hosts must be
/// most of all streams, or at least `clock_small_hosts_min`.
///
/// Hosts are cheap, too. So the directory has a veto: while the date of its
/// last answer agrees with our clock, no number of signers makes it suspect.
///
/// A suspect clock stops intake for a minute. Then signers are received anew:
/// they stop intake for another minute, or end the suspicion. One that is not
/// confirmed for long ends as well, and at once when the wall clock is set to
/// what the signers showed.
///
/// Old revs show nothing, because streams are read from the past. A clock that
/// is ahead does no harm here, because old revs are legal.
class clock_machine {
public:
  /// @param salt Random, so that nobody can choose DIDs that fill the sample.
  void begin(uint64_t salt, size_t streams) noexcept {
    salt_ = salt;
    streams_ = streams;
  }

  void on_signed(const signed_rev& x, steady_time now, wall_time wall);

  /// The directory answered, at `date` by its clock. Only an answer that TLS
  /// proves can vouch for our clock; any answer can show a difference.
  void on_directory(wall_time date, bool is_proved, steady_time now,
                    wall_time wall);

  void on_timer(steady_time now, wall_time wall);

  /// After the clock was set, the earlier evidence does not count.
  clock_verdict verdict(uint32_t upstream, steady_time now,
                        wall_time wall) const;

  clock_state state(steady_time now, wall_time wall) const noexcept;

private:
  /// A clock's distance from the steady clock: its time when the steady clock
  /// shows 0.
  using offset = int64_t; // Microseconds.

  struct heard_signer {
    uint64_t rank = 0; ///< Salted hash; the lowest are kept.
    steady_time at;
    offset clock = 0; ///< Clock of the signer.
    bool ahead = false;
  };

  struct heard_host {
    uint64_t rank = 0;
    std::vector<heard_signer> signers;
  };

  struct stream {
    bool relay = false;
    size_t hosts_min = 1;
    std::vector<heard_host> hosts;
  };

  struct tally {
    size_t heard = 0; ///< Number of signers or hosts.
    size_t ahead = 0;

    bool most_ahead() const noexcept {
      return heard > 0 && ahead * 4 >= heard * 3;
    }
  };

  struct votes {
    tally signers;
    tally hosts;
    size_t hosts_min = 1;

    bool enough() const noexcept {
      return signers.heard >= limits::clock_signers_min
             && hosts.heard >= hosts_min;
    }
    bool says_behind() const noexcept {
      return signers.ahead >= limits::clock_signers_min
             && hosts.ahead >= hosts_min && hosts.most_ahead();
    }
  };

  bool holds() const noexcept { return suspect_ && hold_until_; }
  static tally count(const heard_host& x, steady_time now);
  static votes count(const stream& x, steady_time now);
  bool is_vouched_for(steady_time now, wall_time wall) const noexcept;
  bool was_set(steady_time now, wall_time wall) const noexcept;
  void note_time(steady_time now, wall_time wall);
  static void remember(stream& to, uint64_t host, const heard_signer& x);
  stream small_streams(steady_time now) const;
  void judge(steady_time now, wall_time wall);
  void suspect(const stream& small, steady_time now);
  void call_witnesses(const stream& x, steady_time now);
  void trust();

  uint64_t salt_ = 0;
  size_t streams_ = 0;
  std::map<uint32_t, stream> heard_;
  std::optional<offset> our_clock_;
  struct witness {
    offset clock = 0;
    steady_time at;
  };
  std::optional<witness> directory_; ///< The last answer that TLS proves.
  std::optional<witness> date_; ///< Of the directory's last answer.
  bool suspect_ = false;
  std::optional<steady_time> hold_until_;
  steady_time heard_until_; ///< Suspect until then, or until confirmed.
  std::vector<offset> witnesses_; ///< Clocks of signers later than ours.
  std::chrono::microseconds behind_{0};
  uint64_t corrections_ = 0;
};

} // namespace weir::actors
