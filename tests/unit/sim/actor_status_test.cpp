#include "messages/interfaces.hpp"
#include "tests/sim/scene.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

// actors.md, Rules: every actor reports its kind and its state.

namespace weir::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// Asks one actor, and ends with its answer.
class asker final : public caf::event_based_actor {
public:
  static constexpr auto kind = "asker";

  asker(caf::actor_config& config, common_actor whom,
        std::function<void(const actor_status*)> then)
    : event_based_actor(config), whom_(std::move(whom)),
      then_(std::move(then)) {
    // nop
  }

  const char* name() const override { return kind; }

  caf::behavior make_behavior() override {
    request(std::exchange(whom_, {}), caf::infinite, get_status{})
      .then([this](const actor_status& x) { then_(&x); },
            [this](caf::error&) { then_(nullptr); });
    return {};
  }

private:
  common_actor whom_;
  std::function<void(const actor_status*)> then_;
};

/// Asks every actor at its first turn. One that ends before it answers counts
/// as asked only.
class status_census {
public:
  explicit status_census(stepper& steps) : steps_(steps) {
    steps.set_turn_watch([this](caf::scheduled_actor& who, steady_time) {
      ask(who);
    });
  }

  ~status_census() { steps_.set_turn_watch(nullptr); }

  /// The names that actors of a kind gave, in order.
  std::vector<std::string> names(const std::string& kind) const {
    std::vector<std::string> out;
    for (const auto& x : said.at(kind))
      out.push_back(x.name);
    std::sort(out.begin(), out.end());
    return out;
  }

  std::map<std::string, std::vector<actor_status>> said; ///< By kind.
  std::set<std::string> asked;                           ///< Kinds.

private:
  void ask(caf::scheduled_actor& who) {
    const std::string kind = who.name();
    if (kind == asker::kind || !seen_.insert(who.id()).second)
      return;
    asked.insert(kind);
    who.home_system().spawn<asker>(
      caf::actor_cast<common_actor>(caf::strong_actor_ptr{who.ctrl()}),
      [this, kind](const actor_status* x) {
        if (x != nullptr)
          said[kind].push_back(*x);
      });
  }

  stepper& steps_;
  std::set<caf::actor_id> seen_;
};

TEST(ActorStatusTest, EveryKindOfActorOfARunningNodeAnswers) {
  trace log;
  scene stage{1, log};
  ASSERT_TRUE(stage.open());
  status_census census{stage.steps()};
  ASSERT_TRUE(stage.start_node());
  stage.steps().run_for(1min);
  stage.stop_node();
  std::vector<std::string> kinds;
  for (const auto& [kind, all] : census.said) {
    kinds.push_back(kind);
    for (const auto& x : all) {
      EXPECT_EQ(x.kind, kind);
      EXPECT_FALSE(x.name.empty()) << kind;
      EXPECT_EQ(x.parent.empty(), kind == "node") << kind;
      for (const auto& each : x.state)
        EXPECT_FALSE(each.name.empty()) << kind;
    }
  }
  EXPECT_THAT(kinds, UnorderedElementsAre(
                       "api", "backfill", "backup", "consumer", "health",
                       "identity", "journal", "node", "progress", "reader",
                       "repo", "room", "router", "supervisor", "sweeper",
                       "upstream"));
  EXPECT_EQ(census.asked.size(), kinds.size()) << "one did not answer";
  EXPECT_EQ(census.said["repo"].front().parent, "router");
  EXPECT_EQ(census.said["backfill"].front().parent, "repo");
}

TEST(ActorStatusTest, NamesAreUniqueWithinAKind) {
  trace log;
  scene stage{1, log, [](run_settings& x) {
                x.node.partitions = 2;
                x.node.readers = 4;
                x.node.most.routers = 4;
              }};
  ASSERT_TRUE(stage.open());
  status_census census{stage.steps()};
  ASSERT_TRUE(stage.start_node());
  stage.steps().run_for(1min);
  stage.stop_node();
  EXPECT_THAT(census.names("reader"), ElementsAre("0.0", "0.1", "1.0", "1.1"));
  EXPECT_THAT(census.names("router"), ElementsAre("0.0", "0.1", "1.0", "1.1"));
  EXPECT_THAT(census.names("consumer"), ElementsAre("channel.0", "channel.1"));
  for (const auto& [kind, all] : census.said) {
    // A DID may have one after the other.
    if (kind == "repo" || kind == "backfill")
      continue;
    const auto names = census.names(kind);
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end())
      << kind;
  }
}

} // namespace
} // namespace weir::sim
