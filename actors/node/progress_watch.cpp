#include "actors/node/progress_watch.hpp"

#include "actors/node/limits.hpp"
#include "actors/support/backfill_story.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdio>

namespace weir::actors {

namespace {

using storage::repo_status;

/// With one digit behind the point, or as many.
std::string short_number(double x, int digits = 1) {
  char out[32];
  const auto size = std::snprintf(out, sizeof out, "%.*f", digits, x);
  return {out, static_cast<size_t>(size)};
}

void write(const backfill_news& x) {
  using enum backfill_news::what;
  if (x.is == begun) {
    log::info("backfill_begun", {{"repos", x.at.waiting + x.at.outdated},
                                 {"synced", x.at.synced_now()}});
  } else if (x.is == progress) {
    log::info("backfill_progress",
              {{"waiting", x.at.waiting + x.at.outdated},
               {"synced", x.at.synced_now()},
               {"failed", x.at.failed},
               {"repos_per_second", short_number(x.per_second)},
               {"seconds_left", x.left ? std::to_string(x.left->count())
                                       : std::string{"unknown"}}});
  } else {
    const auto took = std::chrono::duration<double>(x.took).count();
    const auto digits = took < 10 ? 2 : 0;
    log::info("backfill_done", {{"synced", x.at.synced_now()},
                                {"failed", x.at.failed},
                                {"seconds", short_number(took, digits)},
                                {"repos_per_second",
                                 short_number(x.per_second)}});
  }
}

class progress_watch final : public observed<common_actor::base> {
public:
  progress_watch(caf::actor_config& config, context_ptr shared,
                 store_stats& stats, std::shared_ptr<store_growth> growth)
    : observed(config, "progress"), shared_(std::move(shared)),
      stats_(stats), growth_(std::move(growth)) {
    // nop
  }

  behavior_type make_behavior() override {
    set_exit_handler([this](caf::exit_msg& x) { quit(x.reason); });
    look();
    return {
      [this](tick x) {
        if (timer_.fired(x))
          look();
      },
      [this](stop_actor) { quit(); },
    };
  }

  void on_exit() override {
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  uint64_t count(repo_status x) const {
    return stats_.repos[static_cast<size_t>(x)].load(std::memory_order_relaxed);
  }

  void look() {
    const auto now = shared_->time->steady_now();
    timer_.arm(this, now, now + limits::story_look_interval);
    const auto time_of = [](const std::atomic<int64_t>& x) {
      const auto micros = x.load();
      return micros == 0 ? std::nullopt : std::optional{steady_time{micros}};
    };
    const auto fallen = stats_.fallen.load();
    const backfill_counts counts{
      stats_.waiting(),
      count(repo_status::synced) + fallen,
      count(repo_status::error),
      time_of(stats_.waits_since),
      time_of(stats_.waited_until),
      shared_->memory->held(memory_use::claims) > 0,
      fallen,
      stats_.outdated};
    for (const auto& x : story_.look(counts, now)) {
      write(x);
      if (x.is == backfill_news::what::done)
        stats_.outdated = 0; // Removed ones, and those that are away.
    }
    if (story_.rests(counts))
      stats_.waits_since = 0;
    if (!sized_at_ || now - *sized_at_ >= limits::store_size_interval)
      measure(now);
  }

  /// It takes reads of the disk, which are a READER's.
  void measure(steady_time now) {
    sized_at_ = now;
    reader_job job;
    job.run = [growth = growth_, now](store_readers& store) {
      growth->note(storage::store_sizes(store.db), now);
    };
    send(shared_->reader_of(0), std::move(job));
  }

  context_ptr shared_;
  store_stats& stats_;
  std::shared_ptr<store_growth> growth_;
  backfill_story story_;
  std::optional<steady_time> sized_at_;
  actor_timer timer_;
};

} // namespace

common_actor spawn_progress_watch(caf::actor_system& system, context_ptr shared,
                                  store_stats& stats,
                                  std::shared_ptr<store_growth> growth) {
  return system.spawn<progress_watch>(std::move(shared), std::ref(stats),
                                      std::move(growth));
}

} // namespace weir::actors
