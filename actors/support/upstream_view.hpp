#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"
#include "base/position.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weir::actors {

/// What others may know of one upstream without asking its actor.
struct upstream_view {
  uint32_t id = 0;
  std::string origin;
  bool relay = false;
  uint32_t epoch = 0;
  uint64_t first_cursor = 0; ///< Durable; 0 = unset.
  /// Its epoch is without a hole since its begin although no event of it came
  /// yet: the connection that began it is open. Durable.
  bool whole = false;
  bool connected = false;    ///< The stream is open; it may be silent.
  bool opened = false;       ///< It was, at some time since the start.
  steady_time opened_at{};   ///< This connection was.
  /// What happened before this connection was opened has come and is finished:
  /// it began from now on, or has rested long enough.
  bool caught_up = false;
  /// When nothing was on its way for the last time, on this connection.
  std::optional<steady_time> rested_at;
  bool read = true; ///< No shortage of ours keeps it from being read.
  bool live = false;         ///< Connected, no reset pending.
  uint64_t received = 0;     ///< Last seq received.
  uint64_t cursor = 0;       ///< Low-water mark.
  /// What changed before this moment has come and is finished, as most of the
  /// last frames say.
  wall_time passed{};
  wall_time told_until{}; ///< The same, as its row says: it was quiet then.
  std::optional<steady_time> quiet_since; ///< Nothing in flight since then.
  /// So long a silence means that all was told: longer, if what came last was late.
  std::chrono::microseconds quiet_min = limits::passed_quiet_min;
  /// While signers are heard on a doubted clock, frames up to this one do not
  /// wait for it: the window has no room for others. 0: it has.
  uint64_t gives_way = 0;
  std::string last_error; ///< Why it is not connected; from outside.
  /// Nobody reads it, again and again; `last_error` says so.
  bool stalls = false;

  /// Whether what its host knew at `at` would have come by now: a stream that
  /// lags behind, or is away, proves nothing by silence.
  bool told_all(wall_time at, steady_time now,
                std::chrono::microseconds grace) const noexcept {
    return connected
           && (passed >= at
               || (quiet_since
                   && now - *quiet_since >= std::max(grace, quiet_min)));
  }

  /// Whether a repo that looks whole is: the stream is live and read, what
  /// happened before it was opened has come, and it does not lag behind. Times of
  /// day are compared with the clock as it is now: it may have been wrong when
  /// the connection was opened.
  bool proves(steady_time now, wall_time wall) const noexcept {
    return live && !stalls && read && since_reset().defined()
           && has_caught_up(now, wall) && is_recent(now, wall);
  }

  /// Rested so long that nothing of before the connection is still to come; at
  /// first nothing comes at all from a server that begins its replay late.
  bool rested(steady_time now) const noexcept {
    return quiet_since
           && now - std::max(*quiet_since, opened_at)
                >= std::max(limits::catch_up_quiet_min, quiet_min);
  }

  bool has_caught_up(steady_time now, wall_time wall) const noexcept {
    return connected
           && (caught_up || rested(now)
               || passed >= wall + -(now - opened_at));
  }

  /// Nothing is on its way, or was some minutes ago, or what comes is of these
  /// minutes.
  bool is_recent(steady_time now, wall_time wall) const noexcept {
    return is_quiet(now) || passed >= wall + -limits::stream_lag_max
           || (rested_at && now - *rested_at <= limits::stream_lag_max);
  }

  bool is_quiet(steady_time now) const noexcept {
    return quiet_since && now - *quiet_since >= quiet_min;
  }

  /// How far behind the time of day it is, in seconds: 0 while it is quiet. Until
  /// anything says so: how long its connection is open.
  double staleness(wall_time wall, steady_time now,
                   std::chrono::microseconds grace) const noexcept {
    if (connected && quiet_since
        && now - *quiet_since >= std::max(grace, quiet_min))
      return 0;
    const auto told = std::max(passed, told_until);
    const auto behind = told == wall_time{}
                          ? (connected ? (now - opened_at).count() : 0)
                          : wall.micros - told.micros;
    return static_cast<double>(std::max<int64_t>(behind, 0)) / 1e6;
  }

  /// first_cursor_since_reset; undefined while unset. Without a number (`seq`
  /// 0) it is the begin of the epoch.
  position since_reset() const noexcept {
    return first_cursor == 0 && !whole ? position{}
                                       : position{id, epoch, first_cursor};
  }
};

/// Whether a node does not do its work when these fail: most of its streams, or
/// all of its relays, which carry whoever has no stream of their own.
template <class Predicate>
bool stops_work(const std::vector<upstream_view>& all, Predicate is_bad) {
  size_t bad = 0;
  size_t relays = 0;
  size_t bad_relays = 0;
  for (const auto& x : all) {
    const auto counts = is_bad(x) ? size_t{1} : size_t{0};
    bad += counts;
    if (x.relay) {
      ++relays;
      bad_relays += counts;
    }
  }
  return 2 * bad > all.size() || (relays > 0 && bad_relays == relays);
}

/// The current views of all upstreams: written by UPSTREAMs, read by REPOs and
/// the console. Any thread.
class upstream_board {
public:
  void put(const upstream_view& x);

  std::vector<upstream_view> all() const;

  /// The upstream by which a repo hosted at `pds` is accounted: the stream of
  /// that host, else the first relay. Exactly one (completeness.md, The terms).
  /// An id of 0 means that no stream carries the repo.
  upstream_view accounting_for(const std::string& pds) const;

  /// Whether what this upstream leaves out, or says so that nobody can read it,
  /// may be news of a repo hosted at `pds`: it is the stream of that host, or a
  /// relay while the host is not heard itself. So any number of upstreams may
  /// raise a doubt; unlike the accounting one they prove nothing.
  /// @param heard When given, the host is heard only by one of these; in any
  ///              case only by a stream that is connected.
  bool speaks_for(const std::string& pds, uint32_t upstream,
                  const std::set<uint32_t>* heard = nullptr) const;

  upstream_view find(uint32_t id) const;

  /// When a listing of it was compared for the last time, in Unix seconds; 0:
  /// never. Written by SUPERVISOR.
  void set_audited(uint32_t id, int64_t at);
  int64_t audited(uint32_t id) const;

  /// Whether the frame must not wait for a right clock.
  bool gives_way(const position& at) const;

private:
  mutable std::mutex mutex_;
  std::vector<upstream_view> views_; ///< In order of configuration.
  std::map<uint32_t, int64_t> audited_;
};

} // namespace weir::actors
