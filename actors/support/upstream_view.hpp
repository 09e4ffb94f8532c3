#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"
#include "base/position.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weir::actors {

/// What other actors can know about one upstream without asking its actor.
struct upstream_view {
  uint32_t id = 0;
  std::string origin;
  bool relay = false;
  uint32_t epoch = 0;
  uint64_t first_cursor = 0; ///< The durable one; 0: unset.
  /// The epoch has no hole since its begin, although no event of it came yet:
  /// the connection that began it is still open. Durable.
  bool whole = false;
  bool connected = false; ///< The stream is open, but may be silent.
  bool opened = false;    ///< The stream was open at some time since the start.
  steady_time opened_at{}; ///< Begin of this connection.
  /// Everything that happened before this connection opened has arrived and is
  /// finished: the stream began with new events only, or has rested long
  /// enough.
  bool caught_up = false;
  /// The last time when nothing was in flight on this connection.
  std::optional<steady_time> rested_at;
  /// No shortage of this node keeps the stream from being read.
  bool read = true;
  /// A write to a store of this node hangs, so what arrived is not finished.
  bool unwritten = false;
  bool live = false;     ///< Connected, no reset pending.
  uint64_t received = 0; ///< Last seq received.
  uint64_t cursor = 0;   ///< Low-water mark.
  /// Everything that changed before this moment has arrived and is finished, as
  /// most of the last frames show.
  wall_time passed{};
  /// The same moment as stored in its row, from a time when the stream was
  /// quiet.
  wall_time sent_until{};
  std::optional<steady_time> quiet_since; ///< Since when nothing is in flight.
  /// A silence of this length means that everything was delivered; it is longer
  /// when the last frames came late.
  std::chrono::microseconds quiet_min = limits::passed_quiet_min;
  /// While signers are received on a suspect clock, frames up to this seq do
  /// not wait for the clock, because the window is full. 0: the window has
  /// room.
  uint64_t gives_way = 0;
  std::string last_error; ///< Why it is not connected; text from outside.
  /// Its socket is repeatedly not read, or its frames are `unreadable`;
  /// `last_error` says so.
  bool stalls = false;
  bool unreadable = false;

  /// Whether everything that its host knew at `at` has arrived by now. The
  /// silence of a stream that lags behind or is not connected proves nothing.
  bool sent_all(wall_time at, steady_time now,
                std::chrono::microseconds grace) const noexcept {
    return connected && (passed >= at || is_quiet(now, grace));
  }

  /// Whether a repo that looks whole is whole: the stream is live, read and
  /// written, everything from before the connection has arrived, and the stream
  /// does not lag behind. Wall times are compared with the clock as it is now,
  /// because it may have been wrong when the connection opened.
  bool proves(steady_time now, wall_time wall) const noexcept {
    return live && !stalls && read && !unwritten && since_reset().defined()
           && has_caught_up(now, wall) && is_recent(now, wall);
  }

  /// Whether the stream rested so long that nothing from before the connection
  /// is still to come. A server that begins its replay late sends nothing at
  /// first.
  bool rested(steady_time now) const noexcept {
    return quiet_since
           && now - std::max(*quiet_since, opened_at)
                >= std::max(limits::catch_up_quiet_min, quiet_min);
  }

  bool has_caught_up(steady_time now, wall_time wall) const noexcept {
    return connected
           && (caught_up || rested(now) || passed >= wall + -(now - opened_at));
  }

  /// Whether nothing is in flight now, or was some minutes ago, or the arriving
  /// frames are at most some minutes old.
  bool is_recent(steady_time now, wall_time wall) const noexcept {
    return is_quiet(now) || passed >= wall + -limits::stream_lag_max
           || (rested_at && now - *rested_at <= limits::stream_lag_max);
  }

  bool is_quiet(steady_time now,
                std::chrono::microseconds grace = {}) const noexcept {
    return quiet_since && now - *quiet_since >= std::max(grace, quiet_min);
  }

  /// How far the stream is behind the wall clock, in seconds: 0 while it is
  /// quiet. Before any frame shows it: the age of the connection.
  double staleness(wall_time wall, steady_time now,
                   std::chrono::microseconds grace) const noexcept {
    if (connected && is_quiet(now, grace))
      return 0;
    const auto delivered = std::max(passed, sent_until);
    const auto behind = delivered == wall_time{}
                          ? (connected ? (now - opened_at).count() : 0)
                          : wall.micros - delivered.micros;
    return static_cast<double>(std::max<int64_t>(behind, 0)) / 1e6;
  }

  /// The position since which the stream has no gap (docs/completeness.md, The
  /// terms); undefined while there is none. `seq` 0: the epoch's beginning.
  position since_reset() const noexcept {
    return first_cursor == 0 && !whole ? position{}
                                       : position{id, epoch, first_cursor};
  }
};

/// Whether a node does not do its work when these streams fail: most of its
/// streams, or all of its relays, which carry the repos that have no stream of
/// their own.
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

/// The current views of all upstreams. UPSTREAMs write them. Any thread.
class upstream_board {
public:
  void put(const upstream_view& x) {
    const std::lock_guard guard{mutex_};
    const auto i = std::ranges::find(views_, x.id, &upstream_view::id);
    if (i == views_.end())
      views_.push_back(x);
    else
      *i = x;
  }

  std::vector<upstream_view> all() const {
    const std::lock_guard guard{mutex_};
    return views_;
  }

  /// The upstream that accounts for a repo hosted at `pds`: the stream of that
  /// host, otherwise the first relay. Exactly one (completeness.md, The terms).
  /// An id of 0 means that no stream carries the repo.
  upstream_view accounting_for(const std::string& pds) const {
    const std::lock_guard guard{mutex_};
    const upstream_view* best = nullptr;
    for (const auto& x : views_)
      if (!x.relay && x.origin == pds) {
        best = &x;
        break;
      } else if (x.relay && best == nullptr) {
        best = &x;
      }
    auto out = best == nullptr ? upstream_view{} : *best;
    out.unwritten = write_hangs_;
    return out;
  }

  /// NODE's health watch says whether a write to a store hangs.
  void set_write_hangs(bool x) {
    const std::lock_guard guard{mutex_};
    write_hangs_ = x;
  }

  /// Whether a gap in this upstream, or a frame of it that cannot be read, may
  /// concern a repo hosted at `pds`: the upstream is the stream of that host,
  /// or a relay while the host's own stream is not received. So several
  /// upstreams may show a gap; only the accounting one proves anything.
  /// @param heard When given, only these streams count as the host's own; in
  /// any case the stream must be connected.
  bool speaks_for(const std::string& pds, uint32_t upstream,
                  const std::set<uint32_t>* heard = nullptr) const {
    const std::lock_guard guard{mutex_};
    auto speaks = false;
    for (const auto& x : views_) {
      if (!x.relay && x.origin == pds
          && (x.id == upstream
              || (x.connected && (heard == nullptr || heard->count(x.id) > 0))))
        return x.id == upstream;
      speaks |= x.relay && x.id == upstream;
    }
    return speaks;
  }

  upstream_view find(uint32_t id) const {
    const std::lock_guard guard{mutex_};
    const auto i = std::ranges::find(views_, id, &upstream_view::id);
    return i == views_.end() ? upstream_view{} : *i;
  }

  /// @param at When a listing of the upstream was last compared, in Unix
  /// seconds; 0: never. SUPERVISOR calls this.
  void set_audited(uint32_t id, int64_t at) {
    const std::lock_guard guard{mutex_};
    audited_[id] = at;
  }

  int64_t audited(uint32_t id) const {
    const std::lock_guard guard{mutex_};
    const auto i = audited_.find(id);
    return i == audited_.end() ? 0 : i->second;
  }

  /// Whether the frame must not wait for a correct clock.
  bool gives_way(const position& at) const {
    const std::lock_guard guard{mutex_};
    return std::ranges::any_of(views_, [&](const auto& x) {
      return x.id == at.upstream && x.gives_way != 0
             && (at.epoch != x.epoch || at.seq <= x.gives_way);
    });
  }

private:
  mutable std::mutex mutex_;
  std::vector<upstream_view> views_; ///< In the order of the configuration.
  std::map<uint32_t, int64_t> audited_;
  bool write_hangs_ = false;
};

} // namespace weir::actors
