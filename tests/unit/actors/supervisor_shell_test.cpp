#include "actors/supervisor/limits_fetch.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/intake.hpp"
#include "messages/journal.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// SYNC-11: permits come back, whoever dies.
namespace weir::tests {
namespace {

using namespace weir::actors;
using storage::repo_status;
using testing::ElementsAre;

constexpr auto a_host = "https://a.test";

/// A SUPERVISOR with one permit, a ROUTER of the test's, and BACKFILLs that do
/// nothing.
class SupervisorShellTest : public ShellFixture {
protected:
  SupervisorShellTest() {
    shared->readers.push_back(reader.as<reader_actor>());
    shared->routers.push_back(router.as<router_actor>());
    shared->journal = journal.as<journal_actor>();
    supervisor_environment env;
    env.shared = shared;
    env.make_backfill = [this](const fetch_started&) {
      backfills.emplace_back(sys);
      return backfills.back().as<backfill_actor>();
    };
    env.list = [this](const upstream_view& upstream,
                      const std::string& collection, const std::string& cursor,
                      const supervisor_actor&) {
      listed.push_back(std::to_string(upstream.id) + collection + ":" + cursor);
    };
    supervisor_options options;
    options.parallelism = 1;
    supervisor = keep(spawn_supervisor(sys, env, options, {}));
    known = shared->supervisor == supervisor;
    scan_page nothing;
    nothing.end = true;
    tell(supervisor, nothing);
  }

  void ask(size_t repo, const probe& owner) {
    tell(supervisor, repo_wish{shell_repo(repo), repo_status::pending, 0s, {}});
    tell(supervisor,
         repo_ready{shell_repo(repo), a_host, owner.as<repo_actor>()});
  }

  /// The job of the permit that a REPO was given; 0 when it was given none.
  uint64_t permit(probe& owner) {
    const auto got = owner.take<begin_fetch>();
    EXPECT_LE(got.size(), 1u);
    return got.empty() ? 0 : got[0].job;
  }

  void begin(size_t repo, uint64_t job, const probe& owner) {
    fetch_started x;
    x.repo = shell_repo(repo);
    x.job = job;
    x.pds = a_host;
    x.from = owner.as<repo_actor>();
    tell(supervisor, x);
  }

  probe reader{sys};
  probe router{sys, caf::make_message(listing_taken{})};
  probe journal{sys};
  probe ann{sys};
  probe bob{sys};
  std::vector<probe> backfills;
  std::vector<std::string> listed;
  supervisor_actor supervisor;
  bool known = false; ///< To others, before it ran.
};

} // namespace

// Or its first questions to REPOs would have no answers.
TEST_F(SupervisorShellTest, OthersKnowItBeforeItRuns) {
  EXPECT_TRUE(known);
}

TEST_F(SupervisorShellTest, ThePermitOfARepoThatDiedGoesToTheNext) {
  ask(1, ann);
  EXPECT_NE(permit(ann), 0u);
  ask(2, bob);
  EXPECT_EQ(permit(bob), 0u);
  EXPECT_EQ(router.count<prepare_fetch>(), 2u);
  ann.die();
  run();
  EXPECT_NE(permit(bob), 0u);

  // limits::refetch_pause: one that keeps dying is not asked without end.
  EXPECT_EQ(router.count<prepare_fetch>(), 0u);
  pass(limits::refetch_pause - 1us);
  EXPECT_EQ(router.count<prepare_fetch>(), 0u);
  pass(limits::retry_scan);
  EXPECT_EQ(router.count<prepare_fetch>(), 1u);
}

TEST_F(SupervisorShellTest, ARepoThatEndedInGoodOrderIsAskedAgainAtOnce) {
  ask(1, ann);
  router.take<prepare_fetch>();
  ann.end();
  run();
  EXPECT_EQ(router.count<prepare_fetch>(), 1u);
  ask(2, bob);
  EXPECT_NE(permit(bob), 0u);
}

TEST_F(SupervisorShellTest, ARepoThatDiedWhileItWaitedHoldsNoPermit) {
  probe cat{sys};
  ask(1, ann);
  const auto job = permit(ann);
  ask(2, bob);
  ask(3, cat);
  bob.die();
  run();
  tell(supervisor, job_ended{shell_repo(1), job, {}});
  EXPECT_NE(permit(cat), 0u);
}

TEST_F(SupervisorShellTest, ABackfillThatCrashedIsAFailedFetch) {
  ask(1, ann);
  const auto job = permit(ann);
  begin(1, job, ann);
  ASSERT_EQ(backfills.size(), 1u);
  backfills[0].die();
  run();
  const auto told = ann.take<repo_fetch_failed>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].job, job);
  EXPECT_EQ(told[0].reason.code, ec::cancelled);
  ask(2, bob);
  EXPECT_EQ(permit(bob), 0u) << "the REPO says when it has given up";
  tell(supervisor, job_ended{shell_repo(1), job, fail(ec::cancelled)});
  EXPECT_NE(permit(bob), 0u);
}

TEST_F(SupervisorShellTest, ABackfillThatEndedInGoodOrderHasToldItsRepo) {
  ask(1, ann);
  begin(1, permit(ann), ann);
  backfills.at(0).end();
  run();
  EXPECT_EQ(ann.count<repo_fetch_failed>(), 0u);
}

TEST_F(SupervisorShellTest, TheBackfillOfARepoThatDiedIsCancelled) {
  ask(1, ann);
  begin(1, permit(ann), ann);
  ann.die();
  run();
  EXPECT_EQ(backfills.at(0).count<job_cancelled>(), 1u);
}

TEST_F(SupervisorShellTest, AFailedJobEndsItsBackfillAndAGoodOneDoesNot) {
  for (const auto& [outcome, cancelled] :
       {std::pair{error{}, 0u}, {fail(ec::malformed), 1u}}) {
    backfills.clear();
    ask(1, ann);
    const auto job = permit(ann);
    begin(1, job, ann);
    tell(supervisor, job_ended{shell_repo(1), job, outcome});
    EXPECT_EQ(backfills.at(0).count<job_cancelled>(), cancelled);
  }
}

// actors.md, Who is fetched next: it is no failure of the repo that its host
// crawls
TEST_F(SupervisorShellTest, ACrawlingDownloadGivesItsPermitToAHostThatWaits) {
  ask(1, ann);
  const auto job = permit(ann);
  begin(1, job, ann);
  tell(supervisor, repo_wish{shell_repo(2), repo_status::pending, 0s, {}});
  tell(supervisor, repo_ready{shell_repo(2), "https://b.test",
                              bob.as<repo_actor>()});
  EXPECT_EQ(permit(bob), 0u);
  tell(supervisor, fetch_progress{job, 1, false});
  for (size_t i = 0; i < limits::fetch_pace_windows; ++i)
    pass(limits::fetch_pace_window);
  EXPECT_EQ(backfills.at(0).count<job_cancelled>(), 1u);
  const auto told = ann.take<repo_fetch_failed>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].job, job);
  EXPECT_EQ(told[0].reason.code, ec::rate_limited);
  tell(supervisor, job_ended{shell_repo(1), job, fail(ec::rate_limited)});
  EXPECT_NE(permit(bob), 0u);
}

// actors.md, Who is fetched next: nor that its host has not answered
TEST_F(SupervisorShellTest, AnUnansweredFetchGivesItsPermitToAHostThatWaits) {
  ask(1, ann);
  const auto job = permit(ann);
  begin(1, job, ann);
  tell(supervisor, repo_wish{shell_repo(2), repo_status::pending, 0s, {}});
  tell(supervisor, repo_ready{shell_repo(2), "https://b.test",
                              bob.as<repo_actor>()});
  pass(limits::fetch_answer_wait - 1us);
  EXPECT_EQ(backfills.at(0).count<job_cancelled>(), 0u);
  pass(1us);
  EXPECT_EQ(backfills.at(0).count<job_cancelled>(), 1u);
  const auto told = ann.take<repo_fetch_failed>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].job, job);
  EXPECT_EQ(told[0].reason.code, ec::rate_limited);
  tell(supervisor, job_ended{shell_repo(1), job, fail(ec::rate_limited)});
  EXPECT_NE(permit(bob), 0u);
}

// limits::fetch_progress_interval is how a BACKFILL says that it does not
TEST_F(SupervisorShellTest, ADownloadThatGoesOnKeepsItsPermit) {
  ask(1, ann);
  const auto job = permit(ann);
  begin(1, job, ann);
  tell(supervisor, repo_wish{shell_repo(2), repo_status::pending, 0s, {}});
  tell(supervisor, repo_ready{shell_repo(2), "https://b.test",
                              bob.as<repo_actor>()});
  for (size_t i = 1; i <= 4 * limits::fetch_pace_windows; ++i) {
    tell(supervisor, fetch_progress{job, i * 10'000'000, false});
    pass(limits::fetch_pace_window);
  }
  EXPECT_EQ(backfills.at(0).count<job_cancelled>(), 0u);
  EXPECT_EQ(permit(bob), 0u);
}

TEST_F(SupervisorShellTest, AFetchWithoutItsPermitIsRefused) {
  ask(1, ann);
  const auto job = permit(ann);
  begin(1, job + 1, ann);
  begin(2, job, bob);
  EXPECT_TRUE(backfills.empty());
  EXPECT_EQ(ann.count<repo_fetch_failed>(), 1u);
  EXPECT_EQ(bob.count<repo_fetch_failed>(), 1u);
  tell(supervisor, job_ended{shell_repo(1), job + 1, {}}); // Not its job.
  ask(2, bob);
  EXPECT_EQ(permit(bob), 0u);
}

// protocol-coverage.md 9
TEST_F(SupervisorShellTest, AListingIsReadPageByPageForTheRouters) {
  tell(supervisor, node_command{7});
  EXPECT_THAT(listed, ElementsAre("0:"));
  listing_page page;
  page.upstream = 7;
  page.cursor = "c1";
  page.repos.resize(1);
  page.repos[0].repo = shell_repo(1);
  reader.take<reader_job>();
  tell(supervisor, page);
  EXPECT_EQ(reader.count<reader_job>(), 1u) << "compared with the store first";
  EXPECT_EQ(listed.size(), 1u);
  tell(supervisor, listing_compared{page, {}, 1});
  const auto lines = router.take<repo_listing>();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].repos.at(0).repo, shell_repo(1));
  EXPECT_THAT(listed, ElementsAre("0:", "0:c1"));
  const auto rows = journal.take<journal_rows>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rows->listings.at(0).row.cursor, "c1");
}

// architecture.md, When the disk fills up: what is spooled takes room; a page
// is held for later.
TEST_F(SupervisorShellTest, WithoutRoomFetchesEndAndListingsWait) {
  ask(1, ann);
  const auto job = permit(ann);
  begin(1, job, ann);
  shared->intake.set(shortage::disk, intake_level::no_reading, "disk");
  tell(supervisor, intake_changed{});
  tell(supervisor, node_command{7});
  EXPECT_TRUE(listed.empty());
  EXPECT_EQ(ann.count<repo_fetch_failed>(), 0u) << "it may end well";
  shared->intake.set(shortage::disk, intake_level::no_requests, "disk");
  tell(supervisor, intake_changed{});
  EXPECT_EQ(backfills.at(0).count<job_cancelled>(), 1u);
  const auto told = ann.take<repo_fetch_failed>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].reason.code, ec::disk_full);
  shared->intake.set(shortage::disk, intake_level::open, {});
  tell(supervisor, intake_changed{});
  EXPECT_THAT(listed, ElementsAre("0:"));
}

// architecture.md I4: what a page found is durable before its cursor
TEST_F(SupervisorShellTest, TheNextPageWaitsUntilAllLinesWereTaken) {
  router.delay_answers();
  tell(supervisor, node_command{7});
  listing_compared page;
  page.page.upstream = 7;
  page.page.cursor = "c1";
  page.page.repos.resize(1);
  page.listed = 1;
  tell(supervisor, page);
  EXPECT_EQ(router.count<repo_listing>(), 1u);
  EXPECT_THAT(listed, ElementsAre("0:"));
  EXPECT_EQ(journal.count<journal_rows>(), 0u);
  router.answer_now();
  run();
  run();
  EXPECT_THAT(listed, ElementsAre("0:", "0:c1"));
}

// architecture.md I4; completeness.md, The terms: who is woken at start though
// its status asks for nothing. Others are woken for their status, at their
// time.
TEST(QuietWorkTest, IsOfSyncedReposWithADueIdentityOrAnotherFilter) {
  upstream_board followed;
  upstream_view relay;
  relay.id = 1;
  followed.put(relay);
  storage::repo_row row;
  row.status = repo_status::synced;
  row.filter_generation = 2;
  EXPECT_FALSE(has_quiet_work(row, 2, followed));
  EXPECT_TRUE(has_quiet_work(row, 3, followed));
  row.gap = true;
  EXPECT_TRUE(has_quiet_work(row, 2, followed)) << "or nobody acts on it";
  row.gap = false;
  row.identity_due = true;
  EXPECT_TRUE(has_quiet_work(row, 2, followed));
  for (const auto other : {repo_status::pending, repo_status::desync,
                           repo_status::error, repo_status::syncing}) {
    row.status = other;
    EXPECT_FALSE(has_quiet_work(row, 3, followed));
  }
  // An account that is not active has no place in the scan of statuses.
  row.account = storage::account_status::deactivated;
  EXPECT_TRUE(has_quiet_work(row, 3, followed));
  row.identity_due = false;
  EXPECT_FALSE(has_quiet_work(row, 3, followed));
  // Nor has one that a relay took down.
  row.words.relays = {{storage::account_status::takendown, {1, 1, 5}}};
  EXPECT_FALSE(has_quiet_work(row, 3, followed));
  row.words.relays[0].at.upstream = 2;
  EXPECT_TRUE(has_quiet_work(row, 3, followed)) << "and is followed no more";
}

// The store is the truth: what it cannot say ends the SUPERVISOR, and NODE.
TEST_F(SupervisorShellTest, AScanThatFailedEndsIt) {
  scan_page failed;
  failed.failed = fail(ec::storage_failure);
  tell(supervisor, failed);
  ask(1, ann);
  EXPECT_EQ(permit(ann), 0u);
}

} // namespace weir::tests
