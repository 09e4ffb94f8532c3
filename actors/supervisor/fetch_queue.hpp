#pragma once

#include "actors/supervisor/fetch_lane.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/supervisor_options.hpp"
#include "actors/supervisor/work_scan.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// The repos that wait for a fetch, and which is next: never fetched before out
/// of sync before failed (actors.md, Who is fetched next), hosts in turn, and
/// by age within a host.
///
/// # Limits
/// The queue has `queue_max` repos. A repo that waits for its time gives its
/// place to one that is due, and a repo of a host with more than its share
/// gives it to one of another host. Repos that do not fit are left to `scan`.
/// At most `preparing_max` repos without a known host wait for look-ups, and as
/// many others are looked up or wait for a permit, each host with its share. So
/// a slow look-up never delays repos that need none.
///
/// A host whose last try ended without an answer is `silent`: while others
/// wait, silent hosts have only a part of the permits and places
/// (`fetch_silent_part`). Another part (`fetch_answering_part`) is kept from
/// hosts that were not tried lately while hosts wait that answered the last
/// time.
class fetch_queue {
public:
  explicit fetch_queue(const supervisor_options& options) : options_(options) {}

  fetch_queue(const fetch_queue&) = delete;
  fetch_queue& operator=(const fetch_queue&) = delete;

  /// An event made the repo want a fetch. If its host is being looked up, or it
  /// waits for a permit, the present fetch satisfies the wish. If it has a
  /// permit, the wish was made before the permit reached the REPO, since a REPO
  /// gives its permit back before it wishes again.
  /// @param pds Its host as far as it is known.
  void wish(const atproto::did& repo, storage::repo_status status,
            const std::string& pds, steady_time due, steady_time now);

  /// The scan found that the repo wants a fetch. A repo that is already in
  /// memory keeps its newer state.
  /// @param quiet Only a scan that looks for quiet work finds it again.
  void found(const atproto::did& repo, storage::repo_status status,
             const std::string& pds, steady_time due, steady_time now,
             bool quiet = false);

  fetch_entry* find(const atproto::did& repo) {
    const auto i = entries_.find(repo);
    return i == entries_.end() ? nullptr : &i->second;
  }

  /// Removes the repo, and then adds it again if it has a later wish.
  void finish(fetch_entry& x, steady_time now);

  /// The host was found. The repo then waits for a permit, for a place to wait
  /// for one, or for the end of the host's rest.
  void set_host(fetch_entry& x, std::shared_ptr<const identity_answer> identity,
                steady_time now);

  /// The next repo whose host is looked up; it is `preparing` from now on.
  fetch_entry* next_to_prepare();

  /// The next repo that gets a permit; it is `running` from now on.
  fetch_entry* next_to_start(steady_time now);

  /// @returns the lane of a host, for `settle` afterwards
  fetch_lane& host(const std::string& pds);

  void rest(fetch_lane& lane, std::chrono::seconds wait, steady_time now);

  void answered(fetch_lane& lane, steady_time now) {
    set_kind(lane, lane_kind::answering);
    lane.answered_at = now;
  }

  void fell_silent(fetch_lane& lane) { set_kind(lane, lane_kind::silent); }

  /// Remembers a host without repos when its state is worth remembering.
  void settle(fetch_lane& lane, steady_time now);

  void on_timer(steady_time now);

  /// All permits are taken, and a host that has less than its share waits.
  bool starving(steady_time now) const;

  /// While all permits are taken: the hosts that wait and have none, except the
  /// silent ones.
  size_t without_permit() const;

  /// Permits of silent hosts while others wait.
  size_t silent_permits() const noexcept {
    return (options_.parallelism - 1) / limits::fetch_silent_part;
  }

  /// While all permits are taken: the waiting host with the fewest permits, of
  /// those that have less than their share or gave none back lately.
  const fetch_lane* neediest(steady_time now) const;

  /// Keeps the last permit for a while from hosts that have their share and
  /// gave a permit back lately.
  void reserve(steady_time now) noexcept {
    reserved_until_ = now + limits::fetch_reserve_time;
  }

  /// When a waiting host may have that last permit again.
  std::optional<steady_time> next_reserve_end(steady_time now) const;

  /// The permits that one host may have while others wait.
  size_t permit_share() const noexcept {
    return std::min(fair_share(options_.parallelism), options_.per_host);
  }

  /// The next time at which a host's rest ends for which repos wait, or a wait
  /// ends that is too short for the scan.
  std::optional<steady_time> next_wake_up() const;

  size_t size() const noexcept { return entries_.size(); }
  size_t due() const noexcept { return entries_.size() - alarms_.size(); }
  size_t running() const noexcept { return running_; }
  size_t lanes() const noexcept { return lanes_.size(); }

  work_scan scan;

private:
  using entry_map = std::unordered_map<atproto::did, fetch_entry>;
  static constexpr size_t permits = fetch_lane::priorities;

  /// The totals of all lanes of one kind.
  struct tally {
    size_t preparing = 0;
    size_t ready = 0;
    size_t running = 0;
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

  void add(const atproto::did& repo, storage::repo_status status,
           const std::string& pds, steady_time due, steady_time now,
           bool displaces);
  bool make_room(const std::string& lane, steady_time due, steady_time now,
                 bool displaces);
  void erase(fetch_entry& x, steady_time now);
  void place(fetch_entry& x, steady_time due, steady_time now);
  void enter(fetch_entry& x, fetch_stage to);
  void leave(fetch_entry& x);
  void count(const fetch_entry& x, bool more);
  void count_queued(fetch_lane& lane, bool more);
  void join(fetch_entry& x, const std::string& name, bool host);
  void move(fetch_entry& x, const std::string& pds, steady_time now);
  void part(fetch_entry& x, steady_time now);

  void forget(fetch_lane& lane) { lanes_.erase(lanes_.find(*lane.name)); }

  fetch_lane::turns& turns_of(const fetch_lane& lane, size_t seat) {
    return seat == permits ? permit_turns_
                           : turns_[static_cast<size_t>(lane.kind)][seat];
  }

  fetch_lane* next_lane(size_t priority);
  void sit(fetch_lane& lane, size_t seat);

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
  bool wants_places(lane_kind kind) const;
  void set_kind(fetch_lane& lane, lane_kind kind);
  better_hosts those_that_wait() const;
  better_hosts those_that_wait_or_run() const;
  bool is_held(const fetch_lane& lane, const better_hosts& others,
               steady_time now) const;

  void wake(steady_time now) {
    while (!alarms_.empty() && alarms_.begin()->first <= now)
      place(*alarms_.begin()->second, now, now);
  }

  supervisor_options options_;
  /// Before the entries and lists, which refer to them.
  std::unordered_map<std::string, fetch_lane> lanes_;
  /// Lanes without entries; the oldest comes first.
  fetch_lane::turns remembered_;
  /// The turns of each kind and priority. They are separate so that no search
  /// goes through all lanes of a kind that has no free place.
  std::array<std::array<fetch_lane::turns, fetch_lane::priorities>, lane_kinds>
    turns_;
  fetch_lane::turns permit_turns_; ///< No more than there are places.
  /// Lanes with more than their share queued.
  std::vector<fetch_lane*> crowded_;
  fetch_entry::alarms alarms_;
  entry_map entries_;
  std::set<steady_time> wake_ups_; ///< See `next_wake_up`.
  std::array<tally, lane_kinds> tallies_;
  size_t ready_count_ = 0;
  size_t running_ = 0;
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
