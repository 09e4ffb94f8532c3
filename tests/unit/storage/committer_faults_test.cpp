#include "storage/log/log_reader.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/unit/storage/journal_history.hpp"

#include <functional>

// Crashes and disk errors during commits: testing.md, Disk; architecture.md I1,
// I3, I4; OPLOG-05, OPLOG-22.

namespace weir::storage {
namespace {

using tests::fault_env;
using tests::history;
using tests::io_error;
using tests::memory_disk;
using tests::test_account;
using tests::test_store;

/// Commits up to `groups` groups; ends early when the disk fails.
result<void> run(test_store& store, history& past, size_t groups) {
  return past.commit_to(store, groups);
}

TEST(CommitterFaultsTest, AfterAFailedWriteEverythingIsRefused) {
  memory_disk disk;
  fault_env faults{disk};
  test_store store{faults, {}};
  store.reopen();
  history past{1};
  ASSERT_TRUE(run(store, past, 3));
  const auto last = store.writer->last_id();
  faults.plan({.nth = 1});
  EXPECT_EQ(run(store, past, 1).error().code, ec::storage_failure);
  faults.heal();
  EXPECT_EQ(run(store, past, 1).error().code, ec::storage_failure);
  EXPECT_EQ(store.writer->erase_step(test_account{'a'}.repo).error().code,
            ec::storage_failure);
  const log_reader reader{*store.db, *store.names, 0};
  EXPECT_EQ(reader.read(0, last).value().front()->first, 1u) << "reads go on";
}

TEST(CommitterFaultsTest, AFullDiskIsToldApart) {
  memory_disk disk;
  fault_env faults{disk};
  test_store store{faults, {}};
  store.reopen();
  history past{1};
  ASSERT_TRUE(run(store, past, 3));
  faults.budget(100);
  EXPECT_EQ(run(store, past, 1).error().code, ec::disk_full);
  EXPECT_EQ(run(store, past, 1).error().code, ec::disk_full);
  faults.budget(std::nullopt);
  store.reopen();
  EXPECT_EQ(past.complaint_about(store), "");
}

TEST(CommitterFaultsTest, ADamagedRowStopsTheWriterForGood) {
  test_store store;
  test_account alice{'a'};
  alice.accept(store.commit(alice.commit({{"app.a.x/1", "one"}})));
  store.reopen();
  const auto key = encode_key(chain_key{alice.repo});
  const auto good = store.get_raw(key);
  store.put_raw(key, "damaged");
  journal_batch group;
  group.updates.push_back(alice.commit({{"app.a.x/2", "two"}}));
  EXPECT_EQ(store.writer->commit(group).error().code, ec::storage_failure);
  store.put_raw(key, good);
  EXPECT_EQ(store.writer->commit(group).error().code, ec::storage_failure);
  EXPECT_EQ(store.writer->last_id(), 2u);
}

TEST(CommitterFaultsTest, ADamagedRowStopsTheWriterWhicheverCallReadsIt) {
  const auto repo = test_account{'a'}.repo;
  const auto repo_at = encode_key(repo_key{repo});
  const auto erasure_at = encode_key(erasure_key{repo});
  using call = std::function<error(committer&, op_id)>;
  const call miss = [&](committer& x, op_id) {
    const auto ok = x.note_missed(repo);
    return ok ? error{} : ok.error();
  };
  const call end = [&](committer& x, op_id through) {
    const auto ok = x.end_erasure(repo, through);
    return ok ? error{} : ok.error();
  };
  for (const auto& [key, called] : std::vector<std::pair<std::string, call>>{
         {repo_at, miss}, {erasure_at, end}, {repo_at, end}}) {
    test_store store;
    test_account alice{'a'};
    alice.accept(store.commit(alice.appear()));
    alice.accept(store.commit(alice.commit({{"app.a.x/1", "one"}})));
    alice.accept(store.commit(alice.erase()));
    while (store.writer->erase_step(repo).value()) {
      // nop
    }
    const auto good = store.get_raw(key);
    store.put_raw(key, "damaged");
    const auto said = called(*store.writer, alice.chain->erased_through);
    EXPECT_EQ(said.code, ec::storage_failure);
    EXPECT_NE(said.context.find("is damaged"), std::string::npos)
      << said.context;
    store.put_raw(key, good);
    EXPECT_EQ(called(*store.writer, alice.chain->erased_through).context,
              said.context);
  }
}

// SQLite's method: the n-th call fails, for every n, until a run ends before
// it.
// protocol-coverage.md 2.1.7
TEST(CommitterFaultsTest, AGroupIsAllOrNothingWhicheverCallFails) {
  for (const unsigned torn : {0u, 128u, 256u}) {
    for (uint64_t nth = 1;; ++nth) {
      memory_disk disk;
      fault_env faults{disk};
      test_store store{faults, {}};
      store.reopen();
      history past{nth};
      ASSERT_TRUE(run(store, past, 2));
      faults.plan({.nth = nth, .sticky = nth % 2 == 0, .torn = torn});
      const auto ok = run(store, past, 12);
      const bool reached = faults.reached();
      faults.heal();
      store.reopen();
      EXPECT_EQ(past.complaint_about(store), "");
      if (testing::Test::HasFailure()) {
        FAIL() << "call " << nth << ", torn " << torn;
      }
      if (!reached) {
        EXPECT_TRUE(ok);
        EXPECT_GT(nth, 20u);
        break;
      }
    }
  }
}

// An id that was reported durable never gets another content, over many power
// losses of one store.
TEST(CommitterFaultsTest, DurableIdsKeepTheirContentOverPowerLosses) {
  const auto dice = seeded_random(42);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    memory_disk disk;
    fault_env faults{disk};
    test_store store{faults, {}};
    store.reopen();
    history past{seed};
    for (size_t crash = 0; crash < 6; ++crash) {
      const auto ok = run(store, past, 1 + dice->below(10));
      ASSERT_TRUE(ok) << to_string(ok.error());
      // One more group is written and not yet synced when the power is lost.
      const auto late = past.next_group();
      faults.plan({.kinds = tests::kind_bit(tests::io_call::sync), .instead = [&] {
        disk.cut_power(*dice, {.garble = dice->below(2) == 0});
      }});
      ASSERT_FALSE(store.writer->commit(late));
      store.close();
      disk.power_on();
      faults.heal();
      store.reopen();
      EXPECT_EQ(past.complaint_about(store), "");
      if (testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << ", crash " << crash;
      }
      const auto known
        = past.durable.empty() ? 0 : past.durable.rbegin()->first;
      if (store.writer->last_id() != known)
        break; // The late group survived, and the accounts do not know it.
      past.rewind();
    }
  }
}

} // namespace
} // namespace weir::storage
