#include "actors/backfill/backfill.hpp"

#include "actors/backfill/limits.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "base/crash_point.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

class backfill final : public observed<backfill_actor::base> {
public:
  backfill(caf::actor_config& config, backfill_environment env,
           atproto::did repo, fetch_order order, repo_actor from)
    : observed(config, "backfill"), env_(std::move(env)),
      repo_(std::move(repo)), order_(std::move(order)),
      from_(std::move(from)), spools_(env_.spools()),
      held_(env_.shared->memory, memory_use::fetches),
      import_(std::make_shared<import_machine>(
        import_order{order_, repo_, env_.bounds.index_entries_max},
        std::move(spools_.store), std::move(spools_.index))),
      machine_(std::in_place, import_, env_.bounds,
               env_.shared->time->steady_now()) {}

  behavior_type make_behavior() override;

  void on_exit() override {
    if (download_)
      download_->cancel();
    download_ = nullptr;
    machine_.reset();
    import_ = nullptr;
    held_.set(0);
    from_ = nullptr;
    env_ = {};
    observed::on_exit();
  }

private:
  void perform(fetch_machine::effects x);
  void run();
  void end(fetch_machine::ending x);

  template <class Job>
  void read(Job job) {
    send(env_.shared->home_of(repo_).reader_of(repo_),
         reader_job{std::move(job)});
  }

  backfill_environment env_;
  atproto::did repo_;
  fetch_order order_;
  repo_actor from_;
  import_spools spools_;
  byte_claim held_;
  std::shared_ptr<import_machine> import_;
  /// Exists until the end, like the import.
  std::optional<fetch_machine> machine_;
  net::http_call_ptr download_;
  bool step_is_due_ = false; ///< A step was ordered, here or from a READER.
};

void backfill::perform(fetch_machine::effects x) {
  held_.set(machine_->bytes_held());
  if (x.progress)
    send(env_.shared->supervisor,
         fetch_progress{order_.job, machine_->received(),
                        machine_->is_received()});
  if (x.grant != 0 && download_)
    download_->grant(x.grant);
  if (x.chunk) {
    pass(crash_point::import_chunk);
    send(from_, repo_chunk{order_.job, import_->root().rev,
                           std::move(*x.chunk)});
  }
  if (x.heads_after)
    read([to = backfill_actor{this}, repo = repo_, base = order_.base,
          after = *x.heads_after](store_readers& store) {
      caf::anon_send(to, store.read_heads(repo, *base, after));
    });
  if (x.end)
    end(std::move(*x.end));
}

/// Steps until the quantum is used up, then lets other actors run.
void backfill::run() {
  if (step_is_due_ || !machine_->may_step())
    return;
  if (spools_.on_disk()) { // A READER reads the file, which may take long.
    step_is_due_ = true;
    read([to = backfill_actor{this}, import = import_](store_readers&) {
      caf::anon_send(to, import->step(limits::import_step_records_max));
    });
    return;
  }
  const auto& time = *env_.shared->time;
  const auto end = time.steady_now() + limits::import_quantum;
  while (machine_->may_step() && time.steady_now() < end)
    perform(machine_->on_step(import_->step(limits::import_step_records_max)));
  if (machine_->may_step()) {
    step_is_due_ = true;
    send(this, backfill_step{});
  }
}

void backfill::end(fetch_machine::ending x) {
  const auto& shared = *env_.shared;
  if (x.host_fault)
    env_.shared->health.with([&](health_machine& health) {
      health.on_fetch(atproto::stable_hash(repo_.str()), order_.pds,
                      *x.host_fault, shared.time->steady_now());
    });
  send(env_.shared->supervisor, host_report{order_.pds, x.host, x.retry_after});
  if (x.outcome) {
    env_.records->add(import_->records());
    send(from_,
         repo_fetched{order_.job,
                      std::make_shared<const atproto::verified_root>(
                        import_->root())});
  } else {
    send(from_, repo_fetch_failed{order_.job, x.outcome.error(),
                                  x.account, x.ahead});
  }
  quit();
}

backfill_actor::behavior_type backfill::make_behavior() {
  held_.set(machine_->bytes_held());
  send(env_.shared->supervisor,
       fetch_begun{repo_, order_.job}, backfill_actor{this});
  download_ = env_.fetch(order_.pds, repo_, backfill_actor{this});
  if (download_)
    download_->grant(limits::fetch_window_bytes);
  return {
    [](tick) {},
    [this](stop_actor) { quit(); },
    [this](get_status) {
      return status({{"host", order_.pds},
                     {"job", order_.job},
                     {"received", machine_->received()},
                     {"is_received", machine_->is_received()}},
                    repo_.str(), "repo");
    },
    [this](const fetch_head& x) {
      perform(machine_->on_head(x));
    },
    [this](const fetch_bytes& x) {
      env_.bytes->add(x.piece.size());
      perform(machine_->on_bytes(x.piece.view(),
                                env_.shared->time->steady_now()));
    },
    [this](const fetch_ended& x) {
      download_ = nullptr;
      perform(machine_->on_end(x.outcome, env_.shared->time->wall_now()));
      run();
    },
    [this](backfill_step) {
      step_is_due_ = false;
      run();
    },
    [this](result<import_progress>& x) {
      step_is_due_ = false;
      perform(machine_->on_step(std::move(x)));
      run();
    },
    [this](heads_page& x) {
      perform(machine_->on_heads(std::move(x)));
      run();
    },
    [this](chunk_stored) {
      perform(machine_->on_chunk_stored());
      run();
    },
    [this](const job_cancelled& x) {
      if (x.reason)
        send(from_, repo_fetch_failed{order_.job, *x.reason, {}});
      quit();
    },
  };
}

} // namespace

backfill_actor spawn_backfill(caf::actor_system& system,
                              const backfill_environment& env,
                              const atproto::did& repo, fetch_order order,
                              repo_actor from) {
  return system.spawn<backfill>(env, repo, std::move(order), std::move(from));
}

} // namespace weir::actors
