#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/all_stores.hpp"
#include "actors/support/row_work.hpp"
#include "messages/caf_types.hpp"
#include "messages/identity.hpp"
#include "messages/intake.hpp"
#include "messages/journal.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// SYNC-11: permits are returned, whichever actor dies.
namespace weir::tests {
namespace {

using namespace weir::actors;
using storage::repo_status;
using testing::ElementsAre;

constexpr auto a_host = "https://a.test";

/// A SUPERVISOR with one permit. A probe is the ROUTER of all REPOs.
class SupervisorShellTest : public ShellFixture {
protected:
  SupervisorShellTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    home->journal = journal.as<journal_actor>();
    shared->identity = identity.as<identity_actor>();
    router.delay_answers();
    supervisor_environment env;
    env.shared = shared;
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
    tell(supervisor, result<scan_page>{nothing});
  }

  ~SupervisorShellTest() override {
    router.fail_answers();
    run();
  }

  void wish(size_t repo) {
    tell(supervisor, repo_wish{shell_repo(repo), repo_status::pending});
  }

  /// Ends a look-up.
  void found(size_t repo, result<storage::identity_row> fact) {
    tell(supervisor, identity_answer{shell_repo(repo), std::move(fact)});
  }

  /// A repo wishes a fetch, and its host is found.
  void ask(size_t repo, const std::string& pds = a_host) {
    wish(repo);
    storage::identity_row row;
    row.pds = pds;
    found(repo, row);
  }

  /// The permits that were given since the last call.
  std::vector<begin_fetch> permits() { return router.take<begin_fetch>(); }

  /// The job of the only permit; 0 when there was none.
  uint64_t permit() {
    const auto got = permits();
    EXPECT_LE(got.size(), 1u);
    return got.empty() ? 0 : got[0].job;
  }

  /// Ends a fetch, which answers the permit.
  void end(size_t repo, uint64_t job, result<void> outcome = {}) {
    router.answer_first(job_ended{shell_repo(repo), job, std::move(outcome)});
    run();
  }

  /// Ends the REPO without an answer.
  void lose() {
    router.answer_first(to_caf(fail(ec::cancelled)));
    run();
  }

  /// Starts the download.
  void begin(size_t repo, uint64_t job) {
    tell(supervisor, fetch_begun{shell_repo(repo), job},
         backfill.as<backfill_actor>());
  }

  probe reader{sys};
  probe router{sys, caf::make_message(listing_taken{})};
  probe journal{sys};
  probe identity{sys};
  probe backfill{sys};
  std::vector<std::string> listed;
  supervisor_actor supervisor;
  bool known = false; ///< Other actors had it before it ran.
};

} // namespace

// Otherwise answers to its first questions to REPOs would be lost.
TEST_F(SupervisorShellTest, OthersKnowItBeforeItRuns) {
  EXPECT_TRUE(known);
}

// SYNC-12; docs/architecture.md, The house, before and after: the look-up, its
// answer and the permit are all messages between the wish and the REPO's turn.
TEST_F(SupervisorShellTest, AWishIsLookedUpAndItsRepoGetsThePermit) {
  const auto others = [this] { return reader.left() + journal.left(); };
  const auto before = others();
  wish(1);
  const auto asked = identity.take<identity_ask>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].repo, shell_repo(1));
  storage::identity_row row;
  row.pds = a_host;
  row.signing_key = "zKey";
  found(1, row);
  const auto got = permits();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].identity->fact->signing_key, "zKey");
  EXPECT_EQ(identity.left() + router.left(), 0u);
  EXPECT_EQ(others(), before);
}

// SYNC-06: the REPO stores the failure in its row, and it is logged
TEST_F(SupervisorShellTest, ALookUpThatFailedIsTheReposFailure) {
  wish(1);
  found(1, fail(ec::not_found, "no such DID"));
  EXPECT_EQ(permit(), 0u);
  const auto errands = router.take<attend_repo>();
  ASSERT_EQ(errands.size(), 1u);
  EXPECT_EQ(errands[0].identity->fact.error().code, ec::not_found);
  router.answer_first(repo_attended{});
  run();
  wish(1);
  EXPECT_EQ(identity.count<identity_ask>(), 2u) << "it is done";
}

// Otherwise its place for a look-up would never be free again.
TEST_F(SupervisorShellTest, AnErrandOfARepoThatDiedIsDone) {
  wish(1);
  found(1, fail(ec::not_found));
  router.answer_first(to_caf(fail(ec::cancelled)));
  run();
  wish(1);
  EXPECT_EQ(identity.count<identity_ask>(), 2u);
}

TEST_F(SupervisorShellTest, ThePermitOfARepoThatDiedGoesToTheNext) {
  ask(1);
  EXPECT_NE(permit(), 0u);
  ask(2);
  EXPECT_EQ(permit(), 0u);
  identity.take<identity_ask>();
  lose();
  const auto next = permits();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].repo, shell_repo(2));

  // limits::refetch_pause: a repo that keeps dying is not asked endlessly.
  EXPECT_EQ(identity.count<identity_ask>(), 0u);
  pass(limits::refetch_pause - 1us);
  EXPECT_EQ(identity.count<identity_ask>(), 0u);
  pass(limits::retry_scan);
  EXPECT_EQ(identity.count<identity_ask>(), 1u);
}

TEST_F(SupervisorShellTest, AnEndOfAnotherJobIsNotTheEndOfThisOne) {
  ask(1);
  const auto job = permit();
  ask(2);
  end(1, job + 1);
  EXPECT_EQ(permit(), 0u);
}

// actors.md, Who is fetched next: a slow host is not a failure of the repo
TEST_F(SupervisorShellTest, ACrawlingDownloadGivesItsPermitToAHostThatWaits) {
  ask(1);
  const auto job = permit();
  begin(1, job);
  ask(2, "https://b.test");
  EXPECT_EQ(permit(), 0u);
  tell(supervisor, fetch_progress{job, 1, false});
  for (size_t i = 0; i < limits::fetch_pace_windows; ++i)
    pass(limits::fetch_pace_window);
  const auto told = backfill.take<job_cancelled>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].reason.value().code, ec::rate_limited);
  EXPECT_EQ(permit(), 0u) << "the REPO says when it has given up";
  end(1, job, fail(ec::rate_limited));
  EXPECT_NE(permit(), 0u);
}

// actors.md, Who is fetched next: neither is a host that has not answered
TEST_F(SupervisorShellTest, AnUnansweredFetchGivesItsPermitToAHostThatWaits) {
  ask(1);
  const auto job = permit();
  begin(1, job);
  ask(2, "https://b.test");
  pass(limits::fetch_answer_wait - 1us);
  EXPECT_EQ(backfill.count<job_cancelled>(), 0u);
  pass(1us);
  const auto told = backfill.take<job_cancelled>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].reason.value().code, ec::rate_limited);
  end(1, job, fail(ec::rate_limited));
  EXPECT_NE(permit(), 0u);
}

// limits::fetch_progress_interval: a BACKFILL's progress shows that it is not
// silent
TEST_F(SupervisorShellTest, ADownloadThatGoesOnKeepsItsPermit) {
  ask(1);
  const auto job = permit();
  begin(1, job);
  ask(2, "https://b.test");
  for (size_t i = 1; i <= 4 * limits::fetch_pace_windows; ++i) {
    tell(supervisor, fetch_progress{job, i * 10'000'000, false});
    pass(limits::fetch_pace_window);
  }
  EXPECT_EQ(backfill.count<job_cancelled>(), 0u);
  EXPECT_EQ(permit(), 0u);
}

// Its REPO has ended, which ends the download.
TEST_F(SupervisorShellTest, ADownloadWithoutItsPermitIsNotWatched) {
  ask(1);
  const auto job = permit();
  begin(1, job + 1);
  ask(2, "https://b.test");
  pass(limits::fetch_answer_wait);
  EXPECT_EQ(backfill.count<job_cancelled>(), 0u);
}

// protocol-coverage.md 9
TEST_F(SupervisorShellTest, AListingIsReadPageByPageForTheRouters) {
  tell(supervisor, node_command{7});
  EXPECT_THAT(listed, ElementsAre("0:"));
  router.answer_now();
  listing_page page;
  page.upstream = 7;
  page.cursor = "c1";
  page.repos->resize(1);
  page.repos->at(0).repo = shell_repo(1);
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

// architecture.md, When the disk fills up: spooled data needs room. A page
// waits for later.
TEST_F(SupervisorShellTest, WithoutRoomFetchesEndAndListingsWait) {
  ask(1);
  begin(1, permit());
  shared->intake.set(shortage::disk, intake_level::no_reading, "disk");
  tell(supervisor, intake_changed{});
  tell(supervisor, node_command{7});
  EXPECT_TRUE(listed.empty());
  EXPECT_EQ(backfill.count<job_cancelled>(), 0u) << "it may end well";
  shared->intake.set(shortage::disk, intake_level::no_requests, "disk");
  tell(supervisor, intake_changed{});
  const auto told = backfill.take<job_cancelled>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].reason.value().code, ec::disk_full);
  shared->intake.set(shortage::disk, intake_level::open, {});
  tell(supervisor, intake_changed{});
  EXPECT_THAT(listed, ElementsAre("0:"));
}

// architecture.md I4: the repos of a page are durable before its cursor
TEST_F(SupervisorShellTest, TheNextPageWaitsUntilAllLinesWereTaken) {
  tell(supervisor, node_command{7});
  listing_compared page;
  page.page.upstream = 7;
  page.page.cursor = "c1";
  page.page.repos->resize(1);
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

// architecture.md I4; completeness.md, The terms: repos that are woken at the
// start although their status needs nothing. Others are woken because of their
// status, at their time.
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
  // An inactive account is not part of the scan by status.
  row.account = storage::account_status::deactivated;
  EXPECT_TRUE(has_quiet_work(row, 3, followed));
  row.identity_due = false;
  EXPECT_FALSE(has_quiet_work(row, 3, followed));
  // Neither is one that a relay took down.
  row.words.relays = {{storage::account_status::takendown, {1, 1, 5}}};
  EXPECT_FALSE(has_quiet_work(row, 3, followed));
  row.words.relays[0].at.upstream = 2;
  EXPECT_TRUE(has_quiet_work(row, 3, followed)) << "and is followed no more";
}

// The store decides: when it cannot be read, SUPERVISOR ends, and NODE with it.
TEST_F(SupervisorShellTest, AScanThatFailedEndsIt) {
  tell(supervisor, result<scan_page>{fail(ec::storage_failure)});
  ask(1);
  EXPECT_EQ(permit(), 0u);
}

} // namespace weir::tests
