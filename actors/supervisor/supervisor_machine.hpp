#pragma once

#include "actors/supervisor/fetch_pace.hpp"
#include "actors/supervisor/fetch_queue.hpp"
#include "messages/backfill.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Decides which repo is fetched next, from which host, and when it is tried
/// again: the queue of SYNC-10 to 15, permits and host budgets. Without CAF or
/// clock. All waiting is monotonic.
///
/// The queue is in memory only: the statuses in the store are the truth, and a
/// scan of them fills the queue (at the start, and when it had overflowed).
///
/// Permits are shared between hosts in turn, and by age within a host. A
/// download that crawls while a host with less than its share waits gives its
/// permit up, and its host rests; a share of the permits is left to such slow
/// downloads. A host that got more than its share while no other host waited
/// gives the excess back when another one waits.
///
/// A download without an answer after `fetch_answer_wait` gives its permit up
/// while a host without any permit waits, unless its own host answered the last
/// time. That host is tried again after a rest and may then take all the time
/// that is allowed. Hosts like it have a part of the permits (`fetch_lanes`).
class supervisor_machine {
public:
  struct effects {
    std::vector<atproto::did> look_up; ///< Ask IDENTITY for their hosts.
    std::vector<attend_repo> attend;
    std::vector<begin_fetch> start; ///< Permits.
    /// Permits to be given up because their downloads crawl.
    std::vector<fetch_pace::download> crawling;
    /// Permits to be given up by hosts with too many.
    std::vector<fetch_pace::download> given_back;
    /// Permits to be given up for lack of an answer.
    std::vector<fetch_pace::download> unanswered;
    std::optional<work_scan::request> scan; ///< Read statuses from the store.
    std::optional<steady_time> timer;

    void arm(steady_time at) { timer = std::min(timer.value_or(at), at); }
  };

  explicit supervisor_machine(supervisor_options options)
    : options_(options), lanes_(options), queue_(options, lanes_) {}

  /// @param wall Job numbers begin here, so that no number comes twice in a
  ///        store.
  effects on_start(steady_time now, wall_time wall);

  /// A repo wants a fetch, at once or after `wait`.
  /// @param pds Its host as far as it is known.
  effects on_wish(const atproto::did& repo, storage::repo_status status,
                  const std::string& pds, std::chrono::seconds wait,
                  steady_time now) {
    queue_.wish(repo, status, pds, now + believed(wait), now);
    return run({}, now);
  }

  /// The same, found in the store.
  /// @param quiet Its status does not show the wish: only a lap that looks for
  ///        quiet work finds it again.
  effects on_found(const atproto::did& repo, storage::repo_status status,
                   const std::string& pds, std::chrono::seconds wait,
                   steady_time now, bool quiet = false) {
    queue_.found(repo, status, pds, now + wait, now, quiet);
    return run({}, now);
  }

  /// All repos of a page of the scan were found.
  effects on_page(std::string next, bool end, steady_time now) {
    queue_.scan.on_page(std::move(next), end);
    return run({}, now);
  }

  /// The first answer to a look-up. Later ones change nothing.
  effects on_identity(const identity_answer& x, steady_time now);

  /// The REPO did what its row asked for, or ended.
  effects on_attended(const atproto::did& repo, steady_time now);

  /// The permit is free again. Messages about an earlier job change nothing.
  effects on_end(const atproto::did& repo, uint64_t job, steady_time now);

  /// The REPO that had the permit ended before it gave the permit back, so the
  /// permit ends as well. The repo is fetched later, since a REPO that dies
  /// again and again must not be woken without end.
  effects on_owner_lost(const atproto::did& repo, uint64_t job,
                        steady_time now);

  effects on_host(const host_report& x, steady_time now);

  /// A download began.
  effects on_download(const atproto::did& repo, uint64_t job, steady_time now);

  /// The first one of a download says that its host answered.
  effects on_progress(const fetch_progress& x, steady_time now);

  /// Whether new fetches may begin; those that run go on.
  effects on_intake(bool backfills, steady_time now) {
    paused_ = !backfills;
    return run({}, now);
  }

  effects on_timer(steady_time now);

  size_t queued() const noexcept { return queue_.size(); }
  size_t running() const noexcept { return lanes_.running(); }
  /// Hosts, and other places that answer look-ups.
  size_t hosts() const noexcept { return lanes_.size(); }

private:
  std::chrono::seconds believed(std::chrono::seconds wait) const noexcept;
  fetch_entry* running_job(const atproto::did& repo, uint64_t job);

  std::chrono::seconds rest_after(size_t times, std::chrono::seconds first) {
    return first * (int64_t{1} << std::min<size_t>(times, 16));
  }

  void let_rest(const fetch_pace::download& x, steady_time now);
  void give_up_crawling(effects& out, steady_time now);
  void give_up_unanswered(effects& out, steady_time now);
  void give_back(effects& out, steady_time now);
  effects run(effects out, steady_time now);

  supervisor_options options_;
  fetch_lanes lanes_;
  fetch_queue queue_;
  fetch_pace pace_;
  uint64_t last_job_ = 0;
  uint64_t given_back_ = 0; ///< The job that has to end; 0: none.
  bool paused_ = false;     ///< No look-up is made and no permit is given.
};

} // namespace weir::actors
