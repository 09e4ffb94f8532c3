#include "actors/supervisor/supervisor_impl.hpp"
#include "actors/support/store_readers.hpp"
#include "base/log.hpp"
#include "messages/identity.hpp"

#include <caf/actor_system.hpp>

namespace weir::actors {

supervisor::supervisor(caf::actor_config& config, supervisor_environment env,
                       supervisor_options options, listing_options listing)
  : observed(config, "supervisor", turn::full), env_(std::move(env)),
    machine_(options), listing_(listing), debts_(env_.discover),
    retry_max_(options.retry_max),
    claims_(env_.claims_bytes),
    claims_held_(env_.shared->memory, memory_use::claims),
    questions_(env_.questions),
    questions_held_(env_.shared->memory, memory_use::questions),
    mends_(env_.shared->random->next()),
    left_out_(questions_, mends_, env_.census_entries, env_.questions.kept_max),
    laps_(std::min<std::chrono::seconds>(listing.interval,
                                         limits::uncovered_interval)),
    complete_laps_(options.completeness_interval) {
  // Set before it runs: the REPOs that it asks answer to this handle.
  env_.shared->supervisor = this;
  for (auto& x : std::exchange(env_.listings, {}))
    restore(std::move(x));
}

void supervisor::perform(supervisor_machine::effects x) {
  for (const auto& repo : x.look_up)
    ask_identity(repo, false, {});
  for (const auto& errand : x.attend)
    attend(errand);
  for (const auto& begin : x.start)
    grant(begin);
  for (const auto& slow : x.crawling)
    give_up(slow, metrics_.crawled, " is too slow, others wait");
  for (const auto& silent : x.unanswered)
    give_up(silent, metrics_.unanswered, " has not answered yet, others wait");
  for (const auto& excess : x.given_back)
    give_up(excess, metrics_.given_back,
            " has more than its share, others wait");
  if (x.scan)
    scan(*x.scan);
  arm(x.timer);
  metrics_.queue.set(machine_.queued());
}

void supervisor::scan(const work_scan::request& x) {
  const auto filter = x.quiet ? env_.quiet_work_filter : 0;
  read([to = supervisor_actor{this}, shared = env_.shared, x,
        filter](store_readers&) {
    caf::anon_send(to, shared->stores.scan_work(x.after, x.limit, filter,
                                                shared->upstreams));
  });
}

void supervisor::on_scan(const result<scan_page>& x) {
  if (!x) {
    log::error("scan_failed", {{"reason", to_string(x.error())}});
    quit(to_caf(x.error()));
    return;
  }
  ask_lost(*x);
  for (const auto& found : x->repos)
    perform(machine_.on_found(found.repo, found.status, found.pds,
                              wait_of(found.due, wall(), retry_max_), now(),
                              found.quiet));
  perform(machine_.on_page(x->next, x->end, now()));
}

/// @param by Whose turn the look-up takes; empty: that of the account's host.
void supervisor::ask_identity(const atproto::did& repo, bool fresh,
                              std::string by) {
  send(env_.shared->identity,
       identity_ask{repo, fresh, ++asked_, std::move(by)},
       identity_sink{supervisor_actor{this}});
}

void supervisor::attend(const attend_repo& x) {
  const auto finish = [this, repo = x.repo] {
    perform(machine_.on_attended(repo, now()));
  };
  request(router_of(x.repo), caf::infinite, x)
    .then(
      [this, repo = x.repo, finish](const repo_attended& y) {
        if (y.failed.code != ec::none)
          ends_.note_no_host(repo, y.failed, now());
        finish();
      },
      [finish](caf::error&) { finish(); });
}

/// The REPO has the permit until it answers.
void supervisor::grant(const begin_fetch& x) {
  jobs_[x.repo] = {x.job, {}};
  request(router_of(x.repo), caf::infinite, x)
    .then([this](const job_ended& y) { on_end(y); },
          [this, repo = x.repo, job = x.job](caf::error&) {
            on_lost(repo, job);
          });
}

/// @returns null when the permit is gone: it was given back, or its REPO ended.
supervisor::running_job* supervisor::find(const atproto::did& repo,
                                          uint64_t job) {
  const auto i = jobs_.find(repo);
  return i == jobs_.end() || i->second.job != job ? nullptr : &i->second;
}

void supervisor::on_begun(const fetch_begun& x, const backfill_actor& from) {
  auto* running = find(x.repo, x.job);
  if (running == nullptr)
    return; // Its REPO ended, and cancels this download.
  metrics_.started.add();
  running->handle = from;
  perform(machine_.on_download(x.repo, x.job, now()));
}

/// Gives up a permit for which others wait. That is not a failure of the repo.
void supervisor::give_up(const fetch_pace::download& x, metric& count,
                         const char* why) {
  if (const auto* running = find(x.repo, x.job)) {
    count.add();
    send(running->handle,
         job_cancelled{fail(ec::rate_limited, x.host + why)});
  }
}

void supervisor::on_end(const job_ended& x) {
  if (find(x.repo, x.job) == nullptr)
    return;
  jobs_.erase(x.repo);
  ends_.note(x, now());
  perform(machine_.on_end(x.repo, x.job, now()));
}

void supervisor::on_lost(const atproto::did& repo, uint64_t job) {
  if (find(repo, job) == nullptr)
    return;
  jobs_.erase(repo);
  ends_.note_lost();
  perform(machine_.on_owner_lost(repo, job, now()));
}

void supervisor::on_intake() {
  const auto& intake = env_.shared->intake;
  perform(machine_.on_intake(intake.backfills(), now()));
  perform(listing_machine::effects{});
  scan_uncovered();
  if (intake.level(shortage::disk) == intake_level::no_requests)
    cancel_all();
}

/// Spooled data takes memory; the repos are fetched again later.
void supervisor::cancel_all() {
  for (const auto& [repo, job] : jobs_)
    if (job.handle)
      send(job.handle,
           job_cancelled{fail(ec::disk_full, "no room on the disk")});
}

void supervisor::on_exit() {
  jobs_.clear();
  claimed_.clear();
  env_ = {};
  observed::on_exit();
}

supervisor_actor::behavior_type supervisor::make_behavior() {
  set_exit_handler([this](caf::exit_msg& x) { quit(x.reason); });
  laps_.start(now(), env_.shared->random->next());
  complete_laps_.start(now());
  on_intake();
  perform(machine_.on_start(now(), wall()));
  count_complete();
  return {
    [this](tick x) {
      if (!timer_.fired(x))
        return;
      perform(machine_.on_timer(now()));
      perform(listing_.on_timer(env_.shared->upstreams, now(), wall()));
      perform(claims_.on_timer(now()));
      perform(origins_.on_timer(now()));
      perform(returned_.on_timer(now()));
      perform(questions_.on_timer(now()));
      scan_uncovered();
      count_complete();
    },
    [this](stop_actor) { quit(); },
    [this](get_status) {
      return status({{"queued", machine_.queued()},
                     {"running", machine_.running()},
                     {"hosts", machine_.hosts()},
                     {"questions", questions_.open()}});
    },
    [this](const repo_wish& x) {
      const std::chrono::seconds wait{
        std::max<int64_t>(x.not_before - wall().seconds(), 0)};
      perform(machine_.on_wish(x.repo, x.status, x.pds, wait, now()));
    },
    [this](const fetch_begun& x, const backfill_actor& from) {
      on_begun(x, from);
    },
    [this](const host_report& x) {
      perform(machine_.on_host(x.pds, x.what, x.retry_after, now()));
    },
    [this](const fetch_progress& x) {
      perform(machine_.on_progress(x.job, x.bytes, x.received, now()));
    },
    [this](const result<scan_page>& x) { on_scan(x); },
    [this](node_command x) { list(x.list_upstream); },
    [this](clock_corrected) { perform(listing_.on_clock_set(now(), wall())); },
    [this](const listing_page& x) { on_listing(x); },
    [this](const listing_compared& x) { on_compared(x); },
    [this](const identity_answer& x) { on_identity(x); },
    [this](const stream_claim& x) { on_stream_claim(x); },
    [this](intake_changed) { on_intake(); },
    [this](const account_question& x) {
      question_machine::question asked{x};
      asked.noted = env_.shared->upstreams.accounting_for(x.pds).since_reset();
      perform(questions_.on_question(asked, now()));
    },
    [this](const account_answer& x) { on_answer(x); },
    [this](const left_out_page& x) { on_left_out(x); },
    [this](const result<uncovered_page>& x) { on_uncovered(x); },
    [this](const result<completeness_page>& x) { on_counted(x); },
  };
}

supervisor_actor spawn_supervisor(caf::actor_system& system,
                                  supervisor_environment env,
                                  supervisor_options options,
                                  listing_options listing) {
  return system.spawn<supervisor>(std::move(env), options, listing);
}

} // namespace weir::actors
