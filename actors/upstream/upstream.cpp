#include "actors/upstream/upstream.hpp"

#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "actors/upstream/view_of_stream.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/backfill.hpp"
#include "messages/intake.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

class upstream final : public observed<upstream_actor::base> {
public:
  upstream(caf::actor_config& config, context_ptr shared,
           storage::upstream_row row, upstream_options options,
           stream_dialer dial)
    : observed(config, "upstream", turn::full), shared_(std::move(shared)),
      dial_(std::move(dial)), machine_(std::move(row), options),
      held_(shared_->memory, memory_use::streams) {}

  behavior_type make_behavior() override;

  void on_exit() override {
    if (socket_)
      socket_->close();
    socket_ = nullptr;
    dial_ = nullptr;
    held_.set(0);
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  const std::string& url() const { return machine_.row().url; }

  steady_time now() const { return shared_->time->steady_now(); }

  void note_passed() { machine_.note_passed(now(), shared_->time->wall_now()); }

  void perform(upstream_machine::effects x);
  void forward(std::vector<atproto::stamped_frame> frames);
  void publish();

  metric& counter(const char* name, const char* help) const {
    return shared_->metrics.counter(name, help, "upstream", url());
  }

  context_ptr shared_;
  stream_dialer dial_;
  upstream_machine machine_;
  byte_claim held_;
  std::shared_ptr<stream_socket> socket_;
  uint64_t connection_ = 0;
  uint64_t token_ = 0;
  bool from_now_ = false; ///< The connection asked for new events only.
  actor_timer timer_;
  metric& frames_ = counter("weir_upstream_frames_total", "Frames received");
  metric& bytes_
    = counter("weir_upstream_bytes_total", "Bytes of frames received");
  metric& resets_
    = counter("weir_upstream_resets_total",
              "Times that events of the stream may have been missed (each bad "
              "frame that is skipped counts), or that its numbers began again");
  metric& poison_
    = counter("weir_upstream_poison_frames_total",
              "Frames that were skipped because they had ended the process");
  metric& skipped_ = counter("weir_upstream_bad_frames_total",
                             "Frames that were skipped because they could not "
                             "be read");
  metric& too_slow_
    = counter("weir_upstream_too_slow_total",
              "Times its host ended the stream because it was read too slowly");
  metric& stalls_ = counter("weir_upstream_stalls_total",
                            "Connections closed because their socket was not "
                            "read although nothing prevented it");
  metric& dials_ = counter("weir_upstream_dials_total", "Attempts to connect");
  metric& connected_
    = shared_->metrics.gauge("weir_upstream_connected",
                             "1 while the stream is live", "upstream", url());
  metric& cursor_ = shared_->metrics.gauge(
    "weir_upstream_cursor",
    "Sequence number up to which every event is durable", "upstream", url());
};

void upstream::perform(upstream_machine::effects x) {
  for (const auto& text : x.alerts)
    log::warn("upstream_alert", {{"upstream", url()}, {"reason", text}});
  if (x.stopped)
    log::error("upstream_stopped",
               {{"upstream", url()}, {"reason", *x.stopped}});
  if (x.write) {
    auto rows = std::make_shared<storage::journal_batch>();
    rows->upstreams.push_back(*x.write);
    send(shared_->root().journal, journal_rows{std::move(rows), ++token_},
         rows_sink{upstream_actor{this}});
  }
  forward(std::move(x.forward));
  if (x.disconnect && socket_)
    socket_->close();
  if (x.connect) {
    dials_.add();
    from_now_ = !x.connect->cursor;
    socket_
      = dial_(url(), x.connect->cursor, ++connection_, upstream_actor{this});
  }
  if ((x.grant_frames > 0 || x.grant_bytes > 0) && socket_)
    socket_->grant(x.grant_frames, x.grant_bytes);
  if (x.list_repos)
    send(shared_->supervisor, node_command{machine_.row().id});
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
  publish();
}

/// Sends frames to their ROUTERs in order, in bounded batches.
void upstream::forward(std::vector<atproto::stamped_frame> frames) {
  if (frames.empty())
    return;
  const auto& routers = shared_->routers();
  std::vector<frame_batch> by_router(routers.size());
  const auto flush = [&](size_t i) {
    if (!by_router[i].frames.empty())
      send(routers[i], std::exchange(by_router[i], {}));
  };
  for (auto& x : frames) {
    const auto i = shared_->places().router_of(x.repo);
    by_router[i].frames.push_back(std::move(x));
    if (by_router[i].frames.size() >= limits::frame_batch_max)
      flush(i);
  }
  for (size_t i = 0; i < by_router.size(); ++i)
    flush(i);
}

/// Updates the board and the metrics.
void upstream::publish() {
  held_.set(machine_.in_flight_bytes());
  shared_->upstreams.put(view_of(machine_, shared_->intake.reads(), now(),
                                 shared_->time->wall_now()));
  frames_.set(machine_.counters().frames);
  bytes_.set(machine_.counters().bytes);
  resets_.set(machine_.counters().resets);
  poison_.set(machine_.counters().skipped_poison);
  skipped_.set(machine_.counters().skipped_bad);
  too_slow_.set(machine_.counters().too_slow);
  stalls_.set(machine_.counters().stalls);
  connected_.set(machine_.connected() ? 1 : 0);
  cursor_.set(machine_.row().cursor);
}

upstream_actor::behavior_type upstream::make_behavior() {
  // Before any frame is read: who finishes one reports it to this handle.
  shared_->set_upstream(machine_.row().id, this);
  perform(machine_.on_intake(shared_->intake.reads(), now()));
  perform(machine_.start(now()));
  return {
    [this](stream_frames& x) {
      if (x.connection == connection_)
        perform(machine_.on_frames(std::move(x.frames), now(),
                                   shared_->time->wall_now()));
    },
    [this](const frames_done& x) {
      machine_.on_refused(x.refused, now());
      perform(machine_.on_done(x.epoch, x.seqs, now()));
    },
    [this](tick x) {
      if (!timer_.fired(x))
        return;
      if (socket_)
        perform(machine_.on_look(socket_->is_read(), now()));
      note_passed();
      perform(machine_.on_timer(now()));
    },
    [this](get_status) {
      return status({{"connected", machine_.connected()},
                     {"cursor", machine_.row().cursor},
                     {"in_flight", machine_.in_flight()},
                     {"last_error", machine_.last_error()}},
                    url());
    },
    [this](stop_actor) {
      note_passed();
      perform(machine_.on_stop());
      quit();
    },
    [this](stream_opened x) {
      if (x.connection != connection_)
        return;
      log::info(
        "upstream_connected",
        {{"upstream", url()},
         {"cursor", from_now_ ? std::string{"none"}
                              : std::to_string(machine_.row().cursor)}});
      perform(machine_.on_open(now()));
    },
    [this](const stream_closed& x) {
      if (x.connection != connection_)
        return;
      socket_ = nullptr;
      machine_.note_end(x);
      log::info("upstream_closed",
                {{"upstream", url()}, {"reason", machine_.last_error()}});
      perform(machine_.on_closed(x, shared_->random->next(), now()));
    },
    [this](frames_lost) {
      perform(machine_.on_lost(now()));
    },
    [this](rows_durable x) {
      pass(crash_point::cursor_written);
      if (x.token == token_)
        perform(machine_.on_row_durable(now()));
    },
    [this](intake_changed) {
      perform(machine_.on_intake(shared_->intake.reads(), now()));
    },
  };
}

} // namespace

upstream_actor spawn_upstream(caf::actor_system& system, context_ptr shared,
                              storage::upstream_row row,
                              upstream_options options, stream_dialer dial) {
  const auto id = row.id;
  const upstream_actor out
    = system.spawn<upstream>(shared, std::move(row), options, std::move(dial));
  // It is set before its first turn, so that a stop of the node finds it.
  shared->set_upstream(id, out);
  return out;
}

} // namespace weir::actors
