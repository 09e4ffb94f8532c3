#pragma once

#include "actors/supervisor/fetch_lane.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/supervisor_options.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// The lanes of the repos that want a fetch: hosts in turn, and by age within a
/// host. Decides which repo is looked up next, which one gets a permit, and
/// what is remembered of hosts. `fetch_queue` puts the repos into their lanes.
///
/// # Limits
/// At most `preparing_max` repos without a known host wait for look-ups, and as
/// many others are looked up or wait for a permit, each host with its share. So
/// a slow look-up never delays repos that need none.
///
/// A host whose last try ended without an answer is `silent`: while others
/// wait, silent hosts have only a part of the permits and places
/// (`fetch_silent_part`). Another part (`fetch_answering_part`) is kept from
/// untried hosts while hosts wait that answered the last time.
class fetch_lanes {
public:
  explicit fetch_lanes(const supervisor_options& options)
    : options_(options) {}

  fetch_lanes(const fetch_lanes&) = delete;
  fetch_lanes& operator=(const fetch_lanes&) = delete;

  // -- who is in a lane -------------------------------------------------------

  /// @param name Of a host, or else of the place that answers the look-up.
  void join(fetch_entry& x, const std::string& name, bool is_host);

  /// @pre it is in no stage
  void part(fetch_entry& x, steady_time now) {
    auto& lane = *std::exchange(x.lane, nullptr);
    if (--lane.entries == 0)
      settle(lane, now);
  }

  void enter(fetch_entry& x, fetch_stage to);

  /// Takes the repo out of its stage; the caller puts it into the next one.
  void leave(fetch_entry& x);

  /// Whether the lane has less than its share of the queue.
  bool fits(const std::string& name) const {
    const auto i = lanes_.find(name);
    return i == lanes_.end()
           || i->second.queued_count < fair_share(options_.queue_max);
  }

  /// The last repo of a lane with more than its share of the queue.
  fetch_entry* excess();

  // -- whose turn it is -------------------------------------------------------

  /// The next repo whose host is looked up; it is `preparing` from now on.
  fetch_entry* next_to_prepare();

  /// Whether one more repo of this host finds a place to wait for a permit.
  bool may_be_ready(const fetch_lane& lane) const {
    return has_place(lane.kind)
           && lane.ready_count < fair_share(options_.preparing_max);
  }

  /// The next repo that gets a permit; it is `running` from now on.
  fetch_entry* next_to_start(steady_time now);

  // -- hosts ------------------------------------------------------------------

  /// @returns the lane of this name, for `settle` afterwards
  fetch_lane& lane_of_name(const std::string& name) {
    const auto i = lanes_.try_emplace(name).first;
    i->second.name = &i->first;
    return i->second;
  }

  void answered(fetch_lane& lane, steady_time now) {
    set_kind(lane, lane_kind::answering);
    lane.answered_at = now;
  }

  void fell_silent(fetch_lane& lane) { set_kind(lane, lane_kind::silent); }

  /// Remembers a host without repos when its state is worth remembering.
  void settle(fetch_lane& lane, steady_time now);

  /// Forgets hosts without repos after a while.
  void on_timer(steady_time now);

  // -- permits ----------------------------------------------------------------

  /// All permits are taken, and a host that has less than its share waits.
  bool starving(steady_time now) const;

  /// @returns how many hosts wait and have no permit while all are taken,
  /// except the silent ones.
  size_t without_permit() const;

  /// Permits of silent hosts while others wait.
  size_t silent_permits() const noexcept {
    return (options_.parallelism - 1) / limits::fetch_silent_part;
  }

  /// @returns, while all permits are taken, the waiting host with the fewest of
  /// those that have less than their share or gave none back lately.
  const fetch_lane* neediest(steady_time now) const;

  /// Keeps the last permit for a while from hosts that have their share and
  /// gave a permit back lately.
  void reserve(steady_time now) noexcept {
    reserved_until_ = now + limits::fetch_reserve_time;
  }

  /// @returns when a waiting host may have that last permit again.
  std::optional<steady_time> next_reserve_end(steady_time now) const {
    const auto waits = all_.ready_count > 0 && reserved_until_ > now;
    return waits ? std::optional{reserved_until_} : std::nullopt;
  }

  /// The permits that one host may have while others wait.
  size_t permit_share() const noexcept {
    return std::min(fair_share(options_.parallelism), options_.per_host);
  }

  size_t running() const noexcept { return all_.running; }
  size_t size() const noexcept { return lanes_.size(); }

private:
  static constexpr size_t permits = fetch_lane::priorities;

  /// The totals of all lanes of one kind.
  struct tally : fetch_counts {
    steady_time started; ///< When the last one got a permit.
  };

  /// Whether there are hosts of a kind for which others make room.
  struct better_hosts {
    bool answering = false;
    bool untried = false;
  };

  tally& of(lane_kind kind) { return tallies_[static_cast<size_t>(kind)]; }
  const tally& of(lane_kind kind) const {
    return tallies_[static_cast<size_t>(kind)];
  }

  void count(const fetch_entry& x, bool more);
  void count_queued(fetch_lane& lane, bool more);

  void forget(fetch_lane& lane) { lanes_.erase(lanes_.find(*lane.name)); }

  fetch_lane::turns& turns_of(const fetch_lane& lane, size_t seat) {
    return seat == permits ? permit_turns_
                           : turns_[static_cast<size_t>(lane.kind)][seat];
  }

  fetch_lane* next_lane(size_t priority);

  void sit(fetch_lane& lane, size_t seat) {
    auto& turns = turns_of(lane, seat);
    if (!lane.seats[seat])
      lane.seats[seat] = turns.insert(turns.end(), &lane);
  }

  void stand_up(fetch_lane& lane, size_t seat) {
    turns_of(lane, seat).erase(*std::exchange(lane.seats[seat], std::nullopt));
  }

  void pass_turn(fetch_lane& lane, size_t seat) {
    auto& turns = turns_of(lane, seat);
    turns.splice(turns.end(), turns, *lane.seats[seat]);
  }

  bool may_prepare(const fetch_lane& lane) const;
  bool has_place(lane_kind kind) const;
  size_t places_taken(bool of_hosts) const noexcept;
  void set_kind(fetch_lane& lane, lane_kind kind);
  better_hosts those_that_wait() const;
  better_hosts those_that_wait_or_run() const;
  bool is_held(const fetch_lane& lane, const better_hosts& others,
               steady_time now) const;

  supervisor_options options_;
  /// They stand before the lists, which refer to them.
  std::unordered_map<std::string, fetch_lane> lanes_;
  /// Lanes without entries; the oldest comes first.
  fetch_lane::turns remembered_;
  /// The turns of each kind and priority. They are separate so that no search
  /// goes through all lanes of a kind that has no free place.
  std::array<std::array<fetch_lane::turns, fetch_lane::priorities>, lane_kinds>
    turns_;
  fetch_lane::turns permit_turns_; ///< No more than there are places.
  /// Lanes with more than their share queued.
  std::vector<fetch_lane*> excessive_;
  std::array<tally, lane_kinds> tallies_;
  fetch_counts all_; ///< The totals of all lanes.
  /// The end of the reservation that `reserve` makes.
  steady_time reserved_until_;
  size_t waiting_lanes_ = 0; ///< Lanes with something queued.
  size_t picks_ = 0;
  /// New repos that were prepared in a row. The turn of the repos that were
  /// fetched before stays due until one of them takes it: otherwise, as hosts
  /// take turns, each eighth turn could always meet the same host, which has no
  /// such repo.
  size_t others_waited_ = 0;
};

} // namespace weir::actors
