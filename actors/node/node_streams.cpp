#include "actors/node/node_impl.hpp"

/// The streams that a node follows.
namespace weir::actors {

upstream_actor node::impl::spawn_stream(const storage::upstream_row& row) {
  net::ws_client_options socket;
  socket.guard = net::address_guard{true}; // The operator named it.
  socket.tls = net.tls;
  socket.user_agent = std::string{"weir/"} + version();
  socket.time = seams.time;
  socket.random = seams.random;
  upstream_options options;
  options.on_future_cursor = config.on_future_cursor;
  options.assume_contiguous_seq = config.assume_contiguous_seq;
  const auto plan = plan_memory(config);
  options.bytes_max = plan.upstream_window;
  options.frames_max = plan.upstream_frames;
  if (!row.relay)
    options.events_per_second = config.pds_events_per_second;
  return spawn_upstream(*system, shared, row, options,
                        make_stream_dialer(net.transport, socket));
}

/// REPOs must see the upstreams from the first moment, for the host rule.
void node::impl::show_upstreams(
  const std::vector<storage::upstream_row>& rows) {
  for (const auto& row : rows) {
    upstream_view view;
    view.id = row.id;
    view.origin = row.url;
    view.relay = row.relay;
    view.epoch = row.epoch;
    view.first_cursor = row.reset_pending ? 0 : row.first_cursor;
    view.cursor = row.cursor;
    shared->upstreams.put(view);
  }
}

void node::impl::start_upstreams(
  const std::vector<storage::upstream_row>& rows) {
  for (const auto& row : rows) {
    upstreams.push_back(spawn_stream(row));
    guarded_child child;
    child.name = "upstream";
    child.handle = caf::actor_cast<caf::strong_actor_ptr>(upstreams.back());
    child.restart = [this, id = row.id]() -> caf::strong_actor_ptr {
      // Restart from its row: frames that were in flight come again.
      const auto known = storage::load_upstreams(*root().store().db);
      if (known)
        for (const auto& x : *known)
          if (x.id == id)
            return caf::actor_cast<caf::strong_actor_ptr>(spawn_stream(x));
      on_failure(fail(ec::storage_failure, "an upstream's row is unreadable"));
      return nullptr;
    };
    children.push_back(std::move(child));
  }
}

} // namespace weir::actors
