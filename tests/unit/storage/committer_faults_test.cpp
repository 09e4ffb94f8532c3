#include "storage/log_reader.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// Crashes and disk errors under the writer: reliability.md P1 to P4, P13, 3.2;
// requirements.md OPLOG-05, 2b.13.

namespace weir::storage {
namespace {

using tests::change;
using tests::fault_env;
using tests::fault_plan;
using tests::io_call;
using tests::io_error;
using tests::kind_bit;
using tests::memory_disk;
using tests::numbered;
using tests::test_account;
using tests::test_store;

/// What an operation id stands for, as a consumer would have seen it.
using seen_operations = std::map<op_id, std::string>;

void see(const log_entry& entry, seen_operations& seen) {
  op_id id = entry.first;
  for (const auto& op : entry.ops)
    seen[id++] = entry.repo.str() + " " + std::to_string(entry.rev.value())
                 + " " + op.scope + " " + op.rkey + " " + op.id.to_text();
}

/// Accounts and a random history of theirs, over a disk that may fail.
class history {
public:
  explicit history(uint64_t seed) : dice_(seeded_random(seed)) {
    // nop
  }

  journal_batch next_group() {
    journal_batch group;
    for (auto& who : accounts_)
      if (dice_->below(2) == 0)
        group.updates.push_back(next_update(who));
    group.upstreams.push_back(
      {1, "wss://relay.test", true, 1, ++groups, 0, false});
    return group;
  }

  void accept(const journal_batch& group, const commit_result& out) {
    for (size_t i = 0; i < group.updates.size(); ++i)
      for (auto& who : accounts_)
        if (who.repo == group.updates[i].repo)
          who.accept(out.receipts[i]);
    for (const auto& entry : out.entries)
      see(*entry, durable);
    groups_done = groups;
    accepted_ = accounts_;
  }

  /// Forgets what the accounts did since the last group that was accepted.
  void rewind() {
    accounts_ = accepted_;
    groups = groups_done;
  }

  uint64_t groups = 0;
  uint64_t groups_done = 0;
  seen_operations durable; ///< All that was ever reported durable.

private:
  repo_update next_update(test_account& who) {
    if (!who.known)
      return who.appear();
    std::vector<change> changes;
    for (size_t i = dice_->below(4) + 1; i > 0; --i) {
      const auto path = "app.c" + std::to_string(dice_->below(3)) + ".x/"
                        + std::to_string(i) + std::to_string(dice_->below(9));
      const bool drop = who.records.contains(path) && dice_->below(3) == 0;
      changes.push_back(
        {path, drop ? "" : std::string(1 + dice_->below(1'500), 'b')});
    }
    return who.commit(changes);
  }

  std::unique_ptr<random_source> dice_;
  std::vector<test_account> accounts_{test_account{'a'}, test_account{'b'},
                                      test_account{'c'}};
  std::vector<test_account> accepted_ = accounts_;
};

/// Commits up to `groups` groups; ends early when the disk fails.
result<void> run(test_store& store, history& past, size_t groups) {
  for (size_t i = 0; i < groups; ++i) {
    const auto group = past.next_group();
    const auto out = store.writer->commit(group);
    if (!out)
      return out.error();
    past.accept(group, *out);
    store.time.advance(std::chrono::seconds{7});
  }
  return {};
}

/// All that was durable is there unchanged, whole groups only, and all tables
/// agree.
void expect_sound(const test_store& store, const history& past) {
  EXPECT_EQ(store.findings(), "");
  const log_reader reader{*store.db, *store.names, 0};
  seen_operations found;
  for (op_id after = 0; after < store.writer->last_id();) {
    const auto entries = reader.read(after, store.writer->last_id());
    ASSERT_TRUE(entries) << to_string(entries.error());
    for (const auto& entry : *entries)
      see(*entry, found);
    after = entries->back()->last();
  }
  for (const auto& [id, what] : past.durable)
    ASSERT_EQ(found[id], what) << "operation " << id << " changed";
  const auto upstream
    = decode_value<upstream_row>(store.get_raw(encode_key(upstream_key{1})));
  ASSERT_TRUE(upstream);
  EXPECT_GE(upstream->cursor, past.groups_done);
  // The group that failed may be there, whole, or not at all.
  EXPECT_LE(upstream->cursor, past.groups_done + 1);
  if (upstream->cursor == past.groups_done) {
    EXPECT_EQ(found.size(), past.durable.size());
  }
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
  EXPECT_EQ(store.writer->sync().error().code, ec::storage_failure);
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
  expect_sound(store, past);
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

// SQLite's method: the n-th call fails, for every n, until none is reached.
// protocol.md 2.1.7
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
      expect_sound(store, past);
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

// No id that was reported durable ever stands for something else, over many
// power losses of one store.
TEST(CommitterFaultsTest, DurableIdsKeepTheirContentOverPowerLosses) {
  const auto dice = seeded_random(42);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    test_store store;
    history past{seed};
    for (size_t crash = 0; crash < 6; ++crash) {
      const auto ok = run(store, past, 1 + dice->below(10));
      ASSERT_TRUE(ok) << to_string(ok.error());
      // One more group is on its way when the power goes.
      const auto late = past.next_group();
      ASSERT_TRUE(store.writer->commit(late, sync_mode::relaxed));
      store.disk.cut_power(*dice, {.garble = dice->below(2) == 0});
      store.close();
      store.disk.power_on();
      store.reopen();
      expect_sound(store, past);
      if (testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << ", crash " << crash;
      }
      const auto known
        = past.durable.empty() ? 0 : past.durable.rbegin()->first;
      if (store.writer->last_id() != known)
        break; // The late group survived: the accounts do not know it.
      past.rewind();
    }
  }
}

} // namespace
} // namespace weir::storage
