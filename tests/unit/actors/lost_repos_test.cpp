#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/account.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

/// Repos whose host said RepoNotFound once, in this life or in an earlier one.
namespace weir::tests {
namespace {

using namespace weir::actors;

constexpr auto their_host = "https://a.test";

/// A SUPERVISOR that has not read the store yet.
class LostReposTest : public ShellFixture {
protected:
  LostReposTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    home->journal = journal.as<journal_actor>();
    supervisor_environment env;
    env.shared = shared;
    env.ask = [this](const atproto::did& repo, const std::string& pds,
                     const supervisor_actor&) {
      asked.push_back(repo.str() + ' ' + pds);
    };
    supervisor = keep(spawn_supervisor(sys, env, {}, {}));
  }

  /// @param age Time since the first RepoNotFound; negative: in the future.
  void find(size_t repo, std::chrono::seconds age, bool end) {
    scan_page page;
    page.lost.push_back({shell_repo(repo), their_host,
                         shared->time->wall_now().seconds() - age.count()});
    page.end = end;
    tell(supervisor, result<scan_page>{page});
  }

  void answer(size_t repo) {
    account_answer x;
    x.repo = shell_repo(repo);
    x.pds = their_host;
    x.what = account_answer::kind::not_found;
    tell(supervisor, x);
  }

  probe reader{sys};
  probe router{sys};
  probe journal{sys};
  std::vector<std::string> asked;
  supervisor_actor supervisor;
};

} // namespace

// protocol-coverage.md 4.5: after a restart the time neither starts again nor
// is over at once, whatever the clock was
TEST_F(LostReposTest, AreAskedAboutForTheSecondTimeInTheirTime) {
  constexpr std::chrono::seconds grace = limits::gone_grace_range.standard;
  constexpr auto least = grace / limits::gone_grace_part;
  find(1, 2 * grace, false);
  find(2, -2 * grace, true);
  // Found by a later scan: its question may already be open.
  find(3, 2 * grace, true);
  EXPECT_GT(shared->memory->held(memory_use::questions), 0u);
  pass(least - 1us);
  EXPECT_THAT(asked, testing::IsEmpty());
  pass(1us);
  EXPECT_EQ(asked.size(), 1u);
  answer(1);
  const auto told = router.take<account_said>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].account, storage::account_status::deleted);
  EXPECT_FALSE(told[0].once);
  pass(grace - least - 1us);
  EXPECT_EQ(asked.size(), 1u);
  pass(1us);
  EXPECT_EQ(asked.size(), 2u);
  pass(grace);
  EXPECT_EQ(asked.size(), 2u);
}

// The REPO stores it.
TEST_F(LostReposTest, TheFirstRepoNotFoundIsToldToItsRepo) {
  tell(supervisor, account_question{shell_repo(1), their_host});
  EXPECT_EQ(asked.size(), 1u);
  answer(1);
  const auto told = router.take<account_said>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].once);
}

} // namespace weir::tests
