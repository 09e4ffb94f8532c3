#include "actors/upstream/upstream.hpp"

#include "actors/support/limits_health.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "actors/upstream/stream_rest.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/backfill.hpp"
#include "messages/intake.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

constexpr auto unread
  = "its socket is not read although nothing prevents it, again and again";

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

  void on_frames(stream_frames& x);
  void perform(upstream_machine::effects x);
  void forward(std::vector<atproto::stamped_frame> frames);
  void publish();
  void note_end(const stream_closed& x);

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
  bool opened_ = false;
  stream_rest rest_;
  bool from_now_ = false;   ///< The connection asked for new events only.
  std::string last_error_;  ///< Why the last connection ended.
  std::string hung_up_for_; ///< Why this node ended it, until it is closed.
  actor_timer timer_;
  metric& frames_ = counter("weir_upstream_frames_total", "Frames received");
  metric& bytes_
    = counter("weir_upstream_bytes_total", "Bytes of frames received");
  metric& resets_ = counter("weir_upstream_resets_total",
                            "Times that the position in the stream was reset");
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
               {{"upstream", url()}, {"reason", last_error_ = *x.stopped}});
  if (x.write) {
    auto rows = std::make_shared<storage::journal_batch>();
    rows->upstreams.push_back(*x.write);
    send(shared_->root().journal, journal_rows{std::move(rows), ++token_},
         rows_sink{upstream_actor{this}});
  }
  forward(std::move(x.forward));
  if (x.disconnect && socket_) {
    hung_up_for_ = *x.disconnect;
    socket_->close();
  }
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

/// Keeps the reason why it is not connected, for people. A reason for which
/// this node ended the connection comes before what the socket says.
void upstream::note_end(const stream_closed& x) {
  const auto why = std::exchange(hung_up_for_, {});
  last_error_ = why.empty() ? to_string(x.reason) : why;
  if (x.retry_after >= limits::health_rest_min)
    last_error_ += "; it asked not to be dialled for "
                   + std::to_string(x.retry_after.count()) + " seconds";
}

/// When a late frame ends a silence, the stream was behind then, and not idle.
void upstream::on_frames(stream_frames& x) {
  const auto& arrivals = machine_.arrivals();
  const auto wall = shared_->time->wall_now();
  const auto quiet_since = machine_.quiet_since();
  const auto quiet_min = arrivals.quiet_min(now(), wall);
  auto effects = machine_.on_frames(std::move(x.frames), now());
  const auto is_late = arrivals.is_late(now(), wall);
  machine_.judge_silence(!is_late);
  if (!is_late)
    rest_.on_frames(quiet_since, quiet_min, now());
  perform(std::move(effects));
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

/// Updates the board and the metrics. They show a stamp once it is durable.
void upstream::publish() {
  const auto& row = machine_.row();
  upstream_view view;
  view.id = row.id;
  view.origin = row.url;
  view.relay = row.relay;
  view.epoch = row.epoch;
  view.first_cursor = machine_.stamp_durable() ? row.first_cursor : 0;
  view.whole = machine_.whole();
  view.connected = machine_.connected();
  view.opened = opened_ |= machine_.connected();
  view.opened_at = rest_.opened_at();
  view.read = shared_->intake.reads();
  view.live = machine_.live();
  view.received = machine_.last_received();
  view.cursor = row.cursor;
  view.passed = machine_.passed();
  view.told_until = wall_time{row.passed_us};
  view.quiet_since = machine_.quiet_since();
  view.quiet_min
    = machine_.arrivals().quiet_min(now(), shared_->time->wall_now());
  view.gives_way = machine_.gives_way();
  view.caught_up = rest_.caught_up() && view.connected;
  view.rested_at = rest_.rested_at();
  view.stalls = machine_.keeps_stalling(now());
  view.last_error = view.stalls ? unread : last_error_;
  held_.set(machine_.in_flight_bytes());
  shared_->upstreams.put(view);
  frames_.set(machine_.counters().frames);
  bytes_.set(machine_.counters().bytes);
  resets_.set(machine_.counters().resets);
  poison_.set(machine_.counters().skipped_poison);
  skipped_.set(machine_.counters().skipped_bad);
  too_slow_.set(machine_.counters().too_slow);
  stalls_.set(machine_.counters().stalls);
  connected_.set(machine_.connected() ? 1 : 0);
  cursor_.set(row.cursor);
}

upstream_actor::behavior_type upstream::make_behavior() {
  // Before the first frame can be finished, since it is reported only once.
  shared_->set_upstream(machine_.row().id, this);
  perform(machine_.on_intake(shared_->intake.reads(), now()));
  perform(machine_.start(now()));
  return {
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
                     {"last_error", last_error_}},
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
      last_error_.clear();
      log::info(
        "upstream_connected",
        {{"upstream", url()},
         {"cursor", from_now_ ? std::string{"none"}
                              : std::to_string(machine_.row().cursor)}});
      rest_.on_open(now(), from_now_);
      perform(machine_.on_open(now()));
    },
    [this](stream_frames& x) {
      if (x.connection == connection_)
        on_frames(x);
    },
    [this](const stream_closed& x) {
      if (x.connection != connection_)
        return;
      socket_ = nullptr;
      note_end(x);
      log::info("upstream_closed",
                {{"upstream", url()}, {"reason", last_error_}});
      perform(machine_.on_closed(x, shared_->random->next(), now()));
    },
    [this](const frames_done& x) {
      machine_.on_refused(x.refused, now());
      perform(machine_.on_done(x.epoch, x.seqs, now()));
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
  // Before its first turn, so that a stop of the node finds it.
  shared->set_upstream(id, out);
  return out;
}

} // namespace weir::actors
