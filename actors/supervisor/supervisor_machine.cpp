#include "actors/supervisor/supervisor_machine.hpp"

namespace weir::actors {

supervisor_machine::effects supervisor_machine::on_start(steady_time now,
                                                         wall_time wall) {
  last_job_ = std::max(last_job_, static_cast<uint64_t>(wall.micros));
  queue_.scan.begin();
  return on_timer(now);
}

/// A wait longer than any pause comes from a time that a wrong clock wrote into
/// the repo's row. It counts as no wait, as for a row that a scan finds.
std::chrono::seconds
supervisor_machine::believed(std::chrono::seconds wait) const noexcept {
  const auto longest
    = std::max<std::chrono::seconds>(options_.retry_max, limits::refetch_pause);
  return wait > longest ? std::chrono::seconds{0} : wait;
}

/// A repo whose host is not found keeps its place until its row records that:
/// otherwise a directory that fails quickly would wake any number of REPOs at
/// once.
supervisor_machine::effects
supervisor_machine::on_identity(const identity_answer& x, steady_time now) {
  effects out;
  auto* entry = queue_.find(x.repo);
  if (entry == nullptr || entry->at != fetch_stage::preparing
      || entry->attended)
    return out;
  auto identity = std::make_shared<const identity_answer>(x);
  if (x.fact && !x.fact->pds.empty()) {
    queue_.set_host(*entry, std::move(identity), now);
  } else {
    entry->attended = true;
    out.attend.push_back({x.repo, std::move(identity)});
  }
  return run(std::move(out), now);
}

supervisor_machine::effects
supervisor_machine::on_attended(const atproto::did& repo, steady_time now) {
  auto* x = queue_.find(repo);
  if (x != nullptr && x->at == fetch_stage::preparing && x->attended)
    queue_.finish(*x, now);
  return run({}, now);
}

fetch_entry* supervisor_machine::running_job(const atproto::did& repo,
                                             uint64_t job) {
  auto* x = queue_.find(repo);
  const auto is = x != nullptr && x->at == fetch_stage::running
                  && x->job == job;
  return is ? x : nullptr;
}

supervisor_machine::effects supervisor_machine::on_end(const atproto::did& repo,
                                                       uint64_t job,
                                                       steady_time now) {
  pace_.on_ended(job);
  if (given_back_ == job)
    given_back_ = 0;
  if (auto* x = running_job(repo, job))
    queue_.finish(*x, now);
  return run({}, now);
}

supervisor_machine::effects
supervisor_machine::on_owner_lost(const atproto::did& repo, uint64_t job,
                                  steady_time now) {
  if (auto* x = running_job(repo, job))
    x->again = {x->status, now + limits::refetch_pause};
  return on_end(repo, job, now);
}

supervisor_machine::effects supervisor_machine::on_host(const host_report& x,
                                                        steady_time now) {
  auto& host = lanes_.lane_of_name(x.pds);
  switch (x.what) {
    case host_verdict::fine:
      host.failures = 0;
      host.crawls = 0;
      break;
    case host_verdict::rate_limited:
      queue_.rest(host,
                  x.retry_after.count() > 0 ? x.retry_after
                                            : limits::host_rate_limit_rest,
                  now);
      break;
    case host_verdict::silent:
      lanes_.fell_silent(host);
      [[fallthrough]];
    case host_verdict::failed:
      host.failed_at = now;
      if (++host.failures >= options_.breaker_failures)
        queue_.rest(host,
                    rest_after(host.failures - options_.breaker_failures,
                               limits::host_rest_min),
                    now);
      break;
  }
  lanes_.settle(host, now);
  return run({}, now);
}

supervisor_machine::effects
supervisor_machine::on_download(const atproto::did& repo, uint64_t job,
                                steady_time now) {
  effects out;
  if (const auto* x = running_job(repo, job)) {
    const auto patient = x->lane->kind == lane_kind::silent;
    pace_.on_started({repo, *x->lane->name, job, patient}, now);
    out.arm(now + limits::fetch_pace_window);
    give_up_unanswered(out, now); // Otherwise this arms the timer for it.
  }
  return out;
}

supervisor_machine::effects
supervisor_machine::on_progress(const fetch_progress& x, steady_time now) {
  effects out;
  const auto* answered = pace_.on_answer(x.job, now);
  const auto is_first = answered != nullptr;
  if (is_first) // This comes first, as `on_received` forgets the download.
    lanes_.answered(lanes_.lane_of_name(answered->host), now);
  if (x.received)
    pace_.on_received(x.job, x.bytes, now);
  else
    pace_.on_bytes(x.job, x.bytes);
  if (is_first)
    return run(std::move(out), now); // Others may have a permit of its kind.
  return out;
}

/// Lets the host rest whose download gave its permit up.
void supervisor_machine::let_rest(const fetch_pace::download& x,
                                  steady_time now) {
  auto& host = lanes_.lane_of_name(x.host);
  host.failed_at = now;
  if (!x.answered)
    lanes_.fell_silent(host);
  if (host.rest_until <= now)
    queue_.rest(host, rest_after(host.crawls++, limits::host_slow_rest), now);
}

/// Slow downloads may have a share of the permits, so that a host that is
/// always slow is fetched in the end.
void supervisor_machine::give_up_crawling(effects& out, steady_time now) {
  pace_.on_timer(now);
  if (paused_ || !lanes_.starving(now))
    return;
  const auto kept
    = std::min(fair_share(options_.parallelism), options_.parallelism - 1);
  for (auto& x : pace_.slow(kept)) {
    let_rest(x, now);
    pace_.on_ended(x.job);
    out.crawling.push_back(std::move(x));
  }
}

/// Gives up one permit for each host that waits without one. Hosts that are
/// known to be silent keep their part and do not rest: they get the same time,
/// but later.
void supervisor_machine::give_up_unanswered(effects& out, steady_time now) {
  auto waiting = pace_.empty() ? 0 : lanes_.without_permit();
  if (paused_ || waiting == 0)
    return;
  const auto wait = waiting > options_.parallelism
                      ? limits::fetch_answer_wait_busy
                      : limits::fetch_answer_wait;
  const auto kept = std::max<size_t>(lanes_.silent_permits(), 1);
  for (auto& x : pace_.unanswered(kept, now + -wait)) {
    if (waiting == 0)
      break;
    if (lanes_.lane_of_name(x.host).kind == lane_kind::answering)
      continue;
    --waiting;
    if (!x.patient)
      let_rest(x, now);
    pace_.on_ended(x.job);
    out.unanswered.push_back(std::move(x));
  }
  if (const auto next = pace_.next_unanswered(now + -wait))
    out.arm(*next + wait);
}

/// Gives back one permit at a time, the youngest first and never the oldest of
/// a host, so that each host makes progress with its share.
void supervisor_machine::give_back(effects& out, steady_time now) {
  if (given_back_ != 0 || pace_.empty())
    return;
  const auto* waiting = lanes_.neediest(now);
  if (waiting == nullptr)
    return;
  lanes_.reserve(now);
  const auto most = std::max(lanes_.permit_share(), waiting->running);
  for (auto& x :
       pace_.beyond(lanes_.permit_share(), now + -limits::fetch_keep_min)) {
    auto& host = lanes_.lane_of_name(x.host);
    if (host.running <= most)
      continue;
    host.modest_until = now + limits::fetch_modest_time;
    given_back_ = x.job;
    pace_.on_ended(x.job);
    out.given_back.push_back(std::move(x));
    return;
  }
  out.arm(now + limits::fetch_keep_min);
}

supervisor_machine::effects supervisor_machine::on_timer(steady_time now) {
  effects out;
  queue_.on_timer(now);
  lanes_.on_timer(now);
  queue_.scan.on_timer(now);
  give_up_crawling(out, now);
  out = run(std::move(out), now);
  out.arm(now + limits::retry_scan); // SYNC-14
  if (!pace_.empty())
    out.arm(now + limits::fetch_pace_window);
  return out;
}

/// Keeps the permits busy: starts what waits for a host, then looks up hosts
/// for the next in the queue, then reads what did not fit.
supervisor_machine::effects supervisor_machine::run(effects out,
                                                    steady_time now) {
  if (!paused_) {
    while (auto* x = lanes_.next_to_start(now)) {
      x->job = ++last_job_;
      out.start.push_back(
        {*x->repo, x->job, std::exchange(x->identity, nullptr)});
    }
    give_up_unanswered(out, now);
    give_back(out, now);
    while (const auto* x = lanes_.next_to_prepare())
      if (x->attended)
        out.attend.push_back({*x->repo, nullptr});
      else
        out.look_up.push_back(*x->repo);
    out.scan = queue_.scan.next(queue_.due(), options_.queue_max);
  }
  if (const auto at = queue_.next_wake_up())
    out.arm(*at);
  if (const auto at = lanes_.next_reserve_end(now))
    out.arm(*at);
  return out;
}

} // namespace weir::actors
