#pragma once

#include "actors/supervisor/fetch_lanes.hpp"
#include "actors/supervisor/supervisor_options.hpp"
#include "actors/supervisor/work_scan.hpp"

#include <set>
#include <unordered_map>

namespace weir::actors {

/// The repos that wait for a fetch (actors.md, Who is fetched next): puts each
/// into its lane when its time has come.
///
/// # Limits
/// The queue has `queue_max` repos. A repo that waits for its time gives its
/// place to one that is due, and a repo of a host with more than its share
/// gives it to one of another host. Repos that do not fit are left to `scan`.
///
/// # Ownership
/// Borrows the lanes, which outlive it.
class fetch_queue {
public:
  fetch_queue(const supervisor_options& options, fetch_lanes& lanes)
    : options_(options), lanes_(lanes) {}

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

  /// Its repos give their places to others until the host has rested.
  void rest(fetch_lane& lane, std::chrono::seconds wait, steady_time now);

  void on_timer(steady_time now);

  /// The next time at which a host's rest ends for which repos wait, or a wait
  /// ends that is too short for the scan.
  std::optional<steady_time> next_wake_up() const {
    return wake_ups_.empty() ? std::nullopt : std::optional{*wake_ups_.begin()};
  }

  size_t size() const noexcept { return entries_.size(); }
  size_t due() const noexcept { return entries_.size() - alarms_.size(); }

  work_scan scan;

private:
  void add(const atproto::did& repo, storage::repo_status status,
           const std::string& pds, steady_time due, steady_time now,
           bool displaces);
  bool make_room(const std::string& lane, steady_time due, steady_time now,
                 bool displaces);
  void erase(fetch_entry& x, steady_time now);
  void place(fetch_entry& x, steady_time due, steady_time now);

  void delay(fetch_entry& x, steady_time due) {
    x.alarm = alarms_.emplace(due, &x);
    x.at = fetch_stage::delayed;
  }

  void leave(fetch_entry& x) {
    if (x.at == fetch_stage::delayed)
      alarms_.erase(x.alarm);
    else
      lanes_.leave(x);
  }

  void move(fetch_entry& x, const std::string& pds, steady_time now);

  supervisor_options options_;
  fetch_lanes& lanes_;
  fetch_entry::alarms alarms_;
  std::unordered_map<atproto::did, fetch_entry> entries_;
  std::set<steady_time> wake_ups_; ///< See `next_wake_up`.
};

} // namespace weir::actors
