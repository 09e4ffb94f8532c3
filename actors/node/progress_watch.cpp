#include "actors/node/watches.hpp"

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
#include <functional>

namespace weir::actors {

namespace {

using storage::repo_status;

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
        return status({{"synced", count(repo_status::synced)},
                       {"error", count(repo_status::error)}});
      },
    };
  }

  void on_exit() override {
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  /// The first or the last time that any partition noted.
  /// @param before `std::less` for the first, `std::greater` for the last.
  template <class Order>
  std::optional<steady_time>
  time_of(std::atomic<int64_t> store_stats::*which, Order before) const {
    int64_t out = 0;
    for (const auto& x : shared_->partitions())
      if (const auto at = (x->stats.*which).load();
          at != 0 && (out == 0 || before(at, out)))
        out = at;
    return out == 0 ? std::nullopt : std::optional{steady_time{out}};
  }

  uint64_t count(repo_status x) const {
    return shared_->sum([x](const partition_context& y) {
      return y.stats.count(x);
    });
  }

  void look() {
    const auto now = shared_->time->steady_now();
    timer_.arm(this, now, now + limits::story_look_interval);
    const auto fallen = shared_->sum(&store_stats::fallen);
    const backfill_counts counts{
      shared_->sum([](const auto& x) { return x.stats.waiting(); }),
      count(repo_status::synced) + fallen,
      count(repo_status::error),
      time_of(&store_stats::waits_since, std::less<>{}),
      time_of(&store_stats::waited_until, std::greater<>{}),
      shared_->memory->held(memory_use::claims) > 0,
      fallen,
      shared_->sum(&store_stats::outdated)};
    for (const auto& x : story_.look(counts, now)) {
      write(x);
      if (x.is == backfill_news::what::done)
        // What is left was removed or is inactive.
        set_back(&store_stats::outdated);
    }
    if (story_.rests(counts))
      set_back(&store_stats::waits_since);
    if (!sized_at_ || now - *sized_at_ >= limits::store_size_interval)
      measure(now);
  }

  template <class T>
  void set_back(std::atomic<T> store_stats::*which) {
    for (const auto& x : shared_->partitions())
      x->stats.*which = 0;
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
