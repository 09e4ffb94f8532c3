#include "actors/router/router.hpp"
#include "base/limits_listings.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"
#include "messages/repo.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

#include <deque>

// architecture.md 3, REPO life: what the rules of a shard come to.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

/// One shard with REPOs, a JOURNAL and an UPSTREAM of the test's.
class RouterShellTest : public ShellFixture {
protected:
  RouterShellTest() {
    shared->journal = journal.as<journal_actor>();
    shared->set_upstream(7, upstream.as<upstream_actor>());
  }

  void start(router_options options = {}) {
    tracked_set tracked;
    for (size_t i = 1; i < 50; ++i)
      tracked.insert(atproto::stable_hash(shell_repo(i).str()));
    router = keep(spawn_router(
      sys, shared, options, std::move(tracked),
      [this](router_actor, atproto::did repo, uint64_t incarnation) {
        repos.push_back({std::move(repo), incarnation, probe{sys, answer}});
        if (slow)
          repos.back().actor.delay_answers();
        return repos.back().actor.as<repo_actor>();
      }));
  }

  /// REPOs that live, and that are asked to close by one wake.
  static router_options at_most(size_t residents,
                                size_t close_tries
                                = limits::router_close_tries_max) {
    router_options out;
    out.residents.resident_max = residents;
    out.residents.close_tries_max = close_tries;
    return out;
  }

  void frame(size_t repo, uint64_t seq, uint32_t stream = 7) {
    frame_batch batch;
    atproto::stamped_frame x;
    x.repo = shell_repo(repo);
    x.at = {stream, 1, seq};
    x.bytes = account_frame(static_cast<int64_t>(seq), true, {}, x.repo);
    batch.frames.push_back(std::move(x));
    tell(router, std::move(batch));
  }

  /// Seqs of frames that a REPO was given since the last call.
  std::vector<uint64_t> frames_of(probe& x) {
    std::vector<uint64_t> out;
    for (const auto& message : x.take<repo_frames>())
      for (const auto& each : message.frames)
        out.push_back(each.at.seq);
    return out;
  }

  std::vector<uint64_t> given_up() {
    std::vector<uint64_t> out;
    for (const auto& x : upstream.take<frames_done>())
      out.insert(out.end(), x.seqs.begin(), x.seqs.end());
    return out;
  }

  /// The REPO made last dies; its fence, when one is asked for, is answered.
  void die_and_come_back(uint64_t incarnation) {
    repos.back().actor.die();
    run();
    repos.back().actor.fail_answers();
    run();
    for (const auto& x : journal.take<journal_fence>())
      tell(x.from, journal_fenced{x.repo, incarnation});
  }

  struct made {
    atproto::did repo;
    uint64_t incarnation = 0;
    probe actor;
  };

  probe journal{sys};
  probe upstream{sys};
  std::deque<made> repos;
  bool slow = false; ///< REPOs answer when they are told to.
  caf::message answer = caf::make_message(add_result{1}); ///< Of REPOs made.
  router_actor router;
};

} // namespace

// architecture.md 3: its late updates are shut out before the next one writes
TEST_F(RouterShellTest, ADeadRepoIsFencedAndItsFramesComeAgain) {
  start();
  frame(1, 10);
  EXPECT_THAT(frames_of(repos.at(0).actor), ElementsAre(10));
  repos.at(0).actor.die();
  run();
  const auto fences = journal.take<journal_fence>();
  ASSERT_EQ(fences.size(), 1u);
  EXPECT_EQ(fences[0].repo, shell_repo(1));
  frame(1, 11); // Waits for the next one.
  EXPECT_EQ(repos.size(), 1u);
  EXPECT_EQ(upstream.count<frames_lost>(), 0u);
  tell(router, journal_fenced{shell_repo(1), 5});
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].incarnation, 5u);
  EXPECT_THAT(frames_of(repos[1].actor), ElementsAre(11));
  EXPECT_EQ(upstream.count<frames_lost>(), 1u);
}

// The JOURNAL's numbers grow; a REPO must never write with one below its own
// fence.
TEST_F(RouterShellTest, EveryLaterRepoWritesAboveEveryFence) {
  start();
  frame(1, 10);
  die_and_come_back(5);
  frame(2, 11);
  EXPECT_EQ(repos.back().incarnation, 5u);
  tell(router, journal_fenced{shell_repo(3), 4}); // An older answer.
  frame(3, 12);
  EXPECT_EQ(repos.back().incarnation, 5u);
}

// limits::repo_restarts_max in limits::repo_restart_window; invariant I4: not
// before its row says that something is missing
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
  const auto missed = journal.take<journal_missed>();
  ASSERT_EQ(missed.size(), 1u);
  tell(missed[0].from, journal_noted{missed[0].repo});
  EXPECT_THAT(given_up(), ElementsAre(11)) << "so that the stream goes on";
  EXPECT_EQ(upstream.count<frames_lost>(), 1u) << "what it held comes again";
  frame(1, 12);
  EXPECT_THAT(given_up(), ElementsAre(12));
  EXPECT_EQ(journal.count<journal_missed>(), 0u) << "the row says so already";
  frame(2, 12);
  EXPECT_THAT(frames_of(repos.back().actor), ElementsAre(12));

  // The sweep that comes when its time is over makes it anew.
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
  EXPECT_TRUE(asked[0].crowded);
  EXPECT_EQ(repos.at(1).actor.count<passivate_repo>(), 0u);
  frames_of(repos.at(0).actor);
  frame(1, 14); // While it closes.
  EXPECT_THAT(frames_of(repos.at(0).actor), IsEmpty());
  tell(router, repo_passive{shell_repo(1)});
  ASSERT_EQ(repos.size(), 4u);
  EXPECT_EQ(repos[3].repo, shell_repo(1));
  EXPECT_THAT(frames_of(repos[3].actor), ElementsAre(14));
}

// reliability.md P9, 2.1, DNS abuse: names that nobody knows
TEST_F(RouterShellTest, TwiceTooManyHoldFramesUntilSomeHaveClosed) {
  start(at_most(2, 1));
  for (size_t i = 1; i <= 6; ++i)
    frame(i, 10 + i);
  frame(7, 17);
  EXPECT_EQ(repos.size(), 5u);
  EXPECT_EQ(upstream.count<frames_done>(), 0u) << "their stream has them";
  tell(router, repo_passive{shell_repo(1)}); // It was asked already.
  ASSERT_EQ(repos.size(), 6u);
  EXPECT_THAT(frames_of(repos.at(5).actor), ElementsAre(16));
  tell(router, repo_passive{shell_repo(2)});
  ASSERT_EQ(repos.size(), 7u);
  EXPECT_THAT(frames_of(repos.at(6).actor), ElementsAre(17));
}

// docs/adr/0006-turns.md: or it would have a few messages each time that all
// REPOs have had their turn; and no stream keeps it for longer.
// limits::turn_messages_max
TEST_F(RouterShellTest, ATurnHasAllThatIsInFlightAndAnEnd) {
  start();
  run();
  const auto seen = repos.size();
  for (size_t i = 1; i < limits::turn_messages_max; ++i)
    caf::anon_send(router, frame_batch{});
  for (const size_t i : {1, 2})
    caf::anon_send(router, prepare_fetch{shell_repo(i)});
  scheduler().run_once();
  EXPECT_EQ(repos.size(), seen + 1);
  run();
  EXPECT_EQ(repos.size(), seen + 2);
}

// reliability.md 2.1, DNS abuse: they hold up nobody else
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

// Nobody says when others than those that were asked have made room:
// limits::held_tries_per_sweep
TEST_F(RouterShellTest, WhileFramesAreHeldTheSweepComesMoreOften) {
  constexpr auto soon = limits::repo_sweep_interval / 10;
  EXPECT_EQ(limits::held_tries_per_sweep, 10);
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

// Or they stay for as long as no other work comes.
TEST_F(RouterShellTest, WhatIsStillTooMuchIsAskedAgainByTheSweep) {
  start(at_most(1));
  frame(1, 11);
  frame(2, 12);
  tell(router, repo_passive{shell_repo(1), true});
  EXPECT_EQ(repos.at(1).actor.count<passivate_repo>(), 0u);
  pass(limits::repo_sweep_interval);
  const auto asked = repos.at(1).actor.take<passivate_repo>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].crowded);
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
  EXPECT_EQ(router_options{}.sweep, limits::repo_sweep_interval);
  frame(1, 11);
  while (time.steady_now() - steady_time{} < limits::repo_idle_max) {
    EXPECT_EQ(repos.at(0).actor.count<passivate_repo>(), 0u);
    pass(limits::repo_sweep_interval);
  }
  const auto asked = repos.at(0).actor.take<passivate_repo>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_FALSE(asked[0].crowded);
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

// A command for a repo whose actor died waits for the next one.
TEST_F(RouterShellTest, ACommandWaitsForTheNextRepo) {
  start();
  frame(1, 11);
  repos.at(0).actor.die();
  run();
  probe supervisor{sys};
  tell(router, prepare_fetch{shell_repo(1)});
  tell(router, journal_fenced{shell_repo(1), 2});
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].actor.count<prepare_fetch>(), 1u);
}

// reliability.md P9: half of the residents are for commands.
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

// invariant I4: nobody knows what a command left that failed, but the next REPO
// reads it
TEST_F(RouterShellTest, WhatAFailedCommandLeftIsReadAndNotGuessed) {
  for (const bool added : {true, false}) {
    for (const bool on_disk : {true, false}) {
      repos.clear();
      slow = true;
      const auto known = added ? 100u : 1u;
      start();
      if (added)
        tell(router, add_repos{{shell_repo(known)}, {}});
      else
        tell(router, remove_repos{{shell_repo(known)}});
      slow = false;
      answer = caf::make_message(tracked_reply{on_disk});
      die_and_come_back(1);
      ASSERT_EQ(repos.size(), 2u);
      EXPECT_EQ(repos[1].actor.count<ask_tracked>(), 1u);
      frame(known, 11);
      EXPECT_THAT(frames_of(repos[1].actor).size(), on_disk ? 1u : 0u);
      EXPECT_THAT(given_up().size(), on_disk ? 0u : 1u);
    }
  }
}

// invariant I4: until then no frame is dropped
TEST_F(RouterShellTest, FramesAreHeldUntilTheNextRepoHasReadWhatIsThere) {
  start();
  slow = true;
  answer = caf::make_message(tracked_reply{true});
  tell(router, add_repos{{shell_repo(100)}, {}});
  frame(100, 11);
  repos.back().actor.die();
  run();
  repos.back().actor.fail_answers();
  run();
  frame(100, 12);
  EXPECT_THAT(given_up(), IsEmpty());
  tell(router, journal_fenced{shell_repo(100), 1});
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].actor.count<ask_tracked>(), 1u) << "not answered yet";
  frame(100, 13);
  EXPECT_THAT(frames_of(repos[1].actor), ElementsAre(12, 13));
  EXPECT_THAT(given_up(), IsEmpty());
  repos[1].actor.answer_now();
  run();
}

// SYNC-30; invariant I4: a removal that fails leaves the repo on disk
TEST_F(RouterShellTest, ARepoIsTrackedUntilItsRemovalIsDurable) {
  start();
  slow = true;
  answer = caf::make_message(remove_result{1});
  tell(router, remove_repos{{shell_repo(1)}});
  frame(1, 11);
  EXPECT_THAT(frames_of(repos.at(0).actor), ElementsAre(11));
  tell(router, repo_removed{shell_repo(1)});
  frame(1, 12);
  EXPECT_THAT(frames_of(repos.at(0).actor), IsEmpty());
  EXPECT_THAT(given_up(), ElementsAre(12));
  repos.at(0).actor.answer_now();
  run();
}

// SYNC-18; invariant I4: the frame that discovered it comes again, and finds
// that it is to be tracked
TEST_F(RouterShellTest, ADiscoveryThatFailedIsMadeAgain) {
  router_options options;
  options.mode = tracking_mode::full_network;
  start(options);
  slow = true;
  frame(100, 11);
  ASSERT_EQ(repos.size(), 1u);
  EXPECT_EQ(repos[0].actor.count<add_repos>(), 1u);
  slow = false;
  die_and_come_back(1);
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].actor.count<add_repos>(), 1u);
}

// reliability.md P9; limits::listing_doubts_part: REPOs that stay awake because
// of a listing, however many lines it has
TEST_F(RouterShellTest, SoManyReposDoubtAndTheListingWaits) {
  answer = caf::make_message(listing_taken{});
  constexpr size_t residents = 16;
  constexpr auto most = residents / limits::listing_doubts_part / 2;
  start(at_most(residents));
  repo_listing page;
  for (size_t i = 1; i <= most + 1; ++i)
    page.repos.push_back({shell_repo(i), {}, {}, {}, 7});
  for (auto& line : page.repos)
    caf::anon_send(router, listing_doubt{line.repo, 7, true});
  run();
  tell(router, listing_doubt{shell_repo(most + 1), 7, false});
  tell(router, page);
  EXPECT_EQ(repos.size(), 0u) << "all places are taken";
  tell(router, listing_doubt{shell_repo(1), 7, false});
  EXPECT_EQ(repos.size(), most + 1) << "none of them doubts";
  EXPECT_EQ(repos.back().actor.count<repo_listed>(), 1u) << "none is forgotten";
}

TEST_F(RouterShellTest, ARepoThatDiesGivesItsPlaceBack) {
  answer = caf::make_message(listing_taken{});
  start(at_most(2)); // One place.
  frame(1, 11);
  tell(router, listing_doubt{shell_repo(1), 7, true});
  repo_listing page;
  page.repos.push_back({shell_repo(2), {}, {}, {}, 7});
  tell(router, page);
  ASSERT_EQ(repos.size(), 1u);
  repos[0].actor.die();
  run();
  EXPECT_EQ(repos.size(), 2u);
}

TEST_F(RouterShellTest, FramesOfReposThatAreNotTrackedAreFinishedAtOnce) {
  start();
  frame(77, 11);
  EXPECT_TRUE(repos.empty());
  EXPECT_THAT(given_up(), ElementsAre(11));
}

} // namespace weir::tests
