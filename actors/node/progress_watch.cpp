#include "actors/node/watches.hpp"

#include "actors/node/limits.hpp"
#include "actors/support/backfill_story.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"
#include "storage/disk/store_sizes.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdio>

namespace weir::actors {

namespace {

/// The number with `digits` digits after the point.
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
  progress_watch(caf::actor_config& config, context_ptr shared)
    : observed(config, "progress"), shared_(std::move(shared)) {}

  behavior_type make_behavior() override {
    look();
    return {
      [this](tick x) {
        if (timer_.fired(x))
          look();
      },
      [this](stop_actor) { quit(); },
      [this](get_status) {
        const auto now = count();
        return status({{"synced", now.synced_now()}, {"error", now.failed}});
      },
    };
  }

  void on_exit() override {
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  backfill_counts count() const {
    backfill_counts out;
    for (const auto& x : shared_->partitions())
      out.add(x->stats);
    out.claimed = shared_->memory->held(memory_use::claims) > 0;
    return out;
  }

  void look() {
    const auto now = shared_->time->steady_now();
    timer_.arm(this, now, now + limits::story_look_interval);
    const auto counts = count();
    const auto news = story_.look(counts, now);
    for (const auto& x : news)
      write(x);
    for (const auto& x : shared_->partitions())
      story_.set_back(x->stats, counts, news);
    if (!sized_at_ || now - *sized_at_ >= limits::store_size_interval)
      measure(now);
  }

  /// Measuring reads the disk, so a READER does it.
  void measure(steady_time now) {
    sized_at_ = now;
    for (const auto& x : shared_->partitions())
      send(x->reader_of(0), reader_job{[home = x, now](store_readers& store) {
             home->growth.note(storage::store_sizes(store.db), now);
           }});
  }

  context_ptr shared_;
  backfill_story story_;
  std::optional<steady_time> sized_at_;
  actor_timer timer_;
};

} // namespace

common_actor spawn_progress_watch(caf::actor_system& system,
                                  context_ptr shared) {
  return system.spawn<progress_watch>(std::move(shared));
}

} // namespace weir::actors
