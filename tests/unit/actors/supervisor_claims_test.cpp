#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/support/site.hpp"
#include "messages/claims.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// A repo that only a listing names is a claim until a document agrees.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto claiming_host = "https://pds.test";

class SupervisorClaimsTest : public ShellFixture {
protected:
  SupervisorClaimsTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    home->journal = journal.as<journal_actor>();
    shared->identity = identity.as<identity_actor>();
    upstream_view view;
    view.id = 7;
    view.origin = claiming_host;
    shared->upstreams.put(view);
    supervisor_environment env;
    env.shared = shared;
    env.discover = true;
    env.claims_bytes = 400 * limits::claim_entry_bytes;
    env.list = [this](const upstream_view&, const std::string&,
                      const std::string& cursor, const supervisor_actor&) {
      listed.push_back(cursor);
    };
    supervisor = keep(spawn_supervisor(sys, env, {}, {}));
    tell(supervisor, node_command{7});
  }

  /// Claims a page of repos that the store does not have.
  void claim(size_t first, size_t count,
             storage::account_status of = storage::account_status::active,
             uint32_t upstream = 7) {
    listing_compared x;
    x.page.upstream = upstream;
    x.page.cursor = "c1";
    x.listed = count;
    x.unknown.resize(count);
    for (size_t i = 0; i < count; ++i) {
      x.unknown[i].repo = shell_repo(first + i);
      x.unknown[i].account = of;
    }
    tell(supervisor, x);
  }

  void say(size_t repo, const std::string& pds, ec failed = ec::none) {
    identity_answer x;
    x.repo = shell_repo(repo);
    if (failed == ec::none)
      x.fact->pds = pds;
    else
      x.fact = fail(failed);
    tell(supervisor, x);
  }

  /// The directory once had the known account's document.
  void know() {
    shared->health.with(
      [this](health_machine& health) { health.remember(known, true); });
  }

  /// @param asked The number of the newest question that it answers.
  void say_of_known(ec failed = ec::none, bool tombstoned = false,
                    uint64_t asked = UINT64_MAX, bool settled = true) {
    identity_answer x;
    x.repo = known;
    x.asked = asked;
    x.settled = settled;
    if (failed == ec::none) {
      x.fact->pds = claiming_host;
      x.fact->tombstoned = tombstoned;
    } else {
      x.fact = fail(failed);
    }
    tell(supervisor, x);
  }

  const atproto::did known
    = atproto::did::parse("did:plc:" + std::string(24, 'a')).value();

  probe reader{sys};
  probe router{sys, caf::make_message(listing_taken{})};
  probe journal{sys};
  probe identity{sys};
  std::vector<std::string> listed;
  supervisor_actor supervisor;
};

} // namespace

TEST_F(SupervisorClaimsTest, AClaimIsTrackedWhenItsDocumentNamesTheHost) {
  claim(1, 2);
  EXPECT_EQ(router.count<repo_listing>(), 0u);
  const auto asked = identity.take<identity_ask>();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].by, "listings") << "not the turn of accounts";
  say(1, claiming_host);
  const auto lines = router.take<repo_listing>();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].discover);
  EXPECT_EQ(lines[0].repos.at(0).repo, shell_repo(1));
  EXPECT_THAT(listed, ElementsAre("")) << "one is not decided";
  say(2, "https://other.test"); // The document is older than the claim.
  const auto anew = identity.take<identity_ask>();
  ASSERT_EQ(anew.size(), 1u);
  EXPECT_TRUE(anew[0].fresh);
  EXPECT_EQ(anew[0].by, "listings");
  say(2, "https://other.test");
  run();
  EXPECT_EQ(router.count<repo_listing>(), 0u);
  EXPECT_THAT(listed, ElementsAre("", "c1"));
}

TEST_F(SupervisorClaimsTest, WhatAListingSaysOfAnAbsentNewcomerGoesWithIt) {
  claim(1, 1, storage::account_status::takendown);
  say(1, claiming_host);
  const auto lines = router.take<repo_listing>();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].repos.at(0).account, storage::account_status::takendown);
}

TEST_F(SupervisorClaimsTest, WhatClaimsTooMuchRests) {
  constexpr auto most = limits::claims_judged_min;
  know();
  claim(1, most + 10);
  for (size_t i = 1; i <= most; ++i)
    say(i, {}, ec::not_found);
  const auto asked = identity.take<identity_ask>();
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.back().repo, known);
  EXPECT_TRUE(asked.back().fresh);
  say_of_known();
  run();
  EXPECT_THAT(listed, ElementsAre(""));
  EXPECT_EQ(router.count<repo_listing>(), 0u);
  pass(limits::listing_mistrust_min);
  EXPECT_THAT(listed, ElementsAre("", "c1"));
}

// protocol-coverage.md 2.5.6: no listing is blamed when the directory is wrong
TEST_F(SupervisorClaimsTest, WithoutAProofThePageIsAskedForAgain) {
  know();
  claim(1, limits::claims_judged_min);
  for (size_t i = 1; i <= limits::claims_judged_min; ++i)
    say(i, {}, ec::not_found);
  say_of_known(ec::none, true);
  run();
  EXPECT_THAT(listed, ElementsAre(""));
  pass(limits::claim_retry);
  EXPECT_THAT(listed, ElementsAre("", "")) << "not what comes behind it";
}

// protocol-coverage.md 2.5.6: an older document, which a fetch of the same repo
// requested, does not prove the directory either
TEST_F(SupervisorClaimsTest, ADocumentThatIsKnownProvesNothing) {
  know();
  claim(1, limits::claims_judged_min);
  for (size_t i = 1; i <= limits::claims_judged_min; ++i)
    say(i, {}, ec::not_found);
  const auto proof = identity.take<identity_ask>().back().number;
  // It was sent before the proof was requested.
  say_of_known(ec::none, false, proof - 1);
  // It is the known one, while a new one is awaited.
  say_of_known(ec::none, false, proof + 1, false);
  say_of_known(ec::unreachable);
  run();
  pass(limits::claim_retry);
  EXPECT_THAT(listed, ElementsAre("", "")) << "the page is asked for again";
}

// Accounts that the stream of a PDS names are looked up, too.
TEST_F(SupervisorClaimsTest, AClaimOfAStreamIsAnswered) {
  tell(supervisor, stream_claim{7, shell_repo(1), false});
  tell(supervisor, stream_claim{7, shell_repo(2), true});
  const auto asked = identity.take<identity_ask>();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(asked[0].fresh);
  EXPECT_TRUE(asked[1].fresh);
  EXPECT_EQ(asked[0].by, site_of(claiming_host)) << "beside those of listings";
  EXPECT_GT(shared->memory->held(memory_use::claims), 0u);
  say(1, claiming_host);
  const auto told = router.take<stream_claim_decided>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].upstream, 7u);
  EXPECT_EQ(told[0].repo, shell_repo(1));
  EXPECT_EQ(told[0].what, stream_claim_decided::outcome::confirmed);
  EXPECT_FALSE(told[0].anew);
  say(2, claiming_host);
  EXPECT_TRUE(router.take<stream_claim_decided>().at(0).anew);
  time.advance(1s);
  tell(supervisor, stream_claim{7, shell_repo(3), false});
  say(3, "https://other.test"); // The document is older than the claim.
  const auto anew = identity.take<identity_ask>();
  ASSERT_EQ(anew.size(), 2u);
  EXPECT_TRUE(anew[1].fresh);
  say(3, {}, ec::not_found);
  EXPECT_EQ(router.take<stream_claim_decided>().at(0).what,
            stream_claim_decided::outcome::failed);
  // There is no such upstream.
  tell(supervisor, stream_claim{99, shell_repo(4), false});
  EXPECT_EQ(router.take<stream_claim_decided>().at(0).what,
            stream_claim_decided::outcome::dropped);
}

TEST_F(SupervisorClaimsTest, AStreamThatClaimsTooMuchRests) {
  know();
  for (size_t i = 1; i <= limits::claims_judged_min; ++i) {
    tell(supervisor, stream_claim{7, shell_repo(i), false});
    say(i, {}, ec::not_found);
  }
  say_of_known();
  const auto told = router.take<stream_claims_rest>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].upstream, 7u);
  EXPECT_EQ(told[0].until,
            time.steady_now() + limits::listing_mistrust_min);
  EXPECT_EQ(router.count<stream_claim_decided>(), limits::claims_judged_min);
}

// architecture.md, When memory runs short: limits::claims_bytes_max
TEST_F(SupervisorClaimsTest, ClaimsCountAsMemoryAndAPageWithoutRoomComesAgain) {
  const auto held = [this] { return shared->memory->held(memory_use::claims); };
  claim(1, 3);
  EXPECT_GE(held(), 3 * limits::claim_entry_bytes);
  for (const size_t i : {1u, 2u, 3u})
    say(i, claiming_host);
  EXPECT_EQ(held(), 0u);
  upstream_view other;
  other.id = 8;
  shared->upstreams.put(other);
  tell(supervisor, node_command{8});
  claim(1, 200, storage::account_status::active, 8);
  const auto of_other = held();
  EXPECT_GT(of_other, 0u);
  listed.clear();
  claim(201, 200);
  EXPECT_EQ(held(), of_other);
  EXPECT_THAT(listed, IsEmpty()) << "not what comes behind it";
  pass(limits::listing_retry_min);
  EXPECT_THAT(listed, ElementsAre("c1")) << "the page that had no room";
}

} // namespace weir::tests
