#include "actors/backup/backup.hpp"

#include "actors/backup/backup_pace.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/owed_answer.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "messages/backup.hpp"
#include "storage/backup/backup_writer.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace weir::actors {

namespace {

class backup final : public observed<backup_actor::base> {
public:
  backup(caf::actor_config& config, context_ptr shared, backup_sources from,
         bool own_thread)
    : observed(config, "backup"), shared_(std::move(shared)),
      from_(std::move(from)), own_thread_(own_thread) {
    shared_->metrics.gauge("weir_backup_pause_seconds",
                           "For how long the last backup stopped all writing",
                           [us = pause_us_] { return double(*us) / 1e6; });
  }

  behavior_type make_behavior() override;

  void on_exit() override {
    end_running();
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  caf::result<backup_made> begin(const make_backup& x);
  result<void> check_room() const;
  void work();
  void succeed();
  void note_failure(const error& why);
  void fail(const error& why);
  void end_running();
  backup_made summary() const;
  steady_time now() const { return shared_->time->steady_now(); }

  context_ptr shared_;
  backup_sources from_;
  bool own_thread_;
  std::optional<storage::backup_writer> writer_; ///< None: nothing to do.
  std::string directory_; ///< Where the backup is made.
  std::unique_ptr<owed_answer<backup_made>> owed_;
  steady_time began_;
  actor_timer timer_;
  /// The page of metrics reads it, also after this actor has ended.
  std::shared_ptr<std::atomic<int64_t>> pause_us_
    = std::make_shared<std::atomic<int64_t>>(0);
  metric& running_ = shared_->metrics.gauge("weir_backup_running",
                                            "1 while a backup is being made");
  metric& failed_ = shared_->metrics.counter("weir_backup_failed_total",
                                             "Backups that failed");
  metric& succeeded_ = shared_->metrics.gauge(
    "weir_backup_last_success_timestamp_seconds",
    "When the last backup was complete, in seconds since 1970; 0: none was "
    "since the start");
  metric& duration_ = shared_->metrics.gauge("weir_backup_duration_seconds",
                                             "How long the last backup took");
  metric& bytes_ = shared_->metrics.gauge("weir_backup_bytes",
                                          "Size of the last backup");
};

/// The files that LevelDB does not need any more stay while a backup is made.
result<void> backup::check_room() const {
  for (const auto of : {shortage::disk, shortage::store})
    if (shared_->intake.level(of) != intake_level::open)
      return weir::fail(ec::disk_full,
                        "the node itself is short of disk, so no backup is "
                        "made: free some space there first");
  return {};
}

caf::result<backup_made> backup::begin(const make_backup& x) {
  if (writer_)
    return to_caf(weir::fail(ec::rate_limited, "a backup is being made: try "
                                               "again when it has ended"));
  directory_ = x.directory;
  if (auto ok = check_room(); !ok) {
    note_failure(ok.error());
    return to_caf(ok.error());
  }
  storage::backup_order order{x.directory, from_.data_dir, from_.stores,
                              shared_->log_epoch, {}};
  for (const auto& home : shared_->partitions())
    order.last_operations.push_back(home->stats.durable);
  began_ = now();
  auto made = storage::backup_writer::begin(std::move(order), *from_.disk,
                                            *shared_->time);
  if (!made) {
    note_failure(made.error());
    return to_caf(made.error());
  }
  writer_.emplace(std::move(*made));
  running_.set(1);
  auto promise = make_response_promise<backup_made>();
  owed_ = std::make_unique<owed_answer<backup_made>>(promise);
  timer_.arm(this, now(), now());
  return promise;
}

void backup::work() {
  const auto before = now();
  if (auto ok = check_room(); !ok)
    return fail(ok.error());
  const auto over = writer_->step();
  if (!over)
    return fail(over.error());
  if (*over)
    return succeed();
  timer_.arm(this, now(), after_rest(before, now()));
}

backup_made backup::summary() const {
  const auto& x = writer_->summary();
  return {x.folder,       x.files, x.bytes,       x.copied_bytes,
          x.reused_files, x.pause, now() - began_};
}

void backup::succeed() {
  const auto made = summary();
  const auto seconds
    = std::chrono::duration_cast<std::chrono::seconds>(made.duration);
  succeeded_.set(static_cast<uint64_t>(shared_->time->wall_now().seconds()));
  pause_us_->store(made.pause.count());
  duration_.set(static_cast<uint64_t>(seconds.count()));
  bytes_.set(made.bytes);
  log::info("backup_made", {{"folder", made.folder},
                            {"files", made.files},
                            {"bytes", made.bytes},
                            {"copied_bytes", made.copied_bytes},
                            {"pause_us", made.pause.count()},
                            {"seconds", seconds.count()}});
  owed_->give(made);
  writer_.reset();
  end_running();
}

void backup::note_failure(const error& why) {
  failed_.add();
  log::warn("backup_failed",
            {{"directory", directory_}, {"reason", to_string(why)}});
}

void backup::fail(const error& why) {
  note_failure(why);
  owed_->fail(why);
  end_running();
}

/// One that is not complete leaves nothing.
void backup::end_running() {
  if (writer_)
    writer_->give_up();
  writer_.reset();
  owed_ = nullptr;
  running_.set(0);
}

backup_actor::behavior_type backup::make_behavior() {
  if (own_thread_)
    name_thread("backup");
  return {
    [this](tick x) {
      if (timer_.fired(x) && writer_)
        work();
    },
    [this](stop_actor) {
      if (writer_)
        fail(weir::fail(ec::cancelled, "the node stops"));
      quit();
    },
    [this](get_status) { return status({{"runs", writer_.has_value()}}); },
    [this](const make_backup& x) { return begin(x); },
  };
}

} // namespace

backup_actor spawn_backup(caf::actor_system& system, context_ptr shared,
                          backup_sources from, bool detached) {
  if (detached)
    return system.spawn<backup, caf::detached>(std::move(shared),
                                               std::move(from), true);
  return system.spawn<backup>(std::move(shared), std::move(from), false);
}

} // namespace weir::actors
