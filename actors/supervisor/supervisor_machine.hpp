#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"
#include "storage/records.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::actors {

struct supervisor_options {
  /// SYNC-11, `sync_parallelism`.
  size_t parallelism = limits::sync_parallelism_range.standard;
  /// Fetches at once from one host.
  size_t per_host = limits::sync_per_host_range.standard;
  size_t preparing_max = limits::fetch_preparing_max;
  size_t queue_max = limits::fetch_queue_max;
  size_t hosts_max = limits::fetch_hosts_max;
  /// SYNC-14
  std::chrono::seconds retry_scan = limits::retry_scan_range.standard;
  size_t breaker_failures = limits::host_failures_max;
  std::chrono::seconds breaker_rest = limits::host_rest_min;
  std::chrono::seconds breaker_rest_max = limits::host_rest_max;
  std::chrono::seconds rate_limit_rest = limits::host_rate_limit_rest;
};

/// How a host answered a fetch.
enum class host_verdict : uint8_t { fine, failed, rate_limited };

/// Which repo is fetched next, from which host, and when again: the queue of
/// SYNC-10 to 15 with priorities (pending, desync, error), permits and host
/// budgets, without CAF or clock.
///
/// The queue is memory only: statuses in the store are the truth, and a scan
/// of them fills it (at start, and when it had overflowed).
class supervisor_machine {
public:
  struct begin {
    atproto::did repo;
    std::string pds;
    uint64_t job = 0;
  };

  struct effects {
    std::vector<atproto::did> prepare; ///< Ask these REPOs for their host.
    std::vector<begin> start;          ///< Permits.
    bool scan = false;                 ///< Read the statuses from the store.
    std::optional<steady_time> timer;
  };

  explicit supervisor_machine(supervisor_options options);

  /// A repo wants a fetch, at once or not before `not_before` (Unix seconds).
  effects on_wish(const atproto::did& repo, storage::repo_status status,
                  int64_t not_before, steady_time now, wall_time wall);

  /// A REPO answered `prepare`; no host: it took the error itself.
  effects on_ready(const atproto::did& repo, const std::string& pds,
                   steady_time now, wall_time wall);

  /// The permit is free again. Late news of an earlier job change nothing.
  effects on_end(const atproto::did& repo, uint64_t job, steady_time now,
                 wall_time wall);

  /// The REPO that had the permit ended before it was given back: so does the
  /// permit, and the repo is asked again, at once when `in_order`.
  effects on_owner_lost(const atproto::did& repo, uint64_t job, bool in_order,
                        steady_time now, wall_time wall);

  effects on_host(const std::string& pds, host_verdict verdict,
                  std::chrono::seconds retry_after, steady_time now,
                  wall_time wall);

  effects on_removed(const atproto::did& repo, steady_time now,
                     wall_time wall);

  effects on_scanned(steady_time now, wall_time wall);

  /// Whether repos are fetched at all; those that are go on.
  effects on_intake(bool backfills, steady_time now, wall_time wall);

  effects on_timer(steady_time now, wall_time wall);

  /// Its host is known and no permit was granted yet.
  bool waits_for_permit(const atproto::did& repo) const {
    const auto i = jobs_.find(repo);
    return i != jobs_.end() && i->second.at == phase::host_wait;
  }

  size_t queued() const noexcept {
    return jobs_.size();
  }

  size_t running() const noexcept {
    return running_;
  }

  size_t hosts() const noexcept {
    return hosts_.size();
  }

private:
  enum class phase : uint8_t { queued, delayed, preparing, host_wait, running };

  struct entry {
    phase at = phase::queued;
    size_t priority = 0;
    uint64_t job = 0;   ///< Running.
    steady_time asked;  ///< Preparing.
    std::string pds;
    int64_t due = 0;
    std::optional<std::pair<storage::repo_status, int64_t>> again;
  };

  struct host_state {
    size_t running = 0;
    size_t failures = 0;
    steady_time rest_until;
    steady_time failed_at; ///< The last time.
    std::deque<atproto::did> waiting;
  };

  using did_map = std::unordered_map<atproto::did, entry>;

  void enqueue(const atproto::did& repo, storage::repo_status status,
               int64_t not_before, wall_time wall);
  void erase(did_map::iterator i);
  void delay(did_map::iterator i, std::chrono::microseconds wait,
             effects& out, steady_time now, wall_time wall);
  void rest(const std::string& pds, host_state& host,
            std::chrono::seconds wait, effects& out, steady_time now,
            wall_time wall);
  void wake_delayed(wall_time wall);
  void ask_again(steady_time now);
  void run(effects& out, steady_time now, wall_time wall);
  void start_waiting(effects& out, wall_time wall);
  void drop_idle_hosts(steady_time now);

  supervisor_options options_;
  did_map jobs_;
  std::deque<atproto::did> queues_[3];
  std::multimap<int64_t, atproto::did> delayed_;
  std::deque<std::pair<steady_time, atproto::did>> asked_; ///< Oldest first.
  std::map<std::string, host_state> hosts_;
  size_t preparing_ = 0;
  size_t host_waiting_ = 0;
  size_t running_ = 0;
  uint64_t last_job_ = 0;
  bool overflowed_ = false;
  bool scanning_ = false;
  bool paused_ = false; ///< Nobody is asked, no permit is given.
};

} // namespace weir::actors
