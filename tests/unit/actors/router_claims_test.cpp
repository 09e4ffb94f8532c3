#include "actors/router/limits.hpp"
#include "messages/claims.hpp"
#include "tests/unit/actors/router_fixture.hpp"

// Untracked accounts that the stream of a PDS names.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;
using outcome = stream_claim_decided::outcome;

constexpr size_t newcomer = 100;

class RouterClaimsTest : public RouterFixture {
protected:
  RouterClaimsTest() {
    shared->supervisor = supervisor.as<supervisor_actor>();
    options.mode = tracking_mode::full_network;
  }

  void identity(size_t repo, uint64_t seq) {
    frame_batch batch;
    atproto::stamped_frame x;
    x.repo = shell_repo(repo);
    x.kind = atproto::frame_kind::identity;
    x.at = {7, 1, seq};
    x.bytes = identity_frame(static_cast<int64_t>(seq), x.repo);
    batch.frames.push_back(std::move(x));
    tell(router, std::move(batch));
  }

  void decide(size_t repo, outcome what, bool anew = false) {
    tell(router, stream_claim_decided{7, shell_repo(repo), what, anew});
  }

  /// Number of the stream's frames that failed verification.
  uint32_t charged() {
    uint32_t out = 0;
    for (const auto& x : upstream.take<frames_done>())
      out += x.refused;
    return out;
  }

  uint64_t counted(const char* result) {
    return shared->metrics
      .counter("weir_stream_claims_total", {}, "result", result)
      .value();
  }

  router_options options;
  probe supervisor{sys};
};

} // namespace

TEST_F(RouterClaimsTest, ANameOfAPdsIsFinishedAndAskedAboutOnce) {
  start(options);
  frame(newcomer, 11);
  frame(newcomer, 12);
  EXPECT_THAT(given_up(), ElementsAre(11, 12));
  EXPECT_EQ(repos.size(), 0u);
  const auto asked = supervisor.take<stream_claim>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].upstream, 7u);
  EXPECT_EQ(asked[0].repo, shell_repo(newcomer));
}

TEST_F(RouterClaimsTest, AConfirmedOneIsTrackedWithWhatWasHeardMeanwhile) {
  start(options);
  frame(newcomer, 11);
  identity(newcomer, 12);
  decide(newcomer, outcome::confirmed);
  ASSERT_EQ(repos.size(), 1u);
  const auto added = repos[0].actor.take<add_repos>();
  ASSERT_EQ(added.size(), 1u);
  EXPECT_TRUE(added[0].look_up);
  EXPECT_THAT(frames_of(repos[0].actor), IsEmpty());
  given_up();
  frame(newcomer, 13);
  EXPECT_THAT(frames_of(repos[0].actor), ElementsAre(13));
  EXPECT_THAT(given_up(), IsEmpty());
  EXPECT_EQ(counted("confirmed"), 1u);
}

TEST_F(RouterClaimsTest, TheIdentityEventOfANewcomerIsOneLookUp) {
  start(options);
  identity(newcomer, 11);
  const auto asked = supervisor.take<stream_claim>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].anew);
  decide(newcomer, outcome::confirmed, true);
  ASSERT_EQ(repos.size(), 1u);
  EXPECT_FALSE(repos[0].actor.take<add_repos>().at(0).look_up);
}

// The result of the addition is not known.
TEST_F(RouterClaimsTest, AnAdditionThatFailedIsMadeAgainWithWhatWasHeard) {
  start(options);
  slow = true;
  identity(newcomer, 11);
  decide(newcomer, outcome::confirmed);
  ASSERT_EQ(repos.size(), 1u);
  slow = false;
  die_and_come_back(1);
  ASSERT_EQ(repos.size(), 2u);
  const auto added = repos[1].actor.take<add_repos>();
  ASSERT_EQ(added.size(), 1u);
  EXPECT_TRUE(added[0].look_up);
}

TEST_F(RouterClaimsTest, WhoClaimsWhatIsNotSoPaysForIt) {
  start(options);
  frame(newcomer, 11);
  EXPECT_EQ(charged(), 0u);
  decide(newcomer, outcome::failed);
  EXPECT_EQ(charged(), 1u);
  EXPECT_EQ(counted("failed"), 1u);
  frame(newcomer, 12);
  EXPECT_EQ(supervisor.count<stream_claim>(), 2u) << "it may be there by now";
  decide(newcomer, outcome::dropped);
  EXPECT_EQ(charged(), 0u) << "nobody could tell";
  EXPECT_EQ(counted("dropped"), 1u);
  EXPECT_EQ(repos.size(), 0u);
}

// limits::shard_claims_max
TEST_F(RouterClaimsTest, SoManyAreOnTheirWayAndTheOthersAreCounted) {
  constexpr auto most = limits::shard_claims_max;
  start(options);
  for (size_t i = 0; i < most + 1; ++i)
    frame(newcomer + i, 11 + i);
  EXPECT_EQ(supervisor.count<stream_claim>(), most);
  EXPECT_EQ(counted("dropped"), 1u);
  EXPECT_EQ(given_up().size(), most + 1);
}

TEST_F(RouterClaimsTest, AStreamThatRestsClaimsNothing) {
  start(options);
  frame(newcomer, 11);
  tell(router, stream_claims_rest{7, time.steady_now() + 60s});
  EXPECT_EQ(counted("dropped"), 1u);
  frame(newcomer + 1, 12);
  EXPECT_EQ(supervisor.count<stream_claim>(), 1u);
  EXPECT_THAT(given_up(), ElementsAre(11, 12));
  frame(1, 13); // A frame of a tracked repo is not a claim.
  EXPECT_THAT(frames_of(repos.at(0).actor), ElementsAre(13));
  pass(60s);
  frame(newcomer + 1, 14);
  EXPECT_EQ(supervisor.count<stream_claim>(), 1u);
}

// A repo that is added by hand is tracked at once, and its events since then
// are not lost.
TEST_F(RouterClaimsTest, AnAdditionByHandEndsTheClaim) {
  start(options);
  identity(newcomer, 11);
  tell(router, add_repos{{shell_repo(newcomer)}, {"app.test"}});
  ASSERT_EQ(repos.size(), 1u);
  const auto added = repos[0].actor.take<add_repos>();
  ASSERT_EQ(added.size(), 1u);
  EXPECT_TRUE(added[0].look_up);
  EXPECT_THAT(added[0].collections, ElementsAre("app.test"));
  decide(newcomer, outcome::confirmed);
  EXPECT_EQ(repos[0].actor.count<add_repos>(), 0u);
}

// architecture.md, When memory runs short: a name from a PDS wakes no REPO, so
// it need not wait for room
TEST_F(RouterClaimsTest, NamesOfPdssDoNotWaitForRoom) {
  options.residents = at_most(2, 1).residents;
  start(options);
  for (size_t i = 1; i <= 6; ++i)
    frame(i, 10 + i);
  given_up();
  frame(newcomer, 17);
  EXPECT_THAT(given_up(), ElementsAre(17));
  EXPECT_EQ(supervisor.count<stream_claim>(), 1u);
}

} // namespace weir::tests
