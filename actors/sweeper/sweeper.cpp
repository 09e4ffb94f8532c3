#include "actors/sweeper/sweeper.hpp"

#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "actors/sweeper/limits.hpp"
#include "actors/sweeper/sweeper_machine.hpp"
#include "actors/sweeper/trim_machine.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"
#include "storage/disk/database.hpp"
#include "storage/log/erasure.hpp"
#include "storage/log/log_trim.hpp"
#include "storage/log/replaced_content.hpp"
#include "storage/log/tail_cache.hpp"
#include "storage/tables/collection_table.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

class sweeper final : public observed<sweeper_actor::base> {
public:
  sweeper(caf::actor_config& config, context_ptr shared, home_ptr home,
          sweeper_store store, bool own_thread)
    : observed(config, "sweeper"), shared_(std::move(shared)),
      home_(std::move(home)),
      store_(std::move(store)), own_thread_(own_thread),
      trimming_(store_.retention) {}

  behavior_type make_behavior() override;

  void on_exit() override {
    shared_ = nullptr;
    home_ = nullptr;
    observed::on_exit();
  }

private:
  void perform(const sweeper_effects& x);
  void scan();
  void compact(const sweeper_range& x);
  void fail(const error& why);
  void arm(std::optional<steady_time>& due, steady_time at);
  void on_time();
  void trim(trim_effects x);
  void begin_lap();
  void look(const trim_effects::look_at& x);
  void plan();
  void compact(storage::content_span x);
  void trimming_failed(const error& why);
  steady_time now() const { return shared_->time->steady_now(); }

  context_ptr shared_;
  home_ptr home_;
  sweeper_store store_;
  bool own_thread_;
  sweeper_machine machine_;
  /// The next compaction; none: the next is a scan.
  std::optional<sweeper_range> order_;
  trim_machine trimming_;
  actor_timer timer_; ///< For the earlier one of the next two.
  std::optional<steady_time> sweep_at_;
  std::optional<steady_time> trim_at_;
  metric& trimmed_ = shared_->metrics.counter(
    "weir_log_trimmed_total", "Operations that were removed from the log, "
                              "because they are old and not current");
  metric& replaced_ = shared_->metrics.counter(
    "weir_versions_erased_total",
    "Versions of records whose content was erased, because they were replaced "
    "or deleted long ago");
  metric& erased_ = shared_->metrics.counter(
    "weir_repos_erased_total", "Repos whose erased content has left the disk");
  metric& failed_ = shared_->metrics.counter(
    "weir_erasing_failed_total", "Times that erased content could not be found "
                                 "on the disk or removed from it");
};

void sweeper::perform(const sweeper_effects& x) {
  for (const auto& [repo, row] : x.over) {
    send(home_->journal, erase_over{repo, row.through});
    erased_.add();
  }
  if (x.step)
    send(home_->journal, erase_step{*x.step}, sweeper_actor{this});
  if (x.timer)
    arm(sweep_at_, *x.timer);
  if (x.well)
    log::info("erasing_goes_on", {});
  if (x.compact || x.scan) {
    order_ = x.compact;
    send(this, sweep_on{});
  }
}

void sweeper::arm(std::optional<steady_time>& due, steady_time at) {
  due = at;
  timer_.arm(this, now(), at);
}

void sweeper::on_time() {
  const auto passed = [at = now()](std::optional<steady_time>& due) {
    return due && *due <= at && std::exchange(due, std::nullopt);
  };
  if (passed(sweep_at_))
    perform(machine_.on_timer(now()));
  if (passed(trim_at_))
    trim(trimming_.on_timer(now()));
  for (const auto& due : {sweep_at_, trim_at_})
    if (due)
      timer_.arm(this, now(), *due);
}

/// Does one scan or one compaction, and then what was ordered meanwhile.
void sweeper::scan() {
  const auto rows
    = storage::erasures_to_sweep(*store_.db, limits::sweep_repos_max);
  if (!rows)
    return fail(rows.error());
  perform(machine_.on_scanned(*rows, now()));
}

void sweeper::compact(const sweeper_range& x) {
  const auto found
    = x.content.first != 0
        ? storage::compact_content(*store_.db, store_.partition, x.content,
                                   limits::compaction_slice_bytes)
        : storage::compact_waiting(*store_.db, x.first, x.last);
  pass(crash_point::sweep_compacted);
  if (!found)
    return fail(found.error());
  perform(machine_.on_compacted(*found, now()));
}

void sweeper::fail(const error& why) {
  failed_.add();
  const auto next = machine_.on_failed(now());
  if (next.trouble)
    log::warn("erasing_failed", {{"reason", to_string(why)}});
  perform(next);
}

void sweeper::trim(trim_effects x) {
  if (x.erase)
    send(home_->journal, erase_replaced{*x.erase}, sweeper_actor{this});
  if (!x.remove.empty())
    send(home_->journal, trim_log{std::move(x.remove)}, sweeper_actor{this});
  if (x.purged)
    send(home_->journal, content_purged{});
  if (x.timer)
    arm(trim_at_, *x.timer);
  if (x.begin)
    begin_lap();
  else if (x.look)
    look(*x.look);
  else if (x.plan)
    plan();
  else if (x.compact)
    compact(*x.compact);
}

/// While the clock is suspect the age of a block is not known, so none counts
/// as old.
void sweeper::begin_lap() {
  const auto since = shared_->time->wall_now() + -store_.retention;
  const auto doubted = std::ranges::any_of(
    shared_->health.findings(),
    [](const auto& y) { return y.cause == health_cause::clock; });
  const auto old = doubted ? result<storage::op_id>{1}
                           : storage::first_written_since(
                             *store_.db, store_.partition, since.micros);
  if (!old)
    return trimming_failed(old.error());
  trim(trimming_.on_horizon(*old, now()));
}

void sweeper::look(const trim_effects::look_at& x) {
  const auto needs = storage::log_needs::load(*store_.db, store_.partition,
                                              home_->outbox.uses_log);
  if (!needs)
    return trimming_failed(needs.error());
  auto found
    = storage::find_spent(*store_.db, *store_.names, store_.partition, *needs,
                          x.from, x.until, limits::trim_step_ops_max);
  if (!found)
    return trimming_failed(found.error());
  trim(trimming_.on_looked(std::move(*found), now()));
}

void sweeper::plan() {
  const auto spans = storage::content_to_purge(*store_.db);
  if (!spans)
    return trimming_failed(spans.error());
  trim(trimming_.on_planned(*spans, now()));
}

void sweeper::compact(storage::content_span x) {
  const auto found = storage::compact_content(
    *store_.db, store_.partition, x, limits::compaction_slice_bytes);
  if (!found)
    return trimming_failed(found.error());
  trim(trimming_.on_compacted(*found, now()));
}

void sweeper::trimming_failed(const error& why) {
  log::warn("trimming_failed", {{"reason", to_string(why)}});
  trim(trimming_.on_failed(now()));
}

sweeper_actor::behavior_type sweeper::make_behavior() {
  if (own_thread_)
    name_thread("sweeper");
  perform(machine_.on_erased());
  trim(trimming_.on_start(now()));
  return {
    [this](tick x) {
      if (timer_.fired(x))
        on_time();
    },
    [this](stop_actor) { quit(); },
    [this](get_status) {
      return status({{"compacts", order_.has_value()}},
                    std::to_string(home_->number));
    },
    [this](erase_begun) { perform(machine_.on_erased()); },
    [this](const erase_stepped& x) {
      perform(machine_.on_stepped(x.more, x.busy, now()));
    },
    [this](replaced_erased x) {
      replaced_.add(x.contents);
      trim(x.failed ? trimming_.on_failed(now())
                    : trimming_.on_erased(x.more, now()));
    },
    [this](log_trimmed x) {
      trimmed_.add(x.operations);
      trim(trimming_.on_trimmed(now()));
    },
    [this](release_caches) {
      store_.tail->clear();
      store_.db->release_memory();
      store_.give_back();
    },
    [this](sweep_on) {
      if (const auto range = std::exchange(order_, std::nullopt))
        compact(*range);
      else
        scan();
    },
  };
}

} // namespace

sweeper_actor spawn_sweeper(caf::actor_system& system, context_ptr shared,
                            home_ptr home, sweeper_store store,
                            bool detached) {
  if (detached)
    return system.spawn<sweeper, caf::detached>(
      std::move(shared), std::move(home), std::move(store), true);
  return system.spawn<sweeper>(std::move(shared), std::move(home),
                               std::move(store), false);
}

} // namespace weir::actors
