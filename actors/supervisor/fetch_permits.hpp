#pragma once

#include "actors/supervisor/supervisor_desk.hpp"
#include "actors/supervisor/supervisor_machine.hpp"
#include "actors/support/store_readers.hpp"

#include <algorithm>
#include <unordered_map>

namespace weir::actors {

/// The fetches: asks IDENTITY for their hosts, gives REPOs their permits and
/// takes them back. `supervisor_machine` decides. Part of the SUPERVISOR.
class fetch_permits {
public:
  fetch_permits(supervisor_desk& desk, const supervisor_options& options)
    : desk_(desk), machine_(options), retry_max_(options.retry_max) {}

  void start() { perform(machine_.on_start(desk_.now(), desk_.wall())); }
  void on_timer() { perform(machine_.on_timer(desk_.now())); }

  void on_intake() {
    const auto& intake = desk_.shared().intake;
    perform(machine_.on_intake(intake.backfills(), desk_.now()));
    if (!intake.keeps_fetches())
      for (const auto& [repo, job] : jobs_)
        cancel(job, fail(ec::disk_full, "no room on the disk"));
  }

  void on_wish(const repo_wish& x) {
    const std::chrono::seconds wait{
      std::max<int64_t>(x.not_before - desk_.wall().seconds(), 0)};
    perform(machine_.on_wish(x.repo, x.status, x.pds, wait, desk_.now()));
  }

  void on_scan(const result<scan_page>& x) {
    if (!x) {
      log::error("scan_failed", {{"reason", to_string(x.error())}});
      desk_.self->quit(to_caf(x.error()));
      return;
    }
    for (const auto& found : x->repos)
      perform(machine_.on_found(found.repo, found.status, found.pds,
                                wait_of(found.due, desk_.wall(), retry_max_),
                                desk_.now(), found.quiet));
    perform(machine_.on_page(x->next, x->end, desk_.now()));
  }

  void on_identity(const identity_answer& x) {
    perform(machine_.on_identity(x, desk_.now()));
  }

  void on_begun(const fetch_begun& x, const backfill_actor& from) {
    auto* running = find(x.repo, x.job);
    if (running == nullptr)
      return; // Its REPO ended, and cancels this download.
    desk_.metrics.started.add();
    running->handle = from;
    perform(machine_.on_download(x.repo, x.job, desk_.now()));
  }

  void on_host(const host_report& x) {
    perform(machine_.on_host(x, desk_.now()));
  }

  void on_progress(const fetch_progress& x) {
    perform(machine_.on_progress(x, desk_.now()));
  }

  const supervisor_machine& machine() const noexcept { return machine_; }

private:
  /// A permit, from the moment when it is granted.
  struct running_job {
    uint64_t job = 0;
    backfill_actor handle; ///< Set from the moment when the download begins.
  };

  void perform(supervisor_machine::effects x) {
    auto& metrics = desk_.metrics;
    for (const auto& repo : x.look_up)
      desk_.ask_identity(repo, false, {});
    for (const auto& errand : x.attend)
      attend(errand);
    for (const auto& begin : x.start)
      grant(begin);
    for (const auto& slow : x.crawling)
      give_up(slow, metrics.too_slow, " is too slow, others wait");
    for (const auto& silent : x.unanswered)
      give_up(silent, metrics.unanswered, " has not answered yet, others wait");
    for (const auto& excess : x.given_back)
      give_up(excess, metrics.given_back,
              " has more than its share, others wait");
    if (x.scan)
      scan(*x.scan);
    desk_.arm(x.timer);
    metrics.queue.set(machine_.queued());
  }

  void scan(const work_scan::request& x) {
    const auto filter = x.quiet ? desk_.env.quiet_work_filter : 0;
    desk_.read([to = desk_.sink(), shared = desk_.env.shared, x,
                filter](store_readers&) {
      caf::anon_send(to, shared->stores.scan_work(x.after, x.limit, filter,
                                                  shared->upstreams));
    });
  }

  void attend(const attend_repo& x) {
    const auto finish = [this, repo = x.repo] {
      perform(machine_.on_attended(repo, desk_.now()));
    };
    desk_.self->request(desk_.router_of(x.repo), caf::infinite, x)
      .then(
        [this, repo = x.repo, finish](const repo_attended& y) {
          if (y.failed)
            ends_.note_no_host(repo, *y.failed, desk_.now());
          finish();
        },
        [finish](caf::error&) { finish(); });
  }

  /// The REPO has the permit until it answers.
  void grant(const begin_fetch& x) {
    jobs_[x.repo] = {x.job, {}};
    desk_.self->request(desk_.router_of(x.repo), caf::infinite, x)
      .then([this](const job_ended& y) { on_end(y); },
            [this, repo = x.repo, job = x.job](caf::error&) {
              on_lost(repo, job);
            });
  }

  /// @returns null when the permit is gone: it was given back, or its REPO
  /// ended.
  running_job* find(const atproto::did& repo, uint64_t job) {
    const auto i = jobs_.find(repo);
    return i == jobs_.end() || i->second.job != job ? nullptr : &i->second;
  }

  void cancel(const running_job& x, error why) {
    if (x.handle)
      desk_.self->send(x.handle, job_cancelled{std::move(why)});
  }

  /// Gives up a permit for which others wait, which is no failure of the repo.
  void give_up(const fetch_pace::download& x, metric& count, const char* why) {
    if (const auto* running = find(x.repo, x.job)) {
      count.add();
      cancel(*running, fail(ec::rate_limited, x.host + why));
    }
  }

  void on_end(const job_ended& x) {
    if (find(x.repo, x.job) == nullptr)
      return;
    jobs_.erase(x.repo);
    ends_.note(x, desk_.now());
    perform(machine_.on_end(x.repo, x.job, desk_.now()));
  }

  void on_lost(const atproto::did& repo, uint64_t job) {
    if (find(repo, job) == nullptr)
      return;
    jobs_.erase(repo);
    ends_.note_lost();
    perform(machine_.on_owner_lost(repo, job, desk_.now()));
  }

  supervisor_desk& desk_;
  supervisor_machine machine_;
  std::chrono::seconds retry_max_;
  fetch_ends ends_{desk_.shared().metrics};
  std::unordered_map<atproto::did, running_job> jobs_;
};

} // namespace weir::actors
