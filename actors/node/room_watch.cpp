#include "actors/node/disk_choice.hpp"
#include "actors/node/watches.hpp"
#include "actors/node/write_trials.hpp"
#include "actors/support/heap_return.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"
#include "storage/disk/database.hpp"
#include "storage/disk/partition_stores.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

/// Text for people; rounded down.
std::string mebibytes(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

/// Whether the disks of all stores take writes; otherwise the first refusal.
result<void> try_disks(const all_stores& stores) {
  for (const auto* x : stores.each())
    if (auto ok = x->db.try_disk(); !ok)
      return ok;
  return {};
}

class room_watch final : public observed<room_actor::base> {
public:
  room_watch(caf::actor_config& config, context_ptr shared,
             room_watch_options options,
             std::function<void(const error&)> on_failure)
    : observed(config, "room"), shared_(std::move(shared)),
      options_(std::move(options)), on_failure_(std::move(on_failure)) {
    auto& registry = shared_->metrics;
    registry.gauge("weir_memory_limit_bytes", "Value of memory_limit")
      .set(options_.memory_limit);
    for (size_t i = 0; i < held_.size(); ++i)
      held_[i] = &registry.gauge("weir_memory_held_bytes",
                                 "Bytes in queues and caches, by their kind",
                                 "by", std::string{byte_ledger::names[i]});
  }

  behavior_type make_behavior() override {
    look();
    measure();
    return {
      [this](tick x) {
        if (!timer_.fired(x))
          return;
        measure();
        if (look_at_ && *look_at_ <= shared_->time->steady_now())
          look();
      },
      [this](stop_actor) { quit(); },
      [this](get_status) {
        return status({{"disk_free", free_.value()},
                       {"disk_reserve", reserve_.value()},
                       {"memory", memory_.value()}});
      },
      [this](const disk_reading& x) { on_disk(x); },
    };
  }

  void on_exit() override {
    shared_ = nullptr;
    on_failure_ = nullptr;
    observed::on_exit();
  }

private:
  /// Asks for the free disk space; while an answer is missing it does not ask
  /// again. The directory of a partition may be on a disk of its own. When a
  /// store lacked space and enough is free again, the disks are tried as well.
  void look() {
    look_at_.reset();
    const auto tries
      = shared_->intake.level(shortage::store) != intake_level::open
        && trials_.is_due(shared_->time->steady_now());
    const auto job = [to = room_actor{this}, shared = shared_, tries,
                      wanted = options_.disk_reserve](store_readers&) {
      std::optional<disk_reading> out;
      for (const auto* x : shared->stores.each()) {
        auto room = x->db.space();
        disk_reading seen{std::move(room), {}, x->db.identity().partition};
        if (x->db.failed())
          seen.failed = x->db.failure();
        if (!out || counts_before(seen, *out, wanted))
          out = std::move(seen);
      }
      if (tries && has_ample_room(*out, wanted))
        out->trial = try_disks(shared->stores);
      caf::anon_send(to, std::move(*out));
    };
    send(shared_->root().reader_of(0), reader_job{job});
  }

  void on_disk(const disk_reading& x) {
    const auto now = shared_->time->steady_now();
    look_at_ = now + limits::room_check_interval;
    const auto end = reason_to_end(x);
    if (end && end->code == ec::storage_failure && on_failure_)
      return std::exchange(on_failure_, nullptr)(*end);
    if (!x.room) {
      log::warn("disk_not_known", {{"reason", to_string(x.room.error())}});
      return;
    }
    const auto reserve = disk_reserve(options_.disk_reserve, x.room->total);
    free_.set(x.room->free);
    reserve_.set(reserve);
    if (disk_.on_room(x.room->free, disk_marks(reserve)))
      show(
        shortage::disk, disk_.level(),
        "the disk of " + place_of(x.partition) + " has "
          + mebibytes(x.room->free) + " free and " + mebibytes(reserve)
          + " have to stay free: free some space there, or lower disk_reserve");
    const auto ample = has_ample_room(x, options_.disk_reserve);
    if (auto refusal = trials_.on_look(x, ample, now))
      show_refusal(std::move(*refusal));
    if (end && on_failure_)
      std::exchange(on_failure_, nullptr)(*end);
    announce();
  }

  std::string place_of(uint16_t partition) const {
    return partition == 0
             ? "data_dir"
             : storage::partition_directory(options_.data_dir, partition);
  }

  void measure() {
    const auto now = shared_->time->steady_now();
    timer_.arm(this, now, now + limits::room_check_interval / 10);
    const auto& ledger = *shared_->memory;
    for (size_t i = 0; i < held_.size(); ++i)
      held_[i]->set(ledger.held(static_cast<memory_use>(i)));
    const auto resident = options_.resident();
    memory_.set(resident);
    const auto limit = options_.memory_limit;
    const auto used = std::max(resident, ledger.total());
    if (memory_room_.on_room(memory_left(limit, used, ledger.passing()),
                             memory_marks(limit)))
      show(shortage::memory, memory_room_.level(),
           mebibytes(used) + " of memory are in use and " + mebibytes(limit)
             + " are the limit");
    give_back(heap_.on_measure(resident, ledger.passing(),
                               memory_is_short(limit, used), now));
    announce();
  }

  /// Gives back memory. When caches are to be emptied, SWEEPER gives back the
  /// freed memory afterwards.
  void give_back(memory_return what) {
    if (what == memory_return::freed)
      options_.give_back();
    else if (what == memory_return::caches)
      for (const auto& x : shared_->partitions())
        send(x->sweeper, release_caches{});
  }

  void show(shortage of, intake_level to, const std::string& why) {
    const auto open = to == intake_level::open;
    shared_->intake.set(of, to, open ? std::string{} : why);
    if (open)
      log::info("intake_resumed", {{"reason", why}});
    else
      log::warn("intake_paused",
                {{"intake", static_cast<int64_t>(to)}, {"reason", why}});
  }

  /// `/readyz` has the newest reason, the log the first one.
  void show_refusal(std::string why) {
    if (trials_.pause() == limits::disk_trial_pause_min)
      log::warn("disk_refuses_writes", {{"reason", why}});
    shared_->intake.set(shortage::store, intake_level::no_requests,
                        std::move(why));
  }

  /// Notifies all actors that let something in, whoever changed the board.
  void announce() {
    const auto level = shared_->intake.level();
    if (level == std::exchange(reported_, level))
      return;
    level_.set(static_cast<uint64_t>(level));
    for (const auto& x : shared_->all_upstreams())
      send(x, intake_changed{});
    send(shared_->supervisor, intake_changed{});
  }

  context_ptr shared_;
  room_watch_options options_;
  std::function<void(const error&)> on_failure_;
  room_machine disk_;
  write_trials trials_;
  room_machine memory_room_;
  heap_return heap_;
  std::optional<steady_time> look_at_; ///< None: the disk is being asked.
  intake_level reported_ = intake_level::open;
  actor_timer timer_;
  metric& free_ = shared_->metrics.gauge(
    "weir_disk_free_bytes",
    "Free bytes on the disk of data_dir, or on that of a partition's directory "
    "that has less to spare");
  metric& reserve_ = shared_->metrics.gauge(
    "weir_disk_reserve_bytes", "Bytes that stay free on that disk");
  metric& level_ = shared_->metrics.gauge(
    "weir_intake_level",
    "0: everything is accepted; 1: nothing is fetched; 2: no stream is read "
    "either; 3: requests that write are refused, too");
  metric& memory_ = shared_->metrics.gauge(
    "weir_memory_resident_bytes", "Memory of the process that is in RAM");
  std::array<metric*, byte_ledger::names.size()> held_{};
};

} // namespace

room_actor spawn_room_watch(caf::actor_system& system, context_ptr shared,
                            room_watch_options options,
                            std::function<void(const error&)> on_failure) {
  return system.spawn<room_watch>(std::move(shared), std::move(options),
                                  std::move(on_failure));
}

} // namespace weir::actors
