#include "actors/router/limits.hpp"
#include "actors/router/resident_machine.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/machine_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

// actors.md, Falling asleep: which REPOs of a shard are awake.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

atproto::did repo(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

/// The data that a shell keeps for a REPO.
struct test_home {
  std::string name;
  bool waiting = false;

  bool has_work() const noexcept { return waiting; }
};

using machine = resident_machine<test_home>;
using passed = machine::passed;

/// A shard whose REPOs do what the test says.
class shard {
public:
  explicit shard(resident_options options = {}) : residents(options) {
    // nop
  }

  machine::resident& wake(size_t i) {
    const auto visit = residents.wake(repo(i), now);
    visit.to.home.name = repo(i).str();
    return visit.to;
  }

  /// The REPO dies and is started again at once, unless it is parked.
  resident_phase die(size_t i) {
    wake(i);
    const auto& dead = *residents.on_died(repo(i), now);
    residents.on_noted(repo(i), now);
    const auto at = dead.at;
    residents.on_fenced(repo(i));
    return at;
  }

  std::vector<std::string> make_room() { return names(residents.make_room()); }

  std::vector<std::string> swept() { return names(residents.sweep(now).close); }

  machine residents;
  steady_time now{1'000'000'000};

private:
  static std::vector<std::string> names(const machine::closing& x) {
    std::vector<std::string> out;
    for (const auto* home : x)
      out.push_back(home->name);
    return out;
  }
};

} // namespace

// -- how many -----------------------------------------------------------------

TEST(ResidentMachine, AsManyAsTheirMemoryHolds) {
  constexpr auto one = limits::repo_actor_bytes * 2; // For two shards.
  EXPECT_EQ(residents_for(one * 1'000, 2), 1'000u);
  EXPECT_EQ(residents_for(one * 1'000 - 1, 2), 999u);
  EXPECT_EQ(residents_for(one * (limits::residents_min + 1), 2),
            limits::residents_min + 1);
  EXPECT_EQ(residents_for(one, 2), limits::residents_min);
  EXPECT_EQ(residents_for(one * (limits::resident_repos_max - 1), 2),
            limits::resident_repos_max - 1);
  EXPECT_EQ(residents_for(one * (limits::resident_repos_max + 1), 2),
            limits::resident_repos_max);
}

TEST(ResidentMachine, OneTooManyAsksTheLeastUsedToClose) {
  resident_options options;
  options.resident_max = 3;
  shard x{options};
  for (const size_t i : {1, 2, 3, 1})
    x.wake(i);
  EXPECT_THAT(x.make_room(), IsEmpty());
  x.wake(4);
  EXPECT_THAT(x.make_room(), ElementsAre(repo(2).str()));
  EXPECT_THAT(x.make_room(), IsEmpty()) << "one is on its way";
  EXPECT_EQ(x.residents.on_passive(repo(2), false, x.now), passed::gone);
  EXPECT_EQ(x.residents.size(), 3u);
}

TEST(ResidentMachine, ABusyOneCountsAsUsedAndAnotherIsAsked) {
  resident_options options;
  options.resident_max = 2;
  shard x{options};
  for (const size_t i : {1, 2, 3})
    x.wake(i);
  EXPECT_THAT(x.make_room(), ElementsAre(repo(1).str()));
  EXPECT_EQ(x.residents.on_passive(repo(1), true, x.now), passed::awake);
  EXPECT_THAT(x.make_room(), ElementsAre(repo(2).str()));
}

TEST(ResidentMachine, OneWakeAsksSoManyAndNotOneMore) {
  resident_options options;
  options.resident_max = 0;
  shard x{options};
  for (size_t i = 0; i <= limits::router_close_tries_max; ++i)
    x.wake(i);
  EXPECT_EQ(x.make_room().size(), limits::router_close_tries_max);
}

// Otherwise a flood would wake more REPOs than can answer that they close.
TEST(ResidentMachine, WhoHasNotAnsweredIsNotAskedInPlaceOfOthers) {
  resident_options options;
  options.resident_max = 0;
  shard x{options};
  constexpr auto tries = limits::router_close_tries_max;
  for (size_t i = 0; i < 2 * tries; ++i)
    x.wake(i);
  x.residents.on_died(repo(0), x.now); // This one cannot be asked.
  const auto first = x.make_room();
  EXPECT_EQ(first.size(), tries - 1);
  EXPECT_EQ(first.front(), repo(1).str());
  const auto next = x.make_room();
  EXPECT_EQ(next.size(), tries);
  EXPECT_EQ(next.front(), repo(tries).str());
}

// -- closing ------------------------------------------------------------------

TEST(ResidentMachine, WhatWasIdleForItsTimeIsAskedToClose) {
  shard x;
  x.wake(1);
  x.now = x.now + 1us;
  x.wake(2);
  x.now = x.now + (limits::repo_idle_max - 2us);
  EXPECT_THAT(x.swept(), IsEmpty());
  x.now = x.now + 1us;
  EXPECT_THAT(x.swept(), ElementsAre(repo(1).str()));
  EXPECT_THAT(x.swept(), IsEmpty()) << "it was asked";
  x.now = x.now + 1us;
  EXPECT_THAT(x.swept(), ElementsAre(repo(2).str()));
}

TEST(ResidentMachine, WorkThatCameWhileItClosedMakesTheNextOne) {
  resident_options options;
  options.resident_max = 0;
  shard x{options};
  x.wake(1);
  x.make_room();
  auto& closing = x.wake(1);
  EXPECT_EQ(closing.at, resident_phase::closing);
  closing.home.waiting = true;
  EXPECT_EQ(x.residents.on_passive(repo(1), false, x.now), passed::again);
  EXPECT_EQ(x.wake(1).at, resident_phase::awake);
}

TEST(ResidentMachine, LateNewsOfARepoChangeNothing) {
  shard x;
  EXPECT_EQ(x.residents.on_passive(repo(1), false, x.now), passed::nothing);
  EXPECT_EQ(x.residents.on_died(repo(1), x.now), nullptr);
  EXPECT_EQ(x.residents.on_fenced(repo(1)), nullptr);
  x.wake(1);
  EXPECT_EQ(x.residents.on_passive(repo(1), true, x.now), passed::nothing)
    << "nobody asked";
  EXPECT_EQ(x.residents.on_fenced(repo(1)), nullptr) << "it did not die";
}

// -- dying --------------------------------------------------------------------

TEST(ResidentMachine, ADeadOneWaitsForItsFence) {
  shard x;
  x.wake(1);
  EXPECT_EQ(x.residents.on_died(repo(1), x.now)->at, resident_phase::fencing);
  EXPECT_EQ(x.wake(1).at, resident_phase::fencing);
  ASSERT_NE(x.residents.on_fenced(repo(1)), nullptr);
  EXPECT_EQ(x.wake(1).at, resident_phase::awake);
}

TEST(ResidentMachine, OneDeathTooManyInTheWindowParksIt) {
  shard x;
  for (size_t i = 0; i < limits::repo_restarts_max; ++i)
    EXPECT_EQ(x.die(1), resident_phase::fencing) << i;
  x.now = x.now + limits::repo_restart_window;
  EXPECT_EQ(x.die(1), resident_phase::parked);
  EXPECT_EQ(x.wake(1).at, resident_phase::parked);
  EXPECT_EQ(x.die(2), resident_phase::fencing) << "others are not touched";
}

// architecture.md I4: its frames are given up when its row records it, and not
// before
TEST(ResidentMachine, ItIsParkedWhenThatIsNoted) {
  shard x;
  for (size_t i = 0; i < limits::repo_restarts_max; ++i)
    x.die(1);
  EXPECT_EQ(x.residents.on_noted(repo(1), x.now), nullptr);
  EXPECT_EQ(x.residents.on_died(repo(1), x.now)->at, resident_phase::noting);
  x.now = x.now + limits::repo_restart_window;
  EXPECT_THAT(x.residents.sweep(x.now).fence, IsEmpty());
  ASSERT_NE(x.residents.on_noted(repo(1), x.now), nullptr);
  EXPECT_EQ(x.wake(1).at, resident_phase::parked);
  x.now = x.now + limits::repo_restart_window;
  EXPECT_THAT(x.residents.sweep(x.now).fence, ElementsAre(repo(1)));
}

TEST(ResidentMachine, ADeathOutsideTheWindowNoLongerCounts) {
  shard x;
  for (size_t i = 0; i < limits::repo_restarts_max; ++i)
    x.die(1);
  x.now = x.now + (limits::repo_restart_window + 1us);
  EXPECT_EQ(x.die(1), resident_phase::fencing);
}

TEST(ResidentMachine, AParkedOneComesBackAfterTheWindow) {
  shard x;
  for (size_t i = 0; i <= limits::repo_restarts_max; ++i)
    x.die(1);
  x.now = x.now + (limits::repo_restart_window - 1us);
  x.wake(1); // This does not delay it.
  EXPECT_THAT(x.residents.sweep(x.now).fence, IsEmpty());
  x.now = x.now + 1us;
  EXPECT_THAT(x.residents.sweep(x.now).fence, ElementsAre(repo(1)));
  EXPECT_THAT(x.residents.sweep(x.now).fence, IsEmpty()) << "on its way";
  EXPECT_NE(x.residents.on_fenced(repo(1)), nullptr);
}

TEST(ResidentMachine, AParkedOneDoesNotKeepIdleOnesOpen) {
  shard x;
  x.wake(1);
  x.wake(2);
  x.now = x.now + (limits::repo_idle_max - 1s);
  for (size_t i = 0; i <= limits::repo_restarts_max; ++i)
    x.die(1);
  x.now = x.now + 1s;
  EXPECT_THAT(x.swept(), ElementsAre(repo(2).str()));
}

TEST(ResidentMachine, DeathsOfSoManyReposAreRememberedAndNotOneMore) {
  for (const bool one_more : {false, true}) {
    shard x;
    for (size_t i = 0; i < limits::repo_restarts_max; ++i)
      x.die(0);
    for (size_t i = 1; i < limits::repo_deaths_known_max; ++i)
      x.die(i);
    if (one_more)
      x.die(limits::repo_deaths_known_max);
    EXPECT_EQ(x.die(0),
              one_more ? resident_phase::fencing : resident_phase::parked);
  }
}

TEST(ResidentMachine, OldDeathsAreForgottenBeforeThoseThatCount) {
  shard x;
  for (size_t i = 1; i < limits::repo_deaths_known_max; ++i)
    x.die(i);
  x.now = x.now + (limits::repo_restart_window + 1us);
  for (size_t i = 0; i < limits::repo_restarts_max; ++i)
    x.die(0);
  x.die(limits::repo_deaths_known_max);
  EXPECT_EQ(x.die(0), resident_phase::parked);
}

} // namespace weir::actors
