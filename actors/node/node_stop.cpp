#include "actors/node/node_impl.hpp"

#include "actors/support/limits.hpp"

namespace weir::actors {

void node::impl::start_watches() {
  room_watch_options options;
  options.disk_reserve = config.disk_reserve;
  options.memory_limit = config.memory_limit;
  if (seams.resident)
    options.resident = seams.resident;
  room = spawn_room_watch(*system, shared, std::move(options), on_failure);
  guard("room", room);
  health = spawn_health_watch(*system, shared);
  guard("health", health);
  progress = spawn_progress_watch(*system, shared);
  guard("progress", progress);
}

void node::impl::add_gauges() {
  for (const auto& x : shared->upstreams.all())
    shared->metrics.gauge(
      "weir_upstream_staleness_seconds",
      "Seconds that a stream is behind the time of day; 0 while it is quiet",
      "upstream", x.origin, [this, id = x.id] {
        return shared->upstreams.find(id).staleness(
          shared->time->wall_now(), shared->time->steady_now(),
          limits::passed_quiet_min);
      });
  add_partition_gauges(shared, partitions);
}

/// Waits until an actor that was asked to stop has ended.
void node::impl::wait_for(caf::scoped_actor& self,
                          const caf::strong_actor_ptr& x) {
  self->monitor(x);
  if (seams.run != nullptr)
    seams.run->run_until([&self] {
      return self->has_next_message();
    });
  self->receive([](const caf::down_msg&) {
    // The actor has ended.
  });
}

/// Ends intake first, then the actors that work on it, the stores last.
void node::impl::stop_actors() {
  caf::scoped_actor self{*system};
  // The context keeps its handles until no actor reads them any more.
  const auto end = [&](const caf::strong_actor_ptr& x) {
    if (!x)
      return;
    self->send(caf::actor_cast<common_actor>(x), stop_actor{});
    wait_for(self, x);
  };
  end(caf::actor_cast<caf::strong_actor_ptr>(guardian));
  end(caf::actor_cast<caf::strong_actor_ptr>(room));
  end(caf::actor_cast<caf::strong_actor_ptr>(health));
  end(caf::actor_cast<caf::strong_actor_ptr>(progress));
  if (data)
    data->stop_listening();
  for (const auto& x : shared->all_upstreams())
    self->send(x, stop_actor{});
  for (const auto& x : shared->all_upstreams())
    wait_for(self, caf::actor_cast<caf::strong_actor_ptr>(x));
  upstreams.clear();
  end(caf::actor_cast<caf::strong_actor_ptr>(shared->supervisor));
  for (const auto& x : partitions)
    x->end_routers(end);
  end(caf::actor_cast<caf::strong_actor_ptr>(shared->identity));
  for (const auto& x : partitions)
    x->end_consumer(end);
  if (faces.stop)
    faces.stop();
  for (const auto& x : partitions)
    x->end_store(end);
}

void node::impl::stop() {
  if (stopped || !system)
    return;
  stopped = true;
  ready->store(false);
  stop_actors();
  data = nullptr;
  operations = nullptr;
  if (net.threads) {
    net.threads->stop();
    net.threads->join();
  }
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
  shared->clear();
  net.guarded = nullptr; // Clients end before the loops that they run on.
  net.configured = nullptr;
  net.tls = nullptr;
  net.transport = nullptr;
  // Also releases handles of requests that were never answered.
  net.threads = nullptr;
  system.reset();
}

} // namespace weir::actors
