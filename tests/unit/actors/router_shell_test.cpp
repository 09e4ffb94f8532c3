#include "actors/router/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/router_fixture.hpp"

// actors.md, One update of a repo: the rules of a shard at work.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

class RouterShellTest : public RouterFixture {};

} // namespace

// actors.md, One update of a repo: its late updates are rejected before the
// next REPO writes
TEST_F(RouterShellTest, ADeadRepoIsFencedAndItsFramesComeAgain) {
  start();
  frame(1, 10);
  EXPECT_THAT(frames_of(repos.at(0).actor), ElementsAre(10));
  repos.at(0).actor.die();
  run();
  const auto fences = journal.take<journal_fence>();
  ASSERT_EQ(fences.size(), 1u);
  EXPECT_EQ(fences[0].repo, shell_repo(1));
  frame(1, 11); // The frame waits for the next REPO.
  EXPECT_EQ(repos.size(), 1u);
  EXPECT_EQ(upstream.count<frames_lost>(), 0u);
  tell(router, journal_fenced{shell_repo(1), 5});
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].incarnation, 5u);
  EXPECT_THAT(frames_of(repos[1].actor), ElementsAre(11));
  EXPECT_EQ(upstream.count<frames_lost>(), 1u);
}

// JOURNAL's numbers grow. A REPO must never write with a number below its own
// fence.
TEST_F(RouterShellTest, EveryLaterRepoWritesAboveEveryFence) {
  start();
  frame(1, 10);
  die_and_come_back(5);
  frame(2, 11);
  EXPECT_EQ(repos.back().incarnation, 5u);
  tell(router, journal_fenced{shell_repo(3), 4}); // This answer is older.
  frame(3, 12);
  EXPECT_EQ(repos.back().incarnation, 5u);
}

// limits::repo_restarts_max in limits::repo_restart_window; architecture.md I4:
// not before its row records that something is missing
TEST_F(RouterShellTest, ARepoThatKeepsDyingIsParkedAndItsFramesAreGivenUp) {
  start();
  frame(1, 10);
  for (size_t i = 1; i <= limits::repo_restarts_max; ++i) {
    die_and_come_back(i);
    ASSERT_EQ(repos.size(), i + 1);
  }
  upstream.take<frames_lost>();
  repos.back().actor.die();
  run();
  EXPECT_EQ(journal.count<journal_fence>(), 0u);
  frame(1, 11);
  EXPECT_THAT(given_up(), IsEmpty());
  const auto missed = journal.take_with<journal_missed, router_actor>();
  ASSERT_EQ(missed.size(), 1u);
  tell(missed[0].second, journal_noted{missed[0].first.repo});
  EXPECT_THAT(given_up(), ElementsAre(11)) << "so that the stream goes on";
  EXPECT_EQ(upstream.count<frames_lost>(), 1u) << "what it held comes again";
  frame(1, 12);
  EXPECT_THAT(given_up(), ElementsAre(12));
  EXPECT_EQ(journal.count<journal_missed>(), 0u) << "the row says so already";
  frame(2, 12);
  EXPECT_THAT(frames_of(repos.back().actor), ElementsAre(12));

  // The sweep after this time starts it again.
  pass(limits::repo_restart_window);
  EXPECT_EQ(journal.count<journal_fence>(), 1u);
  tell(router, journal_fenced{shell_repo(1), 99});
  EXPECT_EQ(repos.back().repo, shell_repo(1));
  frame(1, 13);
  EXPECT_THAT(frames_of(repos.back().actor), ElementsAre(13));
}

TEST_F(RouterShellTest, OneTooManyIsAskedToCloseAndComesBackForWork) {
  start(at_most(2));
  for (const size_t i : {1, 2})
    frame(i, 10 + i);
  EXPECT_EQ(repos.at(0).actor.count<passivate_repo>(), 0u);
  frame(3, 13);
  const auto asked = repos.at(0).actor.take<passivate_repo>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].must_yield);
  EXPECT_EQ(repos.at(1).actor.count<passivate_repo>(), 0u);
  frames_of(repos.at(0).actor);
  frame(1, 14); // The REPO is closing.
  EXPECT_THAT(frames_of(repos.at(0).actor), IsEmpty());
  tell(router, repo_passive{shell_repo(1)});
  ASSERT_EQ(repos.size(), 4u);
  EXPECT_EQ(repos[3].repo, shell_repo(1));
  EXPECT_THAT(frames_of(repos[3].actor), ElementsAre(14));
}

// hostile-inputs.md 2.1.25: DIDs that do not exist
TEST_F(RouterShellTest, TwiceTooManyHoldFramesUntilSomeHaveClosed) {
  start(at_most(2, 1));
  for (size_t i = 1; i <= 6; ++i)
    frame(i, 10 + i);
  frame(7, 17);
  EXPECT_EQ(repos.size(), 5u);
  EXPECT_EQ(upstream.count<frames_done>(), 0u) << "their stream has them";
  tell(router, repo_passive{shell_repo(1)}); // It was already asked to close.
  ASSERT_EQ(repos.size(), 6u);
  EXPECT_THAT(frames_of(repos.at(5).actor), ElementsAre(16));
  tell(router, repo_passive{shell_repo(2)});
  ASSERT_EQ(repos.size(), 7u);
  EXPECT_THAT(frames_of(repos.at(6).actor), ElementsAre(17));
}

// The same when all of them come at once.
TEST_F(RouterShellTest, ABatchWakesNoMoreThanItsFramesWouldOneByOne) {
  start(at_most(2, 1));
  frame_batch batch;
  for (size_t i = 1; i <= 7; ++i)
    batch.frames.push_back(stamped(i, 10 + i));
  batch.frames.push_back(stamped(1, 18));
  batch.frames.push_back(stamped(6, 19));
  tell(router, std::move(batch));
  ASSERT_EQ(repos.size(), 5u);
  EXPECT_THAT(frames_of(repos.at(0).actor), ElementsAre(11))
    << "18 is behind 17";
  EXPECT_THAT(frames_of(repos.at(4).actor), ElementsAre(15));
  EXPECT_EQ(upstream.count<frames_done>(), 0u) << "their stream has them";
  tell(router, repo_passive{shell_repo(2)});
  ASSERT_EQ(repos.size(), 6u);
  EXPECT_THAT(frames_of(repos.at(5).actor), ElementsAre(16));
}

// docs/adr/0006-turns.md: otherwise it would handle a few messages after each
// turn of all REPOs; but no stream may keep it busy for longer.
// limits::turn_messages_max
TEST_F(RouterShellTest, ATurnHasAllThatIsInFlightAndAnEnd) {
  start();
  run();
  const auto seen = repos.size();
  for (size_t i = 1; i < limits::turn_messages_max; ++i)
    caf::anon_send(router, frame_batch{});
  for (const size_t i : {1, 2})
    caf::anon_send(router, begin_fetch{shell_repo(i), 1, {}});
  scheduler().run_once();
  EXPECT_EQ(repos.size(), seen + 1);
  run();
  EXPECT_EQ(repos.size(), seen + 2);
}

// hostile-inputs.md 2.1.25: they delay no other frames
TEST_F(RouterShellTest, WhatWakesNobodyPassesTheFramesThatAreHeld) {
  start(at_most(2, 1));
  for (size_t i = 1; i <= 6; ++i)
    frame(i, 10 + i);
  auto& fifth = repos.at(4).actor;
  EXPECT_THAT(frames_of(fifth), ElementsAre(15));
  frame(5, 17);
  EXPECT_THAT(frames_of(fifth), ElementsAre(17)) << "it lives";
  frame(50, 18);
  EXPECT_THAT(given_up(), ElementsAre(18)) << "nobody wants it";
  tell(router, add_repos{{shell_repo(6)}, {}});
  ASSERT_EQ(repos.size(), 6u) << "a command always finds room";
  auto& sixth = repos.at(5).actor;
  frame(6, 19);
  EXPECT_THAT(frames_of(sixth), IsEmpty()) << "one of its frames is held";
  tell(router, repo_passive{shell_repo(1)});
  EXPECT_THAT(frames_of(sixth), IsEmpty()) << "one too many still";
  tell(router, repo_passive{shell_repo(2)});
  EXPECT_THAT(frames_of(sixth), ElementsAre(16, 19));
}

TEST_F(RouterShellTest, AStreamWhoseFramesAreHeldHoldsUpNoOther) {
  start(at_most(2, 1));
  for (size_t i = 1; i <= 8; ++i)
    frame(i, 10 + i);
  frame(9, 1, 8);
  ASSERT_EQ(repos.size(), 5u);
  for (const size_t i : {1, 2})
    tell(router, repo_passive{shell_repo(i)});
  ASSERT_EQ(repos.size(), 7u);
  EXPECT_EQ(repos[5].repo, shell_repo(6));
  EXPECT_EQ(repos[6].repo, shell_repo(9));
}

// REPOs that were not asked to close do not report when they make room:
// limits::held_tries_per_sweep
TEST_F(RouterShellTest, WhileFramesAreHeldTheSweepComesMoreOften) {
  constexpr auto soon
    = limits::repo_sweep_interval / limits::held_tries_per_sweep;
  start(at_most(1, 1));
  for (size_t i = 1; i <= 4; ++i)
    frame(i, 10 + i);
  ASSERT_EQ(repos.size(), 3u) << "the fourth is held";
  tell(router, repo_passive{shell_repo(1), true});
  EXPECT_EQ(repos.at(2).actor.count<passivate_repo>(), 0u);
  pass(soon - 1us);
  EXPECT_EQ(repos.at(2).actor.count<passivate_repo>(), 0u);
  pass(1us);
  EXPECT_EQ(repos.at(2).actor.count<passivate_repo>(), 1u);
}

// Otherwise they stay until other work comes.
TEST_F(RouterShellTest, WhatIsStillTooMuchIsAskedAgainByTheSweep) {
  start(at_most(1));
  frame(1, 11);
  frame(2, 12);
  tell(router, repo_passive{shell_repo(1), true});
  EXPECT_EQ(repos.at(1).actor.count<passivate_repo>(), 0u);
  pass(limits::repo_sweep_interval);
  const auto asked = repos.at(1).actor.take<passivate_repo>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].must_yield);
}

TEST_F(RouterShellTest, ABusyRepoGetsWhatCameMeanwhile) {
  start(at_most(1));
  frame(1, 11);
  frame(2, 12);
  frames_of(repos.at(0).actor);
  frame(1, 13);
  tell(router, repo_passive{shell_repo(1), true});
  EXPECT_THAT(frames_of(repos.at(0).actor), ElementsAre(13));
  EXPECT_EQ(repos.size(), 2u);
}

// limits::repo_idle_max, found by the sweep of limits::repo_sweep_interval
TEST_F(RouterShellTest, AnIdleRepoIsAskedToCloseByTheSweep) {
  start();
  frame(1, 11);
  while (time.steady_now() - steady_time{} < limits::repo_idle_max) {
    EXPECT_EQ(repos.at(0).actor.count<passivate_repo>(), 0u);
    pass(limits::repo_sweep_interval);
  }
  const auto asked = repos.at(0).actor.take<passivate_repo>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_FALSE(asked[0].must_yield);
}

TEST_F(RouterShellTest, TheSweepComesInItsIntervalAndNotBefore) {
  router_options options;
  options.residents.idle_max = 1us;
  start(options);
  frame(1, 11);
  pass(limits::repo_sweep_interval - 1us);
  EXPECT_EQ(repos.at(0).actor.count<passivate_repo>(), 0u);
  pass(1us);
  EXPECT_EQ(repos.at(0).actor.count<passivate_repo>(), 1u);
}

// A command for a repo whose REPO died waits for the next one.
TEST_F(RouterShellTest, ACommandWaitsForTheNextRepo) {
  start();
  frame(1, 11);
  repos.at(0).actor.die();
  run();
  probe supervisor{sys};
  tell(router, begin_fetch{shell_repo(1), 1, {}});
  tell(router, journal_fenced{shell_repo(1), 2});
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].actor.count<begin_fetch>(), 1u);
}

// architecture.md, When memory runs short: half of the places are for commands.
TEST_F(RouterShellTest, ACommandForManyReposWakesSoManyAtOnce) {
  slow = true;
  start(at_most(4));
  add_repos all;
  for (size_t i = 0; i < 5; ++i)
    all.repos.push_back(shell_repo(100 + i));
  tell(router, all);
  for (size_t answered = 0; answered < 5; ++answered) {
    EXPECT_EQ(repos.size(), std::min<size_t>(answered + 2, 5));
    EXPECT_EQ(repos[answered].repo, shell_repo(100 + answered));
    EXPECT_EQ(repos[answered].actor.count<add_repos>(), 1u);
    repos[answered].actor.answer_now();
    run();
  }
  frame(104, 12);
  EXPECT_THAT(frames_of(repos[4].actor), ElementsAre(12)) << "it is tracked";
}

// No other actor could end them, and they may wait for ever.
TEST_F(RouterShellTest, ReposEndWithTheirRouterHoweverItEnds) {
  start();
  frame(1, 10);
  frame(2, 11);
  caf::anon_send_exit(router, caf::exit_reason::unhandled_exception);
  run();
  for (auto& x : repos)
    EXPECT_EQ(x.actor.count<stop_actor>(), 1u);
}

TEST_F(RouterShellTest, FramesOfReposThatAreNotTrackedAreFinishedAtOnce) {
  start();
  frame(77, 11);
  EXPECT_TRUE(repos.empty());
  EXPECT_THAT(given_up(), ElementsAre(11));
}

} // namespace weir::tests
