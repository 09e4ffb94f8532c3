#include "actors/supervisor/supervisor.hpp"
#include "actors/support/store_readers.hpp"
#include "base/log.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/listing_run.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/actors/upstream_views.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

/// SUPERVISOR asks hosts about repos that a relay's listing left out.
namespace weir::tests {
namespace {

constexpr auto left_out_host = "https://a.test";
const atproto::tid left_out_rev{7 << 20};

class LeftOutShellTest : public ShellFixture {
protected:
  LeftOutShellTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    home->journal = journal.as<journal_actor>();
    supervisor_environment env;
    env.shared = shared;
    env.ask = [this](const atproto::did& repo, const std::string&,
                     const supervisor_actor&) { asked.push_back(repo); };
    env.list = [](const upstream_view&, const std::string&, const std::string&,
                  const supervisor_actor&) {};
    env.signal_collections = {"app.test.note"};
    supervisor = keep(spawn_supervisor(sys, env, {}, {}));
  }

  void begin_listing(uint32_t epoch) {
    shared->upstreams.put(
      quiet_upstream(relay_id, "https://relay.test", epoch, 7));
    tell(supervisor, node_command{relay_id});
    pass(listing_grace);
  }

  /// Starts a new epoch of the relay, whose listing is empty.
  /// @returns how often the host was asked about the repo since then
  size_t lose(uint32_t epoch, bool is_proved) {
    begin_listing(epoch);
    listing_compared listing;
    listing.page.upstream = relay_id;
    if (lists_collection) {
      listing.page.collection = "app.test.note";
      tell(supervisor, listing);
      listing.page.collection.clear();
    }
    tell(supervisor, listing);
    left_out_page rows;
    rows.upstream = relay_id;
    rows.repos->push_back({shell_repo(1), left_out_host,
                          is_proved ? position{} : position{relay_id, epoch, 7},
                          is_known});
    rows.end = true;
    asked.clear();
    tell(supervisor, rows);
    return asked.size();
  }

  account_said answer() {
    account_answer x;
    x.repo = shell_repo(1);
    x.pds = left_out_host;
    x.what = account_answer::kind::stated;
    x.rev = left_out_rev;
    tell(supervisor, x);
    const auto told = router.take<account_said>();
    EXPECT_EQ(told.size(), 1u);
    return told.empty() ? account_said{} : told[0];
  }

  probe reader{sys};
  probe router{sys};
  probe journal{sys};
  std::vector<atproto::did> asked;
  bool lists_collection = false; ///< Its listing ends first.
  bool is_known = false; ///< The row says that the relay leaves the repo out.
  supervisor_actor supervisor;
};

} // namespace

// CONS-29: without a check of all rows, and although the host answered just
// before the loss
TEST_F(LeftOutShellTest, OneWhosePositionIsStaleIsProvedByTheAnswer) {
  for (const uint32_t epoch : {1u, 2u}) {
    ASSERT_EQ(lose(epoch, false), 1u) << epoch;
    const auto told = answer();
    EXPECT_EQ(told.noted, (position{relay_id, epoch, 7}));
    EXPECT_TRUE(told.prove);
    EXPECT_EQ(told.rev, left_out_rev);
  }
}

// A listing of a collection that ends meanwhile contains other repos.
TEST_F(LeftOutShellTest, OneThatNoListingOfAllNamedIsAskedAboutInSignalMode) {
  lists_collection = true;
  EXPECT_EQ(lose(1, true), 1u);
}

// limits::known_absence_memory: a repo that a relay never carries is asked
// about once
TEST_F(LeftOutShellTest, OneThatWasProvedIsNotAskedAboutAgain) {
  ASSERT_EQ(lose(1, true), 1u);
  EXPECT_FALSE(answer().prove);
  EXPECT_EQ(lose(2, true), 0u);
}

// completeness.md, The terms: a relay that leaves a repo out for the second
// time, although its host has it, does not cover it
TEST_F(LeftOutShellTest, OneThatItsHostHasIsSaidToBeLeftOut) {
  ASSERT_EQ(lose(1, true), 1u);
  answer();
  EXPECT_EQ(router.count<repo_incomplete>(), 0u) << "it may have been overlooked";
  lose(2, true);
  const auto told = router.take<repo_incomplete>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].repo, shell_repo(1));
  EXPECT_EQ(told[0].left_out_by, relay_id);
  is_known = true;
  lose(3, true);
  EXPECT_EQ(router.count<repo_incomplete>(), 0u) << "its row says so";
}

// It is not compared with a listing until it was left out twice again.
TEST_F(LeftOutShellTest, OneThatWasLeftOutBeforeARestartIsAskedAbout) {
  shared->upstreams.put(quiet_upstream(relay_id, "https://relay.test", 1, 7));
  test_store store;
  storage::repo_update known;
  known.repo = shell_repo(1);
  known.row.emplace();
  known.row->status = storage::repo_status::synced;
  known.row->pds = left_out_host;
  known.row->left_out_by = relay_id;
  store.commit(known);
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  shared->stores = {shared->places(), {&rows}};
  for (int i = 0; i < 100 && asked.empty(); ++i) {
    for (const auto& job : reader.take<reader_job>())
      job.run(rows);
    pass(5min);
  }
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked[0], shell_repo(1));
}

// Operators know an upstream by its URL, not by its number in the store.
TEST_F(LeftOutShellTest, TheLogNamesAnUpstreamByItsUrl) {
  log::configure(log::level::info, log::format::text);
  testing::internal::CaptureStderr();
  begin_listing(1);
  listing_page page;
  page.upstream = relay_id;
  page.unanswered = 1;
  tell(supervisor, page);
  listing_compared listing;
  listing.page.upstream = relay_id;
  tell(supervisor, listing);
  left_out_page rows;
  rows.upstream = relay_id;
  rows.repos = fail(ec::storage_failure, "unread");
  tell(supervisor, rows);
  begin_listing(2);
  page = {};
  page.upstream = relay_id;
  page.repos = fail(ec::unreachable, "away");
  tell(supervisor, page);
  const auto lines = testing::internal::GetCapturedStderr();
  log::configure(log::level::off, log::format::text);
  for (const auto* event :
       {"accounts_not_described", "left_out_unread", "listing_failed"})
    EXPECT_NE(lines.find(std::string{event} + " upstream=https://relay.test"),
              std::string::npos)
      << event << "\n"
      << lines;
}

} // namespace weir::tests
