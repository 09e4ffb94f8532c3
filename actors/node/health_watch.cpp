#include "actors/node/watches.hpp"

#include "actors/node/limits.hpp"
#include "actors/node/start_rules.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/backfill.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"
#include "messages/repo.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <array>

namespace weir::actors {

namespace {

/// Asks repos that were refused for a rev later than our clock to fetch again,
/// one page at a time.
void retry_ahead(const context_ptr& shared, const storage::due_repo& after) {
  const auto job = [shared, after](store_readers&) {
    const auto page = shared->stores.list_ahead(after, limits::clock_retry_page);
    if (!page) {
      log::error("clock_retry_failed", {{"reason", to_string(page.error())}});
      return;
    }
    for (auto& [router, part] :
         shared->places().by_router<resync_repos>(page->repos))
      caf::anon_send(shared->routers()[router], std::move(part));
    if (!page->end)
      retry_ahead(shared, page->last);
  };
  caf::anon_send(shared->root().reader_of(0), reader_job{job});
}

/// Recalls accounts whose documents earlier lives had, to test the directory.
void recall_known(const context_ptr& shared) {
  const auto places = draw_test_places(*shared->random);
  const auto job = [shared, places](store_readers&) {
    for (const auto& from : places) {
      const auto page = shared->stores.list_status(
        storage::repo_status::synced, {0, from.after}, from.repos);
      if (!page)
        return; // Other actors report a store that fails.
      shared->health.with([&](health_machine& health) {
        for (const auto& x : page->repos)
          if (tests_directory(x.row))
            health.recall(x.repo, x.row.pds, shared->time->steady_now());
      });
    }
  };
  caf::anon_send(shared->root().reader_of(0), reader_job{job});
}

class health_watch final : public observed<common_actor::base> {
public:
  health_watch(caf::actor_config& config, context_ptr shared)
    : observed(config, "health"), shared_(std::move(shared)) {
    for (size_t i = 0; i < health_causes.size(); ++i)
      failing_[i] = &shared_->metrics.gauge(
        "weir_health_causes",
        "Causes in /readyz, of whatever level, by their kind", "cause",
        to_string(health_causes[i]));
  }

  behavior_type make_behavior() override {
    recall_known(shared_);
    look();
    return {
      [this](tick x) {
        if (timer_.fired(x))
          look();
      },
      [this](stop_actor) { quit(); },
      [this](get_status) {
        return status({{"causes", shared_->health.findings().size()}});
      },
    };
  }

  void on_exit() override {
    shared_ = nullptr;
    observed::on_exit();
  }

private:
  void look() {
    const auto now = shared_->time->steady_now();
    const auto wall = shared_->time->wall_now();
    timer_.arm(this, now, now + limits::health_check_interval);
    const auto clock = shared_->signers.look(now, wall);
    // The room watch notifies the actors that let something in.
    shared_->intake.set(
      shortage::clock,
      clock.holds ? intake_level::no_reading : intake_level::open,
      clock.holds ? "no stream is read while this machine's clock seems to be "
                    "slow"
                  : "");
    const auto streams = shared_->upstreams.all();
    const auto news = shared_->health.with([&](health_machine& x) {
      report_write(x);
      auto out = x.look(streams, clock, now, wall);
      shared_->upstreams.set_write_hangs(x.write_hangs());
      return out;
    });
    tell(news);
    if (news.probe && shared_->identity)
      send(shared_->identity, identity_ask{*news.probe, true, 0, {}, true},
           identity_sink{});
    const auto all = shared_->health.findings();
    for (size_t i = 0; i < health_causes.size(); ++i)
      failing_[i]->set(static_cast<uint64_t>(
        std::ranges::count(all, health_causes[i], &health_finding::cause)));
    if (std::exchange(corrections_, clock.corrections) != clock.corrections) {
      retry_ahead(shared_, {});
      if (shared_->supervisor)
        send(shared_->supervisor, clock_corrected{});
    }
  }

  static void tell(const health_machine::news& news) {
    for (const auto& x : news.begun)
      log::warn("unhealthy", {{"cause", to_string(x.cause)},
                              {"grade", to_string(x.level)},
                              {"where", x.where},
                              {"reason", x.error},
                              {"remedy", x.remedy()}});
    for (const auto& x : news.ended)
      log::warn("healthy_again", {{"cause", to_string(x.cause)},
                                  {"where", x.where},
                                  {"reason", reason_of_end(x)}});
  }

  void report_write(health_machine& to) const {
    const auto& all = shared_->partitions();
    int64_t first = 0;
    std::string where;
    for (const auto& x : all)
      if (const auto since = x->stats.writes_since.load();
          since != 0 && (first == 0 || since < first)) {
        first = since;
        where = all.size() == 1 ? std::string{"the store"}
                                : "the store of partition "
                                    + std::to_string(x->number);
      }
    to.on_write(std::move(where),
                first == 0 ? std::nullopt
                           : std::optional{steady_time{first}});
  }

  context_ptr shared_;
  uint64_t corrections_ = 0;
  actor_timer timer_;
  std::array<metric*, health_causes.size()> failing_{};
};

} // namespace

common_actor spawn_health_watch(caf::actor_system& system, context_ptr shared) {
  return system.spawn<health_watch>(std::move(shared));
}

} // namespace weir::actors
