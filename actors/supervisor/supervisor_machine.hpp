#pragma once

#include "actors/supervisor/fetch_pace.hpp"
#include "actors/supervisor/fetch_queue.hpp"
#include "messages/host_verdict.hpp"

#include <string>
#include <vector>

namespace weir::actors {

/// Which repo is fetched next, from which host, and when again: the queue of
/// SYNC-10 to 15, permits and host budgets, without CAF or clock. All waiting
/// is monotonic.
///
/// The queue is memory only: statuses in the store are the truth, and a scan
/// of them fills it (at start, and when it had overflowed).
///
/// Permits are shared between hosts in turn and by age within a host. A
/// download that crawls while a host waits that has less than its share gives
/// its permit up, and its host rests; a share of the permits is left to those.
/// A host that got more than its share while nobody waited gives that back.
///
/// A download that has no answer after `fetch_answer_wait` gives its permit up
/// while a host waits that has none, unless its host answered the last time.
/// That host is tried again after a rest, with all the time there is, and has
/// part of the permits with those like it (`fetch_queue`).
class supervisor_machine {
public:
  struct begin {
    atproto::did repo;
    std::string pds;
    uint64_t job = 0;
    /// Of a permit: what the look-up of the host brought.
    std::shared_ptr<const identity_answer> identity{};
  };

  /// A repo whose REPO has something to do besides a fetch.
  struct errand {
    atproto::did repo;
    /// The look-up that found no host; null: it is enough that it wakes.
    std::shared_ptr<const identity_answer> identity;
  };

  struct effects {
    std::vector<atproto::did> look_up; ///< Ask IDENTITY for their hosts.
    std::vector<errand> attend;
    std::vector<begin> start;          ///< Permits.
    std::vector<begin> crawling;       ///< Permits to be given up.
    std::vector<begin> given_back;     ///< The same of hosts with too many.
    std::vector<begin> unanswered;     ///< The same without an answer yet.
    std::optional<work_scan::request> scan; ///< Read statuses from the store.
    std::optional<steady_time> timer;
  };

  explicit supervisor_machine(supervisor_options options);

  /// @param wall Jobs are numbered from here on, so that no number comes twice
  /// in a store.
  effects on_start(steady_time now, wall_time wall);

  /// A repo wants a fetch, at once or after `wait`.
  /// @param pds Its host as far as it is known.
  effects on_wish(const atproto::did& repo, storage::repo_status status,
                  const std::string& pds, std::chrono::seconds wait,
                  steady_time now);

  /// The same, seen in the store.
  /// @param quiet Its status does not say so: only a lap that looks for quiet
  ///        work finds it again.
  effects on_found(const atproto::did& repo, storage::repo_status status,
                   const std::string& pds, std::chrono::seconds wait,
                   steady_time now, bool quiet = false);

  /// All of a page was found.
  effects on_page(std::string next, bool end, steady_time now);

  /// The first answer to a look-up. Later ones change nothing.
  effects on_identity(const atproto::did& repo, const identity_answer& x,
                      steady_time now);

  /// Its REPO did its errand, or ended.
  effects on_attended(const atproto::did& repo, steady_time now);

  /// The permit is free again. Late news of an earlier job change nothing.
  effects on_end(const atproto::did& repo, uint64_t job, steady_time now);

  /// The REPO that had the permit ended before it gave it back: so does the
  /// permit. The repo is fetched later, since one that dies again and again
  /// must not be woken without end.
  effects on_owner_lost(const atproto::did& repo, uint64_t job,
                        steady_time now);

  effects on_host(const std::string& pds, host_verdict verdict,
                  std::chrono::seconds retry_after, steady_time now);

  /// A download began.
  effects on_download(const atproto::did& repo, uint64_t job, steady_time now);

  /// The host of a download answered, and so many bytes of a body are here.
  /// @param received All of it.
  effects on_progress(uint64_t job, uint64_t bytes, bool received,
                      steady_time now);

  /// Whether repos are fetched at all; those that are go on.
  effects on_intake(bool backfills, steady_time now);

  effects on_timer(steady_time now);

  size_t queued() const noexcept { return queue_.size(); }
  size_t running() const noexcept { return queue_.running(); }
  /// Hosts, and places that answer look-ups.
  size_t hosts() const noexcept { return queue_.lanes(); }

private:
  std::chrono::seconds believed(std::chrono::seconds wait) const noexcept;
  fetch_entry* running_job(const atproto::did& repo, uint64_t job);
  std::chrono::seconds rest_after(size_t times, std::chrono::seconds first);
  void let_rest(const fetch_pace::download& x, steady_time now);
  void give_up_crawling(effects& out, steady_time now);
  void give_up_unanswered(effects& out, steady_time now);
  void give_back(effects& out, steady_time now);
  void run(effects& out, steady_time now);

  supervisor_options options_;
  fetch_queue queue_;
  fetch_pace pace_;
  uint64_t last_job_ = 0;
  uint64_t given_back_ = 0; ///< The job that is to end; 0: none.
  bool paused_ = false; ///< Nobody is asked, no permit is given.
};

} // namespace weir::actors
