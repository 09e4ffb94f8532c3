#include "actors/supervisor/limits_scans.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/account.hpp"
#include "messages/journal.hpp"
#include "storage/format/keys.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

/// SUPERVISOR's checks of all rows, with a store.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::SizeIs;

constexpr size_t wakes_max = limits::completeness_wakes_max;

class CompletenessShellTest : public ShellFixture {
protected:
  CompletenessShellTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    home->journal = journal.as<journal_actor>();
    supervisor_environment env;
    env.shared = shared;
    env.filter_generation = 2;
    env.ask = [](const atproto::did&, const std::string&,
                 const supervisor_actor&) {};
    supervisor = keep(spawn_supervisor(sys, env, {}, {}));
    reader.take<reader_job>();
  }

  /// Stores a synced repo whose last event came up to `first`.
  void put(size_t repo, uint64_t first, uint32_t filter = 2) {
    storage::repo_update out;
    out.repo = shell_repo(repo);
    out.row.emplace();
    out.row->status = storage::repo_status::synced;
    out.row->pds = "https://pds.test";
    out.row->first_rev = atproto::tid{first << 20};
    out.row->last_indexed_rev = atproto::tid{2 << 20};
    out.row->filter_generation = filter;
    store.commit(out);
  }

  /// One complete check.
  void look() {
    store_readers rows{*store.db, *store.names, tail};
    shared->stores = {shared->places(), {&rows}};
    pass(limits::completeness_pause);
    for (auto& job : reader.take<reader_job>())
      job.run(rows);
    run();
  }

  completeness_count seen() const {
    const auto last = shared->completeness.last();
    return last.census ? last.census->all() : completeness_count{};
  }

  test_store store;
  storage::tail_cache tail{1};
  probe reader{sys};
  probe router{sys};
  probe journal{sys};
  supervisor_actor supervisor;
};

} // namespace

// CONS-10: an unreadable repo is not complete, and does not hide those after it
TEST_F(CompletenessShellTest, AnUnreadableRepoIsCountedAndTheOthersAsWell) {
  put(1, 1);
  put(2, 3);
  put(3, 3);
  const storage::chain_key damaged{shell_repo(2)};
  store.put_raw(storage::encode_key(damaged), "damaged");
  look();
  EXPECT_EQ(seen().active, 3u);
  EXPECT_EQ(seen().complete, 0u) << "no upstream covers them";
  const auto woken = router.take<repo_incomplete>();
  ASSERT_THAT(woken, SizeIs(1));
  EXPECT_EQ(woken[0].repo, shell_repo(3));
}

// limits::completeness_wakes_max: no repo is woken because of another filter,
// which is left to the scan of work
TEST_F(CompletenessShellTest, ALookWakesSoManyAndTheNextOneTheOthers) {
  for (size_t i = 0; i <= wakes_max; ++i)
    put(i, 3);
  for (size_t i = 1; i <= 5; ++i)
    put(1'000 + i, 1, 1);
  look();
  EXPECT_EQ(router.count<repo_incomplete>(), wakes_max);
  look();
  EXPECT_EQ(router.count<repo_incomplete>(), 1u);
  look();
  EXPECT_EQ(router.count<repo_incomplete>(), wakes_max);
}

// A node short of memory closes REPOs that wait for a look-up; their rows
// record it.
TEST_F(CompletenessShellTest, ALookWakesThoseWhoseLookUpIsDue) {
  storage::repo_update away;
  away.repo = shell_repo(1);
  away.row.emplace();
  away.row->account = storage::account_status::deleted;
  away.row->identity_due = true;
  store.commit(away);
  away.repo = shell_repo(2);
  away.row->identity_due = false;
  store.commit(away);
  look();
  const auto woken = router.take<repo_incomplete>();
  ASSERT_THAT(woken, SizeIs(1));
  EXPECT_EQ(woken[0].repo, shell_repo(1));
  EXPECT_EQ(seen().active, 0u);
}

} // namespace weir::tests
