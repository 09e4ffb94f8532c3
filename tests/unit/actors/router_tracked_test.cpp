#include "actors/router/limits.hpp"
#include "tests/unit/actors/router_fixture.hpp"

// Which frames a shard takes while commands fail, and which REPOs its listings
// wake.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

class RouterTrackedTest : public RouterFixture {};

} // namespace

// architecture.md I4: the result of a failed command is not known, but the next
// REPO reads it
TEST_F(RouterTrackedTest, WhatAFailedCommandLeftIsReadAndNotGuessed) {
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

// architecture.md I4: until then no frame is dropped
TEST_F(RouterTrackedTest, FramesAreHeldUntilTheNextRepoHasReadWhatIsThere) {
  start();
  slow = true;
  answer = caf::make_message(tracked_reply{true});
  tell(router, add_repos{{shell_repo(100)}, {}});
  frame(100, 11);
  repos.back().actor.fail_answers();
  repos.back().actor.die();
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

// SYNC-30; architecture.md I4: a removal that fails leaves the repo on disk
TEST_F(RouterTrackedTest, ARepoIsTrackedUntilItsRemovalIsDurable) {
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

// SYNC-18; architecture.md I4: the frame that discovered it comes again and
// discovers it again
TEST_F(RouterTrackedTest, ADiscoveryThatFailedIsMadeAgain) {
  router_options options;
  options.mode = tracking_mode::full_network;
  start(options);
  slow = true;
  frame(100, 11, 7, true);
  ASSERT_EQ(repos.size(), 1u);
  EXPECT_EQ(repos[0].actor.count<add_repos>(), 1u);
  slow = false;
  die_and_come_back(1);
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[1].actor.count<add_repos>(), 1u);
}

// actors.md, Falling asleep; limits::undecided_part: the number of REPOs
// that stay awake because of a listing, however many lines it has
TEST_F(RouterTrackedTest, SoManyReposDoubtAndTheListingWaits) {
  answer = caf::make_message(listing_taken{});
  constexpr size_t residents = 16;
  constexpr auto most = residents / limits::undecided_part / 2;
  start(at_most(residents));
  repo_listing page;
  for (size_t i = 1; i <= most + 1; ++i)
    page.repos.push_back({shell_repo(i), {}, {}, {}, 7});
  for (auto& line : page.repos)
    caf::anon_send(router, line_undecided{line.repo, 7, true});
  run();
  tell(router, line_undecided{shell_repo(most + 1), 7, false});
  tell(router, page);
  EXPECT_EQ(repos.size(), 0u) << "all places are taken";
  tell(router, line_undecided{shell_repo(1), 7, false});
  EXPECT_EQ(repos.size(), most + 1) << "none of them has an open line";
  EXPECT_EQ(repos.back().actor.count<repo_listed>(), 1u) << "none is forgotten";
}

// actors.md, What an account is: a relay may have taken it down without its
// host's knowledge
TEST_F(RouterTrackedTest, WhatAListingSaysOfAnAbsentNewcomerIsTold) {
  start();
  repo_listing page;
  page.discover = true;
  repo_listed line;
  line.repo = shell_repo(100);
  line.upstream = 7;
  page.repos.push_back(line);
  line.repo = shell_repo(101);
  line.account = storage::account_status::takendown;
  page.repos.push_back(line);
  tell(router, page);
  ASSERT_EQ(repos.size(), 2u);
  EXPECT_EQ(repos[0].actor.count<repo_listed>(), 0u);
  EXPECT_EQ(repos[1].actor.count<add_repos>(), 1u);
  const auto told = repos[1].actor.take<repo_listed>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].account, storage::account_status::takendown);
}

TEST_F(RouterTrackedTest, ARepoThatDiesGivesItsPlaceBack) {
  answer = caf::make_message(listing_taken{});
  start(at_most(2)); // There is one place.
  frame(1, 11);
  tell(router, line_undecided{shell_repo(1), 7, true});
  repo_listing page;
  page.repos.push_back({shell_repo(2), {}, {}, {}, 7});
  tell(router, page);
  ASSERT_EQ(repos.size(), 1u);
  repos[0].actor.die();
  run();
  EXPECT_EQ(repos.size(), 2u);
}

} // namespace weir::tests
