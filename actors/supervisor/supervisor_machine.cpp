#include "actors/supervisor/supervisor_machine.hpp"

#include "base/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

using storage::repo_status;

/// Never fetched before out of sync before failed (SYNC 3f).
size_t priority_of(repo_status status) noexcept {
  switch (status) {
    case repo_status::pending:
    case repo_status::syncing:
      return 0;
    case repo_status::desync:
    case repo_status::synced:
      return 1;
    case repo_status::error:
      return 2;
  }
  return 2;
}

} // namespace

supervisor_machine::supervisor_machine(supervisor_options options)
  : options_(options) {
  // nop
}

void supervisor_machine::enqueue(const atproto::did& repo, repo_status status,
                                 int64_t not_before, wall_time wall) {
  const auto [i, added] = jobs_.try_emplace(repo);
  auto& job = i->second;
  if (!added) {
    if (job.at == phase::running || job.at == phase::preparing) {
      job.again = {status, not_before}; // When this attempt has ended.
      return;
    }
    if (job.at != phase::delayed || not_before >= job.due)
      return;
    erase(i);
    enqueue(repo, status, not_before, wall);
    return;
  }
  if (jobs_.size() > options_.queue_max) {
    jobs_.erase(i);
    overflowed_ = true;
    return;
  }
  job.priority = priority_of(status);
  if (not_before > wall.seconds()) {
    job.at = phase::delayed;
    job.due = not_before;
    delayed_.emplace(not_before, repo);
    return;
  }
  queues_[job.priority].push_back(repo);
}

supervisor_machine::effects
supervisor_machine::on_wish(const atproto::did& repo, repo_status status,
                            int64_t not_before, steady_time now,
                            wall_time wall) {
  effects out;
  enqueue(repo, status, not_before, wall);
  run(out, now, wall);
  return out;
}

supervisor_machine::effects
supervisor_machine::on_ready(const atproto::did& repo, const std::string& pds,
                             steady_time now, wall_time wall) {
  effects out;
  const auto i = jobs_.find(repo);
  if (i != jobs_.end() && i->second.at == phase::preparing) {
    --preparing_;
    const auto host = hosts_.find(pds);
    if (pds.empty()) {
      const auto again = i->second.again;
      jobs_.erase(i);
      if (again)
        enqueue(repo, again->first, again->second, wall);
    } else if (host == hosts_.end() && hosts_.size() >= options_.hosts_max) {
      delay(i, options_.retry_scan, out, now, wall);
    } else if (host != hosts_.end() && host->second.rest_until > now) {
      delay(i, host->second.rest_until - now, out, now, wall);
    } else {
      i->second.at = phase::host_wait;
      i->second.pds = pds;
      ++host_waiting_;
      hosts_[pds].waiting.push_back(repo);
    }
  }
  run(out, now, wall);
  return out;
}

supervisor_machine::effects
supervisor_machine::on_end(const atproto::did& repo, uint64_t job,
                           steady_time now, wall_time wall) {
  effects out;
  const auto i = jobs_.find(repo);
  if (i != jobs_.end() && i->second.at == phase::running
      && i->second.job == job) {
    --running_;
    if (const auto host = hosts_.find(i->second.pds); host != hosts_.end())
      --host->second.running;
    const auto again = i->second.again;
    jobs_.erase(i);
    if (again)
      enqueue(repo, again->first, again->second, wall);
  }
  run(out, now, wall);
  return out;
}

supervisor_machine::effects
supervisor_machine::on_owner_lost(const atproto::did& repo, uint64_t job,
                                  bool in_order, steady_time now,
                                  wall_time wall) {
  const auto i = jobs_.find(repo);
  if (i != jobs_.end() && i->second.at == phase::running
      && i->second.job == job)
    // Its row knows what it wants; one that dies again and again must not be
    // asked without end.
    i->second.again = {repo_status::pending,
                       in_order ? 0
                                : wall.seconds()
                                    + limits::refetch_pause.count()};
  return on_end(repo, job, now, wall);
}

supervisor_machine::effects
supervisor_machine::on_host(const std::string& pds, host_verdict verdict,
                            std::chrono::seconds retry_after, steady_time now,
                            wall_time wall) {
  effects out;
  auto& host = hosts_[pds];
  switch (verdict) {
    case host_verdict::fine:
      host.failures = 0;
      break;
    case host_verdict::rate_limited:
      rest(pds, host,
           retry_after.count() > 0 ? retry_after : options_.rate_limit_rest,
           out, now, wall);
      break;
    case host_verdict::failed:
      host.failed_at = now;
      if (++host.failures >= options_.breaker_failures) {
        const auto over = std::min<size_t>(
          host.failures - options_.breaker_failures, 16);
        rest(pds, host, options_.breaker_rest * (int64_t{1} << over), out, now,
             wall);
      }
      break;
  }
  run(out, now, wall);
  return out;
}

supervisor_machine::effects
supervisor_machine::on_removed(const atproto::did& repo, steady_time now,
                               wall_time wall) {
  effects out;
  if (const auto i = jobs_.find(repo); i != jobs_.end())
    erase(i);
  run(out, now, wall);
  return out;
}

supervisor_machine::effects
supervisor_machine::on_scanned(steady_time now, wall_time wall) {
  effects out;
  scanning_ = false;
  run(out, now, wall);
  return out;
}

supervisor_machine::effects
supervisor_machine::on_intake(bool backfills, steady_time now,
                              wall_time wall) {
  effects out;
  paused_ = !backfills;
  run(out, now, wall);
  return out;
}

supervisor_machine::effects supervisor_machine::on_timer(steady_time now,
                                                         wall_time wall) {
  effects out;
  wake_delayed(wall);
  ask_again(now);
  drop_idle_hosts(now);
  run(out, now, wall);
  out.timer = now + options_.retry_scan; // SYNC-14
  return out;
}

/// Whoever waits for a host that rests gives its place to others.
void supervisor_machine::delay(did_map::iterator i,
                               std::chrono::microseconds wait, effects& out,
                               steady_time now, wall_time wall) {
  auto& job = i->second;
  job.at = phase::delayed;
  job.again.reset();
  job.due = wall.seconds()
            + std::chrono::ceil<std::chrono::seconds>(wait).count();
  delayed_.emplace(job.due, i->first);
  if (!out.timer || now + wait < *out.timer)
    out.timer = now + wait;
}

void supervisor_machine::rest(const std::string& pds, host_state& host,
                              std::chrono::seconds wait, effects& out,
                              steady_time now, wall_time wall) {
  wait = std::min(wait, options_.breaker_rest_max);
  host.rest_until = now + wait;
  for (const auto& repo : std::exchange(host.waiting, {})) {
    const auto i = jobs_.find(repo);
    if (i == jobs_.end() || i->second.at != phase::host_wait
        || i->second.pds != pds)
      continue;
    --host_waiting_;
    delay(i, wait, out, now, wall);
  }
}

void supervisor_machine::wake_delayed(wall_time wall) {
  while (!delayed_.empty() && delayed_.begin()->first <= wall.seconds()) {
    const auto repo = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    const auto i = jobs_.find(repo);
    if (i == jobs_.end() || i->second.at != phase::delayed)
      continue;
    i->second.at = phase::queued;
    queues_[i->second.priority].push_back(repo);
  }
}

/// A REPO that ended before it answered must not keep its place for ever.
void supervisor_machine::ask_again(steady_time now) {
  while (!asked_.empty()
         && now - asked_.front().first >= limits::prepare_wait_max) {
    const auto [at, repo] = std::move(asked_.front());
    asked_.pop_front();
    const auto i = jobs_.find(repo);
    if (i == jobs_.end() || i->second.at != phase::preparing
        || i->second.asked != at)
      continue;
    --preparing_;
    i->second.at = phase::queued;
    queues_[i->second.priority].push_back(repo);
  }
}

void supervisor_machine::erase(did_map::iterator i) {
  switch (i->second.at) {
    case phase::queued:
      break; // The queue skips DIDs that have no job.
    case phase::delayed: {
      auto [first, last] = delayed_.equal_range(i->second.due);
      const auto j = std::find_if(first, last, [&](const auto& x) {
        return x.second == i->first;
      });
      if (j != last)
        delayed_.erase(j);
      break;
    }
    case phase::preparing:
      --preparing_;
      break;
    case phase::host_wait:
      --host_waiting_;
      break; // The host's queue skips it.
    case phase::running:
      --running_;
      if (const auto host = hosts_.find(i->second.pds); host != hosts_.end())
        --host->second.running;
      break;
  }
  jobs_.erase(i);
}

/// Keeps the permits busy: starts what waits for a host, then looks up hosts
/// for the next in the queue.
void supervisor_machine::run(effects& out, steady_time now, wall_time wall) {
  if (paused_)
    return;
  start_waiting(out, wall);
  const auto ahead = options_.preparing_max;
  for (auto& queue : queues_) {
    while (!queue.empty() && preparing_ + host_waiting_ < ahead) {
      auto repo = std::move(queue.front());
      queue.pop_front();
      const auto i = jobs_.find(repo);
      if (i == jobs_.end() || i->second.at != phase::queued)
        continue;
      i->second.at = phase::preparing;
      i->second.asked = now;
      asked_.emplace_back(now, repo);
      ++preparing_;
      out.prepare.push_back(std::move(repo));
    }
  }
  if (overflowed_ && !scanning_ && jobs_.size() < options_.queue_max / 2) {
    overflowed_ = false;
    scanning_ = true;
    out.scan = true;
  }
}

void supervisor_machine::start_waiting(effects& out, wall_time wall) {
  for (auto& [pds, host] : hosts_) {
    while (!host.waiting.empty() && running_ < options_.parallelism
           && host.running < options_.per_host) {
      auto repo = std::move(host.waiting.front());
      host.waiting.pop_front();
      const auto i = jobs_.find(repo);
      if (i == jobs_.end() || i->second.at != phase::host_wait
          || i->second.pds != pds)
        continue;
      --host_waiting_;
      ++running_;
      ++host.running;
      i->second.at = phase::running;
      last_job_ = std::max(last_job_ + 1, static_cast<uint64_t>(wall.micros));
      i->second.job = last_job_;
      out.start.push_back({std::move(repo), pds, last_job_});
    }
  }
}

void supervisor_machine::drop_idle_hosts(steady_time now) {
  std::erase_if(hosts_, [&](const auto& x) {
    return x.second.running == 0 && x.second.waiting.empty()
           && x.second.rest_until <= now
           && (x.second.failures == 0
               || x.second.failed_at + options_.breaker_rest_max <= now);
  });
}

} // namespace weir::actors
