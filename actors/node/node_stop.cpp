#include "actors/node/node_impl.hpp"

namespace weir::actors {

void node::impl::add_gauges() {
  auto& metrics = shared->metrics;
  metrics.gauge("weir_oplog_seq", "Last durable operation",
                [this] { return double(store->stats.durable.load()); });
  metrics.gauge("weir_records", "Records held",
                [this] { return double(store->stats.records.load()); });
  metrics.gauge("weir_repos_synced", "Repos in sync", [this] {
    return double(
      store->stats.repos[size_t(storage::repo_status::synced)].load());
  });
  metrics.gauge("weir_repos_tracked", "Repos tracked",
                [this] { return double(store->stats.repo_count()); });
  metrics.gauge("weir_consumer_backlog_events", "Operations not acked",
                [this] { return double(outbox->backlog.load()); });
  metrics.gauge("weir_consumer_inflight", "Events in the window",
                [this] { return double(outbox->in_flight.load()); });
  metrics.gauge("weir_delivered_total", "Events sent",
                [this] { return double(outbox->sent.load()); });
  metrics.gauge("weir_redelivered_total", "Events sent again",
                [this] { return double(outbox->redelivered.load()); });
  metrics.gauge("weir_acked_total", "Events acked",
                [this] { return double(outbox->acked.load()); });
  metrics.gauge("weir_deadletters", "Events given up",
                [this] { return double(outbox->dead_letters.load()); });
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
        self->wait_for(handle);
      }
    };
    end(guardian);
    if (data)
      data->stop_listening();
    for (const auto& x : shared->all_upstreams())
      self->send(x, stop_actor{});
    self->wait_for(shared->all_upstreams());
    upstreams.clear();
    end(shared->supervisor);
    for (auto& x : shared->routers)
      end(x);
    end(shared->identity);
    end(consumer);
    if (faces.stop)
      faces.stop();
    end(shared->journal);
    for (auto& x : shared->readers)
      end(x);
  }
  data = nullptr;
  operations = nullptr;
  net.threads->stop();
  net.threads->join();
  if (faces.release)
    faces.release();
  system->await_all_actors_done();
  faces = {};
  children.clear();
  guardian = nullptr;
  consumer = nullptr;
  shared->clear();
  system.reset();
  net.guarded = nullptr; // Clients end before the loops they lived on.
  net.configured = nullptr;
  net.tls = nullptr;
  net.transport = nullptr;
  net.threads = nullptr;
}

} // namespace weir::actors
