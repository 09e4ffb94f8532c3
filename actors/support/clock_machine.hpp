#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace weir::actors {

/// What a rev beyond our clock means.
enum class clock_verdict : uint8_t {
  undecided, ///< Too few signers were heard on its stream.
  right,     ///< Most signers are not beyond: the rev is at fault.
  doubted,   ///< Most are: the clock is, and the rev waits.
  hearing,   ///< So it is, and others are being heard: who waits makes room.
};

/// The rev waits.
constexpr bool is_doubt(clock_verdict x) noexcept {
  return x == clock_verdict::doubted || x == clock_verdict::hearing;
}

/// How the clock stands.
struct clock_state {
  bool doubted = false;
  bool holds = false; ///< Nothing is to be read.
  /// How far it was behind as the doubt began, about.
  std::chrono::microseconds behind{0};
  /// How often it was set forward: what was beyond it may no longer be.
  uint64_t corrections = 0;
  /// How far the directory's clock is ahead of ours, when its last answer of
  /// late shows that one of them is wrong.
  std::optional<std::chrono::microseconds> directory_ahead = std::nullopt;
};

/// The rev of a commit whose signature holds.
struct signed_rev {
  uint32_t upstream = 0; ///< Its stream; of a fetch the one that accounts.
  bool relay = false;
  uint64_t host = 0;   ///< Hash of the account's PDS.
  uint64_t signer = 0; ///< Hash of the DID.
  wall_time rev;
};

/// Whether the wall clock is behind: judged by those who sign commits, since
/// one wrong clock is likelier than many. No clock, threads or I/O in here.
///
/// Hosts have votes, not accounts, of which a host can make any number: a host
/// says that our clock is behind when three of four of its signers that were
/// heard within a minute are beyond it, a stream when three of four of its
/// hosts say so, with `clock_signers_min` signers. The node's clock is doubted
/// when most streams that were heard say so. Of a relay it takes two hosts; the
/// stream of one PDS has one, so that needs most of all streams, heard or not.
///
/// Streams with too few signers of their own are judged together, as if they
/// were one more, of two hosts at least that have no vote elsewhere. Its hosts
/// must be most of all streams, or `clock_small_hosts_min`.
///
/// Hosts are cheap, too. So the directory has a veto: while the date of its
/// last answer agrees with our clock, no number of signers raises a doubt.
///
/// Intake holds for a minute then. Afterwards signers are heard anew, which
/// holds it for another, or ends the doubt; so it ends when nobody repeats it
/// for long. The doubt ends at once when the wall clock is set to what the
/// signers said.
///
/// Old revs say nothing: streams are read from the past. A clock that is ahead
/// does no harm here: revs of the past are legal.
class clock_machine {
public:
  /// @param salt Random: nobody can choose DIDs that fill the sample.
  void begin(uint64_t salt, size_t streams) noexcept {
    salt_ = salt;
    streams_ = streams;
  }

  void on_signed(const signed_rev& x, steady_time now, wall_time wall);

  /// The directory answered, at `date` by its clock. Only where TLS proves who
  /// said so does it vouch for our clock; that it differs, any may say.
  void on_directory(wall_time date, bool is_proved, steady_time now,
                    wall_time wall);

  void on_timer(steady_time now, wall_time wall);

  /// A clock that was set since it was last heard of has no evidence yet.
  clock_verdict verdict(uint32_t upstream, steady_time now,
                        wall_time wall) const;

  clock_state state(steady_time now, wall_time wall) const noexcept;

private:
  /// A clock's distance from the steady one: what it shows while ours says 0.
  using offset = int64_t; // microseconds

  struct heard_signer {
    uint64_t rank = 0; ///< Salted hash; the lowest are kept.
    steady_time at;
    offset clock = 0; ///< Of the signer.
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
    size_t heard = 0; ///< Signers.
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

  bool holds() const noexcept { return doubted_ && hold_until_; }
  static tally count(const heard_host& x, steady_time now);
  static votes count(const stream& x, steady_time now);
  bool is_vouched_for(steady_time now, wall_time wall) const noexcept;
  bool was_set(steady_time now, wall_time wall) const noexcept;
  void note_time(steady_time now, wall_time wall);
  static void remember(stream& to, uint64_t host, const heard_signer& x);
  stream small_streams(steady_time now) const;
  void judge(steady_time now, wall_time wall);
  void doubt(const stream& small, steady_time now);
  void call_witnesses(const stream& x, steady_time now);
  void end_doubt();

  uint64_t salt_ = 0;
  size_t streams_ = 0;
  std::map<uint32_t, stream> heard_;
  std::optional<offset> our_clock_;
  struct witness {
    offset clock = 0;
    steady_time at;
  };
  std::optional<witness> directory_; ///< The last one that TLS proves.
  std::optional<witness> told_;      ///< The last one.
  bool doubted_ = false;
  std::optional<steady_time> hold_until_;
  steady_time heard_until_;       ///< Unless somebody repeats the doubt.
  std::vector<offset> witnesses_; ///< Of those who were beyond.
  std::chrono::microseconds behind_{0};
  uint64_t corrections_ = 0;
};

} // namespace weir::actors
