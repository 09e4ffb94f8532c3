#include "actors/repo/repo.hpp"

#include "actors/repo/durable_answers.hpp"
#include "actors/repo/fetch_link.hpp"
#include "actors/repo/repo_machine.hpp"
#include "actors/repo/repo_outbox.hpp"
#include "actors/support/finished_frames.hpp"
#include "actors/support/owed_answer.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/caf_types.hpp"
#include "storage/tables/collection_table.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace weir::actors {

namespace {

class repo final : public repo_actor::base {
public:
  using super = repo_actor::base;

  repo(caf::actor_config& config, router_actor router, repo_environment env,
       atproto::did which, uint64_t incarnation)
    : super(config), router_(std::move(router)), env_(std::move(env)),
      machine_(std::move(which), env_.settings, incarnation),
      hash_(atproto::stable_hash(machine_.repo().str())),
      held_(env_.shared->memory, memory_use::repos),
      claim_(env_.shared->kept_frames) {}

  const char* name() const override { return "repo"; }

  behavior_type make_behavior() override;

  void on_exit() override {
    report_waiting(0);
    held_.set(0);
    claim_.clear();
    until_loaded_.clear(); // Answers pending requests with an error.
    answers_.clear();
    fetch_.clear();
    env_.make_backfill = nullptr; // Else it outlives the loops of its client.
    router_ = nullptr;
    super::on_exit();
  }

private:
  now_time now() const {
    const auto& time = *env_.shared->time;
    return {time.steady_now(), time.wall_now(), &env_.shared->signers,
            &env_.shared->upstreams};
  }

  void report_waiting(size_t n) {
    held_.set(machine_.held_bytes());
    env_.metrics->waiting->add(n - waiting_);
    waiting_ = n;
  }

  template <class Job>
  void read(Job job) {
    send(env_.home->reader_of(hash_), reader_job{std::move(job)});
  }

  void load();
  void load_buffer(uint64_t after);
  void on_loaded(repo_loaded& x);
  void perform(repo_effects x);
  void give_back(const repo_effects& x);
  void send_fetch_effects(repo_effects& x);
  void when_loaded(std::function<void()> run);
  template <class Event>
  void when_loaded(const Event& x,
                   repo_effects (repo_machine::*rule)(const Event&, now_time)) {
    when_loaded([this, x, rule] { perform((machine_.*rule)(x, now())); });
  }
  void on_receipt(const repo_receipt& x);
  template <class Reply, class Command>
  caf::result<Reply> change(Command command);
  template <class Reply, class Make>
  caf::result<Reply> answer(Make make);
  void tell_undecided();
  caf::result<job_ended> begin(const begin_fetch& x);
  void on_down(const caf::down_msg& x);
  void passivate(bool must_yield);

  router_actor router_;
  repo_environment env_;
  repo_machine machine_;
  uint64_t hash_;
  actor_timer timer_;
  fetch_link fetch_{this};
  std::vector<std::function<void()>> until_loaded_;
  durable_answers answers_;
  size_t waiting_ = 0;
  /// The upstream whose listing ROUTER knows not to be decided yet; 0: none.
  uint32_t undecided_ = 0;
  byte_claim held_;
  room_claim claim_;
};

void repo::load() {
  read([to = repo_actor{this}, did = machine_.repo()](store_readers& store) {
    const storage::repo_table table{store.db, store.names};
    caf::anon_send(to, repo_loaded{table.load(did)});
  });
}

/// Loads the page of the sync buffer on disk that follows the number `after`.
void repo::load_buffer(uint64_t after) {
  read([to = repo_actor{this}, did = machine_.repo(),
        after](store_readers& store) {
    caf::anon_send(to, store.read_buffer(did, after));
  });
}

void repo::on_loaded(repo_loaded& x) {
  if (!x.rows)
    return quit(to_caf(x.rows.error()));
  perform(machine_.on_loaded(std::move(*x.rows), now()));
  for (auto& run : std::exchange(until_loaded_, {}))
    run();
  perform(machine_.on_awake(now()));
}

void repo::when_loaded(std::function<void()> run) {
  if (machine_.loaded())
    run();
  else
    until_loaded_.push_back(std::move(run));
}

void repo::perform(repo_effects x) {
  for (const auto what : x.counted)
    env_.metrics->events[static_cast<size_t>(what)]->add();
  report_waiting(machine_.waiting());
  give_back(x);
  tell_news(x.news, machine_.repo(), hash_, machine_.row().pds, *env_.shared);
  ask_identity(x, machine_.repo(), repo_actor{this}, *env_.shared);
  if (x.update) {
    answers_.sent();
    send(env_.home->journal, std::move(*x.update), repo_actor{this});
  }
  send_fetch_effects(x);
  if (x.read_buffer)
    load_buffer(*x.read_buffer);
  if (x.timer)
    timer_.arm(this, now().steady, *x.timer);
  if (x.removed)
    send(router_, repo_removed{machine_.repo()});
  tell_undecided();
  if (x.stop) {
    if (x.stop->code == ec::none) {
      send(router_, repo_passive{machine_.repo(), false});
      quit();
    } else {
      log::error("repo_stopped", {{"did", machine_.repo().str()},
                                  {"reason", to_string(*x.stop)}});
      quit(to_caf(*x.stop));
    }
    return;
  }
  if (!claim_.keep(machine_.wait_bytes(), machine_.repo(),
                     machine_.wait_from(), env_.shared->intake))
    perform(machine_.on_no_room(now()));
}

void repo::send_fetch_effects(repo_effects& x) {
  const auto& supervisor = env_.shared->supervisor;
  fetch_.credit(x.chunks_done);
  if (x.job_end)
    fetch_.end(std::move(*x.job_end));
  if (x.ask_host)
    send(supervisor, std::move(*x.ask_host));
  if (x.wish) {
    x.wish->pds = machine_.row().pds;
    send(supervisor, std::move(*x.wish));
  }
  if (x.order)
    fetch_.start(x.order->job,
                 (*env_.make_backfill)(machine_.repo(), std::move(*x.order),
                                       repo_actor{this}));
}

void repo::on_down(const caf::down_msg& x) {
  if (const auto job = fetch_.on_down(x))
    perform(machine_.on_fetch_failed(
      {*job, fail(ec::cancelled, "the fetch crashed")}, now()));
}

/// Reports frames that are finished without an update, or failed verification.
void repo::give_back(const repo_effects& x) {
  finished_frames finished;
  for (const auto& mark : x.done)
    finished.add(mark);
  for (const auto& mark : x.refused)
    finished.refuse(mark);
  finished.tell(this, *env_.shared);
}

/// Runs `command`, which sets whether it changed the repo; answers when
/// durable.
template <class Reply, class Command>
caf::result<Reply> repo::change(Command command) {
  auto promise = make_response_promise<Reply>();
  auto owed = std::make_shared<owed_answer<Reply>>(promise);
  when_loaded([this, owed, command] {
    bool changed = false;
    auto out = command(changed);
    answers_.add(machine_.unsent(out), [owed, changed] {
      if constexpr (std::is_empty_v<Reply>)
        owed->give({});
      else
        owed->give({changed});
    });
    perform(std::move(out));
    answers_.give(machine_.unsent() == 0);
  });
  return promise;
}

void repo::on_receipt(const repo_receipt& x) {
  auto out = machine_.on_receipt(*x.receipt, now());
  if (!out.stop || out.stop->code == ec::none)
    answers_.confirmed();
  answers_.give(machine_.unsent(out) == 0);
  perform(std::move(out));
}

/// Answers with what `make` returns when the rows are loaded.
template <class Reply, class Make>
caf::result<Reply> repo::answer(Make make) {
  auto promise = make_response_promise<Reply>();
  auto owed = std::make_shared<owed_answer<Reply>>(promise);
  when_loaded([owed, make] { owed->give(make()); });
  return promise;
}

/// Tells ROUTER when the repo begins or ends to wait for the events that a
/// listing showed. Must be called before that line of the listing is answered.
void repo::tell_undecided() {
  const auto* line = machine_.undecided_line();
  const auto upstream = line == nullptr ? 0 : line->seen.upstream;
  if (upstream != undecided_)
    send(router_, line_undecided{machine_.repo(), upstream, upstream != 0});
  undecided_ = upstream;
}

caf::result<job_ended> repo::begin(const begin_fetch& x) {
  auto promise = make_response_promise<job_ended>();
  fetch_.permit(x.job, promise);
  when_loaded(
    [this, x] { perform(machine_.on_begin(x.job, *x.identity, now())); });
  return promise;
}

void repo::passivate(bool must_yield) {
  const auto busy = !machine_.idle(must_yield) || !until_loaded_.empty();
  auto out = busy ? repo_effects{} : machine_.on_sleep(now());
  send_fetch_effects(out); // They write nothing any more.
  send(router_, repo_passive{machine_.repo(), busy});
  if (!busy)
    quit();
}

repo_actor::behavior_type repo::make_behavior() {
  set_down_handler([this](caf::down_msg& x) { on_down(x); });
  load();
  return {
    [this](repo_frames& x) {
      for (const auto& frame : x.frames)
        if (frame.bytes.size() > 0)
          pass(crash_point::frame_taken, frame.repo.str());
      perform(machine_.on_frames(std::move(x.frames), now()));
    },
    [this](const repo_receipt& x) { on_receipt(x); },
    [this](tick x) {
      if (timer_.fired(x))
        perform(machine_.on_timer(now()));
    },
    [this](stop_actor) { quit(); },
    [this](get_status) {
      const auto& row = machine_.row();
      return actor_status{machine_.repo().str(), name(), "router",
                          {{"status", storage::to_string(row.status)},
                           {"account", storage::to_string(row.account)},
                           {"host", row.pds},
                           {"waiting", machine_.waiting()}}};
    },
    [this](repo_loaded& x) { on_loaded(x); },
    [this](const identity_answer& x) {
      when_loaded(x, &repo_machine::on_identity);
    },
    [this](const repo_listed& x) {
      return change<listing_taken>(
        [this, x](bool&) { return machine_.on_listed(x, now()); });
    },
    [this](const account_said& x) {
      when_loaded(x, &repo_machine::on_host_answer);
    },
    [this](const repo_incomplete& x) {
      when_loaded(x, &repo_machine::on_incomplete);
    },
    [this](const account_unasked& x) {
      when_loaded(x, &repo_machine::on_host_unasked);
    },
    [this](const passivate_repo& x) { passivate(x.must_yield); },
    [this](const add_repos& x) {
      return change<add_result>([this, x](bool& added) {
        return machine_.on_add(x, added, now());
      });
    },
    [this](const remove_repos&) {
      return change<remove_result>([this](bool& removed) {
        return machine_.on_remove(removed, now());
      });
    },
    [this](const resync_repos&) {
      return change<resync_result>([this](bool& queued) {
        return machine_.on_resync(queued, now());
      });
    },
    [this](ask_tracked) {
      return answer<tracked_reply>(
        [this] { return tracked_reply{machine_.tracked()}; });
    },
    [this](const begin_fetch& x) { return begin(x); },
    [this](const attend_repo& x) {
      return answer<repo_attended>([this, x] {
        repo_attended out;
        if (x.identity)
          perform(machine_.on_no_host(*x.identity, out.failed, now()));
        return out;
      });
    },
    [this](repo_chunk& x) {
      perform(machine_.on_chunk(std::move(x), now()));
    },
    [this](const repo_fetched& x) {
      perform(machine_.on_fetched(x.job, *x.root, now()));
    },
    [this](const repo_fetch_failed& x) {
      perform(machine_.on_fetch_failed(x, now()));
    },
    [this](repo_buffer_page& x) {
      perform(machine_.on_buffer_page(std::move(x), now()));
    },
  };
}

} // namespace

repo_metrics::repo_metrics(metrics_registry& registry) {
  for (const auto* name : repo_counter_names)
    events.push_back(&registry.counter(
      "weir_repo_events_total", "Events of streams, by what became of them",
      "result", name));
  waiting
    = &registry.gauge("weir_repo_waiting_frames", "Frames that wait in REPOs");
}

repo_actor spawn_repo(caf::actor_system& system, router_actor router,
                      const repo_environment& env, atproto::did which,
                      uint64_t incarnation) {
  return system.spawn<repo>(std::move(router), env, std::move(which),
                            incarnation);
}

} // namespace weir::actors
