#pragma once

#include "actors/supervisor/fetch_lane.hpp"
#include "actors/supervisor/supervisor_options.hpp"
#include "actors/supervisor/work_scan.hpp"

#include <set>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// The repos that wait for a fetch, and who is next: never fetched before out
/// of sync before failed (actors.md, Who is fetched next), hosts in turn, by
/// age in each.
///
/// # Limits
/// `queue_max` repos. Those that wait for their time give their places to
/// those that are due, and repos of a host that has more than its share to
/// those of another; what does not fit is left to `scan`. `preparing_max`
/// repos whose hosts nobody knows wait for look-ups, and as many others are
/// asked or wait for a permit, of one host its share: no look-up, however long
/// it takes, holds up those that need none.
///
/// Hosts whose last try ended without an answer are `silent`: permits and
/// places leave them a part (`fetch_silent_part`) while others wait. Of what
/// is left, another (`fetch_answering_part`) is kept from those that were not
/// tried while hosts wait that answered the last time.
class fetch_queue {
public:
  explicit fetch_queue(const supervisor_options& options);

  fetch_queue(const fetch_queue&) = delete;
  fetch_queue& operator=(const fetch_queue&) = delete;

  /// An event made it want a fetch. While its host is looked up, or it waits for
  /// a permit, that is the fetch; and one that has a permit wished before that
  /// reached it, since it gives the permit back before it wishes again.
  /// @param pds Its host as far as it is known.
  void wish(const atproto::did& repo, storage::repo_status status,
            const std::string& pds, steady_time due, steady_time now);

  /// The scan found that it wants one. What is in memory knows better.
  /// @param quiet Only a scan that looks for quiet work finds it again.
  void found(const atproto::did& repo, storage::repo_status status,
             const std::string& pds, steady_time due, steady_time now,
             bool quiet = false);

  fetch_entry* find(const atproto::did& repo);

  /// Removes it; what was wished meanwhile comes after.
  void finish(fetch_entry& x, steady_time now);

  /// Its host is found. Waits for a permit, for a place to, or for the host.
  void set_host(fetch_entry& x, std::shared_ptr<const identity_answer> identity,
                steady_time now);

  /// Next whose host is looked up; it is `preparing` from now on.
  fetch_entry* next_to_prepare();

  /// Next to get a permit; it is `running` from now on.
  fetch_entry* next_to_start(steady_time now);

  /// @returns the lane of a host, for `settle` afterwards
  fetch_lane& host(const std::string& pds);

  /// Nobody of this host is asked for a while.
  void rest(fetch_lane& lane, std::chrono::seconds wait, steady_time now);

  /// The host of a download did.
  void answered(fetch_lane& lane, steady_time now);

  /// A try of this host ended without an answer.
  void fell_silent(fetch_lane& lane) { set_kind(lane, lane_kind::silent); }

  /// Remembers a host without repos when there is something to remember.
  void settle(fetch_lane& lane, steady_time now);

  void on_timer(steady_time now);

  /// All permits are taken, and a host that has less than its share waits.
  bool starving(steady_time now) const;

  /// All permits are taken: hosts that wait and have none, but silent ones.
  size_t without_permit() const;

  /// Permits of silent hosts while others wait.
  size_t silent_permits() const noexcept;

  /// All permits are taken, and this host waits, of those that have less than
  /// their share or gave none back lately the one with the fewest.
  const fetch_lane* neediest(steady_time now) const;

  /// Keeps the last permit for a while from hosts that gave one back lately and
  /// have their share.
  void reserve(steady_time now) noexcept;

  /// When somebody who waits may have it again.
  std::optional<steady_time> next_reserve_end(steady_time now) const;

  /// What a host may have while others wait.
  size_t permit_share() const noexcept;

  /// When the rest of a host ends that repos wait for, or a wait that is too short
  /// for the scan.
  std::optional<steady_time> next_wake_up() const;

  size_t size() const noexcept { return entries_.size(); }
  size_t due() const noexcept { return entries_.size() - alarms_.size(); }
  size_t running() const noexcept { return running_; }
  size_t lanes() const noexcept { return lanes_.size(); }

  work_scan scan;

private:
  using entry_map = std::unordered_map<atproto::did, fetch_entry>;
  static constexpr size_t permits = fetch_lane::priorities;

  /// What lanes of one kind have together.
  struct tally {
    size_t preparing = 0;
    size_t ready = 0;
    size_t running = 0;
    steady_time started; ///< The last time.
  };

  /// Whether there are hosts of a kind that others make room for.
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
  void count_queued(fetch_lane& lane, bool more);
  void join(fetch_entry& x, const std::string& name, bool host);
  void move(fetch_entry& x, const std::string& pds, steady_time now);
  void part(fetch_entry& x, steady_time now);
  void forget(fetch_lane& lane);
  fetch_lane::turns& turns_of(const fetch_lane& lane, size_t seat);
  fetch_lane* next_lane(size_t priority);
  void sit(fetch_lane& lane, size_t seat);
  void stand_up(fetch_lane& lane, size_t seat);
  void pass_turn(fetch_lane& lane, size_t seat);
  bool may_prepare(const fetch_lane& lane) const;
  bool has_place(lane_kind kind) const;
  size_t places_taken(bool of_hosts) const noexcept;
  bool wants_places(lane_kind kind) const;
  void set_kind(fetch_lane& lane, lane_kind kind);
  better_hosts those_that_wait() const;
  better_hosts those_that_wait_or_run() const;
  bool is_held(const fetch_lane& lane, const better_hosts& others,
               steady_time now) const;
  void wake(steady_time now);

  supervisor_options options_;
  /// Before the entries and lists, which refer to them.
  std::unordered_map<std::string, fetch_lane> lanes_;
  fetch_lane::turns remembered_; ///< Without entries; the oldest first.
  /// Of each kind and priority: when lanes of a kind have all their places,
  /// nobody looks through any number of them.
  std::array<std::array<fetch_lane::turns, fetch_lane::priorities>, lane_kinds>
    turns_;
  fetch_lane::turns permit_turns_; ///< No more than there are places.
  std::vector<fetch_lane*> crowded_; ///< More than their share is queued.
  fetch_entry::alarms alarms_;
  entry_map entries_;
  std::set<steady_time> wake_ups_; ///< See `next_wake_up`.
  std::array<tally, lane_kinds> tallies_;
  size_t ready_count_ = 0;
  size_t running_ = 0;
  steady_time reserved_until_; ///< The last permit, see `reserve`.
  size_t waiting_lanes_ = 0; ///< With something queued.
  size_t picks_ = 0;
  /// New repos that were asked in a row. A turn of those that were fetched before
  /// is owed until one of them took it: of hosts in turn the same one could have
  /// each eighth, and have none of those.
  size_t others_waited_ = 0;
};

} // namespace weir::actors
