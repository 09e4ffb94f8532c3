#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "messages/claims.hpp"
#include "messages/identity.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// Signal mode: the stream of its PDS reports that an account is active.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto returning_host = "https://pds.test";

class SupervisorReturnedTest : public ShellFixture {
protected:
  SupervisorReturnedTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    home->journal = journal.as<journal_actor>();
    shared->identity = identity.as<identity_actor>();
    upstream_view view;
    view.id = 7;
    view.origin = returning_host;
    shared->upstreams.put(view);
    supervisor_environment env;
    env.shared = shared;
    env.holders_listing = "signal-1";
    env.list = [this](const upstream_view& upstream,
                      const std::string& collection, const std::string& cursor,
                      const supervisor_actor&) {
      EXPECT_EQ(upstream.id, 7u);
      EXPECT_EQ(collection, one_account);
      asked.push_back(cursor);
    };
    supervisor = keep(spawn_supervisor(sys, env, {}, {}));
  }

  void comes_back(size_t repo) {
    tell(supervisor, stream_claim{7, shell_repo(repo), true});
  }

  void answer(size_t repo, bool holds) {
    listing_page x;
    x.upstream = 7;
    x.collection = one_account;
    x.asked = 1;
    repo_listed line;
    line.repo = shell_repo(repo);
    (holds ? *x.repos : x.without).push_back(line);
    tell(supervisor, x);
  }

  void fail_with(ec code, size_t unanswered = 0) {
    listing_page x;
    x.upstream = 7;
    x.collection = one_account;
    x.repos = fail(code, "no");
    x.unanswered = unanswered;
    tell(supervisor, x);
  }

  void say(size_t repo, const std::string& pds) {
    identity_answer x;
    x.repo = shell_repo(repo);
    x.fact->pds = pds;
    x.fact->fetched_at = time.wall_now().seconds() + 1;
    tell(supervisor, x);
  }

  probe reader{sys};
  probe router{sys, caf::make_message(listing_taken{})};
  probe journal{sys};
  probe identity{sys};
  std::vector<std::string> asked;
  supervisor_actor supervisor;
};

} // namespace

TEST_F(SupervisorReturnedTest, ItsHostIsAskedAndThenItsDocument) {
  comes_back(1);
  comes_back(2);
  EXPECT_THAT(asked, ElementsAre(shell_repo(1).str()));
  EXPECT_EQ(identity.count<identity_ask>(), 0u);
  answer(1, false);
  EXPECT_EQ(identity.count<identity_ask>(), 0u);
  pass(limits::returned_pause);
  EXPECT_THAT(asked, ElementsAre(shell_repo(1).str(), shell_repo(2).str()));
  answer(2, true);
  const auto looked_up = identity.take<identity_ask>();
  ASSERT_EQ(looked_up.size(), 1u);
  EXPECT_TRUE(looked_up[0].fresh);
  EXPECT_EQ(router.count<repo_listing>(), 0u);
  say(2, returning_host);
  const auto lines = router.take<repo_listing>();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].discover);
  EXPECT_EQ(lines[0].repos.at(0).repo, shell_repo(2));
}

TEST_F(SupervisorReturnedTest, OneWhoseDocumentNamesAnotherHostIsNotTakenUp) {
  comes_back(1);
  answer(1, true);
  say(1, "https://other.test");
  EXPECT_EQ(router.count<repo_listing>(), 0u);
}

// A commit may claim the same DID meanwhile: both get an answer.
TEST_F(SupervisorReturnedTest, WhoeverElseAsksAboutItIsAnsweredToo) {
  for (const auto commit_first : {true, false}) {
    if (commit_first)
      tell(supervisor, stream_claim{7, shell_repo(1), false});
    comes_back(1);
    answer(1, true);
    if (!commit_first)
      tell(supervisor, stream_claim{7, shell_repo(1), false});
    EXPECT_EQ(identity.take<identity_ask>().size(), 1u);
    say(1, returning_host);
    EXPECT_EQ(router.take<repo_listing>().size(), 1u);
    const auto told = router.take<stream_claim_decided>();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].what, stream_claim_decided::outcome::confirmed);
    EXPECT_EQ(shared->memory->held(memory_use::claims), 0u);
  }
}

TEST_F(SupervisorReturnedTest, AHostThatIsAwayIsAskedAgain) {
  comes_back(1);
  fail_with(ec::unreachable);
  EXPECT_EQ(asked.size(), 1u);
  pass(limits::claim_retry);
  EXPECT_EQ(asked.size(), 2u);
  fail_with(ec::none, 1); // As for a page on which it got no answer, twice.
  pass(limits::claim_retry);
  EXPECT_EQ(asked.size(), 3u);
  fail_with(ec::not_found); // It does not describe the account.
  pass(limits::claim_retry);
  EXPECT_EQ(asked.size(), 3u);
}

} // namespace weir::tests
