#include "actors/journal/journal.hpp"

#include "actors/journal/limits.hpp"
#include "actors/journal/publication_machine.hpp"
#include "actors/journal/sweep_steps.hpp"
#include "actors/support/finished_frames.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/consumer.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace weir::actors {

namespace {

bool makes_synced(const storage::repo_update& x) {
  return x.row && x.row->status == storage::repo_status::synced
         && x.old_status != storage::repo_status::synced;
}

bool erases(const storage::repo_update& x) {
  return x.erase;
}

struct pending_update {
  journal_update what;
  repo_actor from;
};

struct pending_rows {
  journal_rows what;
  rows_sink from;
};

storage::journal_batch batch_of(std::vector<pending_update>& updates,
                                const std::vector<pending_rows>& rows) {
  storage::journal_batch out;
  out.updates.reserve(updates.size());
  for (auto& x : updates)
    out.updates.push_back(std::move(*x.what.update));
  for (const auto& x : rows)
    out.append(*x.what.rows);
  return out;
}

class journal final : public observed<journal_actor::base> {
public:
  journal(caf::actor_config& config, context_ptr shared, home_ptr home,
          journal_store store, std::function<void(const error&)> failure)
    : observed(config, "journal"), shared_(std::move(shared)),
      home_(std::move(home)), store_(std::move(store)),
      on_failure_(std::move(failure)),
      disk_(*shared_->time, home_->stats, store_.before_wait),
      steps_(*store_.writer, *store_.tail, *home_, disk_),
      names_held_(shared_->memory, memory_use::names),
      publication_(home_->stats, home_->accounts, shared_->metrics) {
    names_held_.set(store_.writer->names_bytes());
    auto& registry = shared_->metrics;
    batches_ = &registry.counter("weir_journal_batches_total",
                                 "Batches written to the store");
    updates_
      = &registry.counter("weir_journal_updates_total", "Repo updates written");
    refused_ = &registry.counter("weir_journal_refused_total",
                                 "Repo updates that were not written");
    operations_ = &registry.counter("weir_journal_operations_total",
                                    "Operations appended to the log");
  }

  behavior_type make_behavior() override;

  void on_exit() override {
    shared_ = nullptr;
    home_ = nullptr;
    on_failure_ = nullptr;
    observed::on_exit();
  }

private:
  void wake();
  void flush();
  bool write_all();
  bool write(std::vector<pending_update> updates,
             std::vector<pending_rows> rows);
  result<storage::commit_result> commit(const storage::journal_batch& batch);
  void publish(const publication_machine::effects& x,
               const std::vector<pending_rows>& rows,
               const storage::commit_result& written);
  void note_missed(const journal_missed& x, const router_actor& from);
  template <class Answer>
  void answer(const result<Answer>& x, const sweeper_actor& to);
  void end_erasing(const erase_over& x);
  void forget_erased();
  void fail(const error& why);

  context_ptr shared_;
  home_ptr home_;
  journal_store store_;
  std::function<void(const error&)> on_failure_;
  watched_disk disk_;
  sweep_steps steps_;
  batch_machine<pending_update> queue_;
  byte_claim names_held_;
  publication_machine publication_;
  std::vector<pending_rows> rows_;
  bool woken_ = false;
  bool failed_ = false;
  actor_timer timer_; ///< Ends a pause of backfill.
  metric* batches_ = nullptr;
  metric* updates_ = nullptr;
  metric* refused_ = nullptr;
  metric* operations_ = nullptr;
};

/// Sends one message to itself behind all waiting messages: their updates go
/// into the next batch, and an idle JOURNAL starts at once.
void journal::wake() {
  if (woken_)
    return;
  woken_ = true;
  send(this, journal_flush{});
}

void journal::flush() {
  woken_ = false;
  if (failed_)
    return;
  const auto paused
    = queue_.has_backfill() && queue_.rests(store_.level0_files());
  auto updates = queue_.take(paused);
  auto rows = std::exchange(rows_, {});
  if (!updates.empty() || !rows.empty())
    if (!write(std::move(updates), std::move(rows)))
      return;
  if (queue_.has_live() || (queue_.has_backfill() && !paused)) {
    wake();
  } else if (queue_.has_backfill()) {
    const auto now = shared_->time->steady_now();
    timer_.arm(this, now, now + limits::journal_pause);
  }
}

/// Writes everything that was requested so far.
bool journal::write_all() {
  while (!failed_ && (queue_.has_live() || queue_.has_backfill()))
    write(queue_.take(false), std::exchange(rows_, {}));
  return !failed_;
}

/// Updates of a dead REPO are written first: they may contain an older row.
void journal::note_missed(const journal_missed& x, const router_actor& from) {
  if (!write_all())
    return;
  const auto ok
    = disk_.run([&] { return store_.writer->note_missed(x.repo); });
  if (!ok)
    return fail(ok.error());
  send(from, journal_noted{x.repo});
}

result<storage::commit_result>
journal::commit(const storage::journal_batch& batch) {
  const auto has = [&batch](bool (*kind)(const storage::repo_update&)) {
    return [&batch, kind] {
      return std::ranges::any_of(batch.updates, kind);
    };
  };
  pass(crash_point::journal_batch);
  pass_if(crash_point::synced_batch, has(makes_synced));
  pass_if(crash_point::erase_batch, has(erases));
  auto written = disk_.run([&] { return store_.writer->commit(batch); });
  pass(crash_point::journal_written);
  pass_if(crash_point::synced_written, has(makes_synced));
  pass_if(crash_point::erase_written, has(erases));
  return written;
}

bool journal::write(std::vector<pending_update> updates,
                    std::vector<pending_rows> rows) {
  const auto batch = batch_of(updates, rows);
  auto written = commit(batch);
  if (!written) {
    fail(written.error());
    return false;
  }
  batches_->add();
  names_held_.set(store_.writer->names_bytes());
  store_.tail->add(written->entries);
  publication_.on_consumers(batch.consumers);
  forget_erased();
  publication_machine::effects out;
  const auto now = shared_->time->steady_now();
  for (size_t i = 0; i < updates.size(); ++i) {
    auto& receipt = written->receipts[i];
    publication_.on_update(batch.updates[i], receipt, updates[i].what.marks, now,
                           out);
    send(updates[i].from,
         repo_receipt{std::make_shared<const storage::update_receipt>(
           std::move(receipt))});
  }
  publish(out, rows, *written);
  return true;
}

/// Publishes cursors, acks and events only for what survives a power failure.
void journal::publish(const publication_machine::effects& x,
                      const std::vector<pending_rows>& rows,
                      const storage::commit_result& written) {
  updates_->add(x.written);
  refused_->add(x.refused);
  operations_->add(x.operations);
  if (home_->sweeper)
    for (size_t i = 0; i < x.erasings; ++i)
      send(home_->sweeper, erase_begun{});
  finished_frames marks;
  for (const auto& at : x.done)
    marks.add(at);
  marks.tell(this, *shared_);
  for (const auto& row : rows)
    if (row.from)
      send(row.from, rows_durable{row.what.token});
  if (!written.entries.empty()) {
    publication_.on_log(written.last, written.log_events);
    for (const auto& to : home_->subscribers.all())
      send(to, log_advanced{written.last, written.log_events});
  }
  pass(crash_point::journal_published);
}

/// Answers a step of SWEEPER.
template <class Answer>
void journal::answer(const result<Answer>& x, const sweeper_actor& to) {
  if (!x)
    return fail(x.error());
  names_held_.set(store_.writer->names_bytes());
  send(to, *x);
}

/// The log now records what was erased of a removed repo. So its entry is
/// needed only for events that consumers read before.
void journal::end_erasing(const erase_over& x) {
  const auto forgotten = steps_.end_erasing(x);
  if (!forgotten)
    return fail(forgotten.error());
  if (*forgotten)
    publication_.on_erased(x.repo, x.through);
  forget_erased();
}

void journal::forget_erased() {
  publication_.forget_erased(home_->subscribers.all().size());
}

void journal::fail(const error& why) {
  failed_ = true;
  log::error("journal_failed", {{"reason", to_string(why)}});
  on_failure_(why);
}

journal_actor::behavior_type journal::make_behavior() {
  set_exit_handler([this](caf::exit_msg& x) {
    flush();
    quit(x.reason);
  });
  return {
    [this](journal_update& x, repo_actor& from) {
      if (failed_)
        return; // It is not answered: the stream repeats its frames.
      const auto bytes = x.content_bytes;
      const auto backfill = x.backfill;
      queue_.add({std::move(x), std::move(from)}, bytes, backfill);
      wake();
    },
    [this](journal_flush) {
      flush();
    },
    [this](tick x) {
      if (timer_.fired(x))
        flush();
    },
    [this](get_status) {
      return status({{"live", queue_.has_live()},
                     {"backfill", queue_.has_backfill()},
                     {"rows", rows_.size()},
                     {"failed", failed_}},
                    std::to_string(home_->number));
    },
    [this](stop_actor) {
      // Everything that was sent before is ahead of this message.
      while (!failed_ && (queue_.has_live() || !rows_.empty()))
        flush();
      quit();
    },
    [this](journal_rows& x, rows_sink& from) {
      if (failed_) {
        // Without rows there is nothing that could be lost.
        if (x.rows->empty() && from)
          send(from, rows_durable{x.token});
        return;
      }
      rows_.push_back({std::move(x), std::move(from)});
      wake();
    },
    [this](const journal_fence& x, const router_actor& from) {
      if (write_all())
        send(from, journal_fenced{x.repo, store_.writer->fence(x.repo)});
    },
    [this](const journal_missed& x, const router_actor& from) {
      note_missed(x, from);
    },
    [this](const erase_step& x, const sweeper_actor& from) {
      if (!failed_)
        answer(steps_.erase(x, queue_.has_live() || queue_.has_backfill()),
               from);
    },
    [this](const erase_over& x) {
      if (!failed_)
        end_erasing(x);
    },
    [this](erase_replaced x, const sweeper_actor& from) {
      if (!failed_)
        answer(steps_.erase(x), from);
    },
    [this](content_purged) {
      if (!failed_)
        if (auto ok = steps_.end_purge(); !ok)
          fail(ok.error());
    },
    [this](const trim_log& x, const sweeper_actor& from) {
      if (!failed_)
        answer(steps_.trim(x), from);
    },
  };
}

} // namespace

journal_actor spawn_journal(caf::actor_system& system, context_ptr shared,
                            home_ptr home, journal_store store,
                            std::function<void(const error&)> on_failure) {
  return system.spawn<journal>(std::move(shared), std::move(home),
                               std::move(store), std::move(on_failure));
}

} // namespace weir::actors
