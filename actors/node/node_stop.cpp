#include "actors/node/node_impl.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/state_words.hpp"

#include <limits>

namespace weir::actors {

/// Without space the store is there to be read, until NODE's eye on room finds
/// enough for it to be opened anew. Any other failure ends the node.
void node::impl::on_journal_failure(const error& why) {
  if (why.code != ec::disk_full) {
    on_failure(why);
    return;
  }
  shared->intake.set(shortage::store, intake_level::no_requests,
                     "the disk is full: the store is only read until there is "
                     "room");
}

void node::impl::start_room_watch() {
  room_watch_options options;
  options.disk_reserve = config.disk_reserve;
  options.memory_limit = config.memory_limit;
  if (seams.resident)
    options.resident = seams.resident;
  room = spawn_room_watch(*system, shared, std::move(options), on_failure);
  guard("room", caf::actor_cast<caf::strong_actor_ptr>(room));
}

void node::impl::start_health_watch() {
  health = spawn_health_watch(*system, shared);
  guard("health", caf::actor_cast<caf::strong_actor_ptr>(health));
}

void node::impl::start_progress_watch() {
  progress = spawn_progress_watch(*system, shared, store->stats, growth);
  guard("progress", caf::actor_cast<caf::strong_actor_ptr>(progress));
}

namespace {

void add_state_gauges(metrics_registry& metrics, const std::string& name,
                      const std::string& help,
                      const std::vector<state_count>& counts) {
  for (const auto& x : counts)
    metrics.gauge(name, help, "state", std::string{x.word},
                  [count = x.count] { return double(count->load()); });
}

} // namespace

void node::impl::add_gauges() {
  auto& metrics = shared->metrics;
  add_state_gauges(metrics, "weir_repos", "Repos by state",
                   repo_states(store->stats));
  add_state_gauges(metrics, "weir_accounts", "Repos by state of their account",
                   account_states(store->stats));
  metrics.gauge("weir_oplog_seq", "Last durable operation", [this] {
    return double(store->stats.durable.load());
  });
  for (const auto& x : shared->upstreams.all())
    metrics.gauge("weir_upstream_staleness_seconds",
                  "How far a stream is behind the time of day", "upstream",
                  x.origin, [this, id = x.id] {
                    return shared->upstreams.find(id).staleness(
                      shared->time->wall_now(), shared->time->steady_now(),
                      limits::passed_quiet_min);
                  });
  for (size_t i = 0; i < storage::table_families; ++i)
    metrics.gauge("weir_store_bytes", "Size of the store on disk, about",
                  "family", storage::to_string(storage::table_family(i)),
                  [this, i] {
                    return double(growth->sizes()[i]);
                  });
  metrics.gauge("weir_store_memory_bytes",
                "Memory that the store holds to be faster, about",
                [this] {
                  return double(store->db->memory_bytes()
                                + store->tail->bytes_held());
                });
  metrics.gauge("weir_store_growth_bytes_per_day",
                "How fast the store grows, by the last day; NaN in the first "
                "ten minutes",
                [this] {
                  return growth->per_day().value_or(
                    std::numeric_limits<double>::quiet_NaN());
                });
  metrics.gauge("weir_records", "Records held", [this] {
    return double(store->stats.records.load());
  });
  metrics.gauge("weir_collections", "Names of collections held", [this] {
    return double(store->names->size());
  });
  metrics.gauge("weir_collection_names_bytes",
                "Memory that the names of collections hold", [this] {
                  return double(store->names->bytes());
                });
  metrics.counter("weir_store_failed_reads_total",
                  "Reads of the store that failed", [this] {
                    return double(store->db->counters().failed_reads);
                  });
  metrics.gauge("weir_repos_synced", "Repos in sync", [this] {
    return double(
      store->stats.repos[size_t(storage::repo_status::synced)].load());
  });
  metrics.gauge("weir_repos_tracked", "Repos tracked", [this] {
    return double(store->stats.repo_count());
  });
  metrics.gauge("weir_consumer_backlog_events", "Events not acked", [this] {
    return double(outbox->backlog.load());
  });
  metrics.gauge("weir_consumer_backlog_seconds",
                "Age of the oldest event that could be delivered and is not "
                "acked",
                [this] {
                  return outbox->backlog_seconds(seams.time->wall_now());
                });
  metrics.gauge("weir_consumer_inflight", "Events in the window", [this] {
    return double(outbox->in_flight.load());
  });
  metrics.counter("weir_delivered_total", "Events sent", [this] {
    return double(outbox->sent.load());
  });
  metrics.counter("weir_redelivered_total", "Events sent again", [this] {
    return double(outbox->redelivered.load());
  });
  metrics.counter("weir_acked_total", "Events acked", [this] {
    return double(outbox->acked.load());
  });
  metrics.counter("weir_consumer_foreign_acks_total",
                  "Acks of ids that this log never gave out", [this] {
                    return double(outbox->foreign_acks.load());
                  });
  metrics.counter("weir_consumer_bad_acks_total",
                  "Messages of applications that were no acks", [this] {
                    return double(outbox->refused_acks.load());
                  });
  metrics.gauge("weir_deadletters", "Events given up and kept for a decision",
                [this] {
                  return double(outbox->dead_letters.load());
                });
}

/// Returns when an actor that was told to stop has done so.
void node::impl::wait_for(caf::scoped_actor& self,
                          const caf::strong_actor_ptr& x) {
  self->monitor(x);
  if (seams.run != nullptr)
    seams.run->run_until([&self] {
      return self->has_next_message();
    });
  self->receive([](const caf::down_msg&) {
    // It is down.
  });
}

/// Intake first, then what works on it, the store last.
void node::impl::stop() {
  if (stopped || !system)
    return;
  stopped = true;
  ready->store(false);
  {
    caf::scoped_actor self{*system};
    // The context keeps its handles until nobody reads them any more.
    const auto end = [&](const auto& handle) {
      if (handle) {
        self->send(handle, stop_actor{});
        wait_for(self, caf::actor_cast<caf::strong_actor_ptr>(handle));
      }
    };
    end(guardian);
    end(room);
    end(health);
    end(progress);
    if (data)
      data->stop_listening();
    for (const auto& x : shared->all_upstreams())
      self->send(x, stop_actor{});
    for (const auto& x : shared->all_upstreams())
      wait_for(self, caf::actor_cast<caf::strong_actor_ptr>(x));
    upstreams.clear();
    end(shared->supervisor);
    for (const auto& x : shared->routers())
      end(x);
    end(shared->identity);
    end(consumer);
    if (faces.stop)
      faces.stop();
    end(shared->sweeper);
    end(shared->journal);
    for (auto& x : shared->readers)
      end(x);
  }
  data = nullptr;
  operations = nullptr;
  if (net.threads) {
    net.threads->stop();
    net.threads->join();
  }
  if (faces.release)
    faces.release();
  if (seams.run != nullptr)
    seams.run->run_until([this] {
      return system->registry().running() == 0;
    });
  system->await_all_actors_done();
  if (seams.run != nullptr)
    seams.run->end();
  faces = {};
  children.clear();
  guardian = nullptr;
  room = nullptr;
  health = nullptr;
  progress = nullptr;
  consumer = nullptr;
  shared->clear();
  net.guarded = nullptr; // Clients end before the loops they lived on.
  net.configured = nullptr;
  net.tls = nullptr;
  net.transport = nullptr;
  net.threads = nullptr; // With the handles of those whom nothing answered.
  system.reset();
}

} // namespace weir::actors
