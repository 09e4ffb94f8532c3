#include "atproto/limits.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/storage/committer_fixture.hpp"

#include <gmock/gmock.h>

// The updates that the writer accepts, and the rows that it keeps besides the
// log: actors.md, One update of a repo; OPLOG-33, OPLOG-34.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

constexpr auto is_done = update_outcome::done;

class CommitterGuardsTest : public tests::committer_fixture {};

// -- guards -------------------------------------------------------------------

TEST_F(CommitterGuardsTest,
       AnUpdateOnAnOldRevisionIsAMismatchAndWritesNothing) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  auto late = alice.commit({{"app.a.x/2", "two"}});
  apply(alice, late);
  const auto before = store.in_logs();
  const auto receipt = only_receipt(late);
  EXPECT_EQ(receipt.outcome, update_outcome::mismatch);
  EXPECT_THAT(receipt.reason, testing::HasSubstr("revision 1"));
  EXPECT_EQ(store.in_logs().batches, before.batches);
  EXPECT_EQ(store.writer->last_id(), 4u);
}

// The revision counts only `$commit` operations, but facts of the account also
// advance the streams.
TEST_F(CommitterGuardsTest, AnUpdateOnAnOldStreamIsAMismatchAtTheSameRevision) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  auto late = alice.commit({{"app.a.x/2", "two"}});
  auto fact = late;
  fact.chain.reset();
  fact.transactions[0].ops.resize(1);
  fact.transactions[0].ops[0] = {};
  fact.transactions[0].ops[0].scope = identity_scope;
  apply(alice, fact);
  EXPECT_EQ(only_receipt(late).outcome, update_outcome::mismatch);
}

// An update based on streams that no store produced shows a bug: nothing is
// written any more, for any repo.
TEST_F(CommitterGuardsTest, AStreamThatTheStoreNeverNamedEndsTheWriter) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  const auto last = store.writer->last_id();
  auto update = alice.commit({{"app.a.y/2", "two"}});
  auto base = *update.base;
  for (auto& stream : base.streams)
    if (stream.scope == "app.a.x")
      stream.scope = "app.a.y";
  update.base = std::make_shared<const chain_row>(base);
  journal_batch group;
  group.updates.push_back(update);
  const auto out = store.writer->commit(group);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ec::invalid_argument);
  EXPECT_FALSE(store.writer->commit({}));
  store.reopen();
  EXPECT_EQ(store.writer->last_id(), last);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterGuardsTest, ADamagedErasureEndsTheWriter) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  apply(alice, alice.erase());
  store.put_raw(encode_key(erasure_key{alice.repo}), "?");
  EXPECT_EQ(store.writer->erase_step(alice.repo, 10).error().code,
            ec::storage_failure);
  EXPECT_FALSE(store.writer->commit({}));
}

TEST_F(CommitterGuardsTest, ARejectedUpdateLeavesTheOthersOfItsGroupAlone) {
  auto stale = alice.commit({{"app.a.x/1", "one"}});
  stale.commit_revision = 5;
  journal_batch group;
  group.updates.push_back(stale);
  group.updates.push_back(bob.commit({{"app.a.x/1", "two"}}));
  const auto out = store.writer->commit(group);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->receipts[0].outcome, update_outcome::mismatch);
  EXPECT_EQ(out->receipts[0].first, 0u);
  EXPECT_EQ(out->receipts[1].outcome, is_done);
  EXPECT_EQ(out->receipts[1].first, 1u);
  EXPECT_EQ(store.names->size(), 1u);
}

TEST_F(CommitterGuardsTest, AFenceDropsUpdatesOfOlderActorsOnly) {
  const auto next = store.writer->fence(alice.repo);
  auto update = alice.commit({{"app.a.x/1", "one"}});
  update.actor_incarnation = next - 1;
  EXPECT_EQ(only_receipt(update).outcome, update_outcome::fenced);
  EXPECT_EQ(store.writer->last_id(), 0u);
  update.actor_incarnation = next;
  EXPECT_EQ(only_receipt(update).outcome, is_done);
  EXPECT_GT(store.writer->fence(alice.repo), next);
  EXPECT_EQ(only_receipt(bob.commit({{"app.a.x/1", "x"}})).outcome, is_done);
}

TEST_F(CommitterGuardsTest, FencesAreBoundedAndTheOldestGoesFirst) {
  store.writer->fence(alice.repo);
  for (size_t i = 1; i < limits::fences_max; ++i)
    store.writer->fence(atproto::did::trusted(numbered("did:web:h", i)));
  const auto update = alice.commit({{"app.a.x/1", "one"}});
  EXPECT_EQ(only_receipt(update).outcome, update_outcome::fenced);
  store.writer->fence(atproto::did::trusted("did:web:last"));
  EXPECT_EQ(only_receipt(update).outcome, is_done);
}

// limits::fences_max: the order is that of the last fence, not the first
TEST_F(CommitterGuardsTest, ARepoThatIsFencedAgainIsNotTheOldest) {
  store.writer->fence(alice.repo);
  for (size_t i = 1; i < limits::fences_max; ++i)
    store.writer->fence(atproto::did::trusted(numbered("did:web:h", i)));
  store.writer->fence(alice.repo);
  store.writer->fence(atproto::did::trusted("did:web:last"));
  const auto update = alice.commit({{"app.a.x/1", "one"}});
  EXPECT_EQ(only_receipt(update).outcome, update_outcome::fenced);
}

TEST_F(CommitterGuardsTest, AChunkOfAnotherResyncIsStale) {
  apply(alice, alice.appear(repo_status::syncing));
  apply(alice, alice.chunk({{"app.a.x/1", "one"}}));
  auto late = alice.chunk({{"app.a.x/2", "two"}});
  late.resync_id = 78;
  EXPECT_EQ(only_receipt(late).outcome, update_outcome::stale);
  late.resync_id = alice.row.resync_id;
  apply(alice, late);
  late = alice.chunk({{"app.a.x/3", "three"}});
  alice.records.erase("app.a.x/3");
  apply(alice, alice.finish());
  EXPECT_EQ(only_receipt(late).outcome, update_outcome::stale);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterGuardsTest, AChunkOfARepoThatIsNotKnownIsStale) {
  alice.row.resync_id = 77;
  const auto chunk = alice.chunk({{"app.a.x/1", "one"}});
  EXPECT_EQ(only_receipt(chunk).outcome, update_outcome::stale);
}

TEST_F(CommitterGuardsTest, AResyncGuardIsReadFromTheStoreAfterReopening) {
  apply(alice, alice.appear(repo_status::syncing));
  store.reopen();
  apply(alice, alice.chunk({{"app.a.x/1", "one"}}));
  auto late = alice.chunk({{"app.a.x/2", "two"}});
  late.resync_id = 78;
  store.reopen();
  EXPECT_EQ(only_receipt(late).outcome, update_outcome::stale);
}

TEST(RepoGuardsTest, TheRepoUsedLongestAgoIsForgottenFirst) {
  const auto did = [](size_t i) {
    return atproto::did::trusted(numbered("did:web:h", i));
  };
  repo_guards guards{3};
  for (size_t i = 0; i < 3; ++i)
    guards.at(did(i)).commit_revision = i + 1;
  EXPECT_EQ(guards.at(did(0)).commit_revision, 1u);
  guards.at(did(3));
  EXPECT_EQ(guards.size(), 3u);
  EXPECT_EQ(guards.at(did(0)).commit_revision, 1u);
  EXPECT_EQ(guards.at(did(1)).commit_revision, 0u) << "it was forgotten";
}

// -- what is refused ----------------------------------------------------------

TEST_F(CommitterGuardsTest, ATransactionHoldsUpToItsLimit) {
  apply(alice, alice.appear(repo_status::syncing));
  std::vector<change> all;
  for (size_t i = 0; i < limits::transaction_ops_max; ++i)
    all.push_back({numbered("app.a.x/", i), "r"});
  apply(alice, alice.chunk(all));
  all.clear();
  for (size_t i = 0; i <= limits::transaction_ops_max; ++i)
    all.push_back({numbered("app.b.x/", i), "r"});
  EXPECT_EQ(only_receipt(alice.chunk(all)).outcome, update_outcome::refused);
}

TEST_F(CommitterGuardsTest, ARepoHasUpToItsLimitOfStreams) {
  apply(alice, alice.appear(repo_status::syncing));
  for (size_t i = 0; i < limits::repo_streams_max; i += 256) {
    std::vector<change> all;
    for (size_t j = i; j < i + 256; ++j)
      all.push_back({numbered("app.n", j) + "/1", "r"});
    apply(alice, alice.chunk(all));
  }
  EXPECT_EQ(alice.chain->streams.size(), limits::repo_streams_max);
  const auto more = only_receipt(alice.chunk({{"app.more/1", "r"}}));
  EXPECT_EQ(more.outcome, update_outcome::refused);
  EXPECT_THAT(more.reason, testing::HasSubstr("collections"));
  apply(alice, alice.chunk({{numbered("app.n", 5) + "/2", "r"}}));
  // Our own scopes are accepted in addition: the commit that ends the resync,
  // then the fact that the account is deleted.
  apply(alice, alice.finish());
  EXPECT_EQ(alice.chain->streams.size(), limits::repo_streams_max + 1);
  apply(alice, alice.erase());
  EXPECT_EQ(alice.chain->streams.size(), 2u);
}

TEST_F(CommitterGuardsTest, AStoreHasUpToItsLimitOfCollections) {
  store.names_bytes_max = limits::collections_max * 1'024;
  store.reopen();
  write_batch unwritten;
  while (store.names->size() + 1 < limits::collections_max)
    store.names->keep("app.n" + std::to_string(store.names->size()), unwritten);
  apply(alice, alice.commit({{"app.last/1", "r"}}));
  const auto receipt = only_receipt(bob.commit({{"app.more/1", "r"}}));
  EXPECT_EQ(receipt.outcome, update_outcome::refused);
  EXPECT_EQ(only_receipt(bob.commit({{"app.last/1", "r"}})).outcome, is_done);
}

TEST_F(CommitterGuardsTest, RefusesWhatCanNeverBeWritten) {
  const auto good = alice.commit({{"app.a.x/1", "one"}});
  const auto refused = [&](const std::function<void(repo_update&)>& spoil) {
    auto update = good;
    spoil(update);
    const auto receipt = only_receipt(update);
    EXPECT_FALSE(receipt.outcome == update_outcome::refused
                 && receipt.reason.empty());
    return receipt.outcome == update_outcome::refused;
  };
  const auto op = [](repo_update& x) -> new_operation& {
    return x.transactions[0].ops[0];
  };
  EXPECT_TRUE(refused([&](auto& x) {
    x.transactions.emplace_back();
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).scope = "$other";
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).scope = "$commit";
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).scope.clear();
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).rkey.clear();
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).id = {};
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).action = {};
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).rkey.assign(limits::record_key_bytes_max + 1, 'k');
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).scope.assign(limits::nsid_bytes_max + 1, 'n');
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).content = shared_bytes{bytes(limits::car_section_bytes_max + 1)};
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    x.erase = true;
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    x.forget = true;
  }));
  EXPECT_EQ(store.writer->last_id(), 0u);
  EXPECT_EQ(store.names->size(), 0u);
  EXPECT_FALSE(refused([&](auto& x) {
    op(x).rkey.assign(limits::record_key_bytes_max, 'k');
    op(x).scope.assign(limits::nsid_bytes_max, 'n');
  }));
}

// -- repo rows ----------------------------------------------------------------

TEST_F(CommitterGuardsTest, TheStatusIndexFollowsTheRow) {
  const auto indexed = [&](repo_status status, uint64_t due) {
    return rows_in(
      {encode_key(repo_by_status_key{status, due, alice.repo}),
       key_after(encode_key(repo_by_status_key{status, due, alice.repo}))});
  };
  apply(alice, alice.appear(repo_status::pending));
  EXPECT_EQ(indexed(repo_status::pending, 0), 1u);
  alice.row.next_retry = 500;
  apply(alice, alice.appear(repo_status::error));
  EXPECT_EQ(indexed(repo_status::error, 500), 1u);
  alice.row.next_retry = 900;
  store.reopen();
  apply(alice, alice.appear(repo_status::error));
  EXPECT_EQ(indexed(repo_status::error, 900), 1u);
  alice.row.account = account_status::deactivated;
  apply(alice, alice.appear(repo_status::error));
  EXPECT_EQ(indexed(repo_status::error, never_due), 1u) << "nobody fetches it";
  store.reopen();
  alice.row.account = account_status::active;
  apply(alice, alice.appear(repo_status::error));
  EXPECT_EQ(indexed(repo_status::error, 900), 1u);
  EXPECT_EQ(rows_in(range_of<repo_by_status_key>()), 1u);
  apply(alice, alice.forget());
  EXPECT_EQ(rows_in(range_of<repo_by_status_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<repo_key>()), 0u);
}

TEST_F(CommitterGuardsTest, WaitingCommitsArePutAndCleared) {
  apply(alice, alice.appear(repo_status::syncing));
  auto update = alice.appear(repo_status::syncing);
  update.base = alice.chain;
  atproto::stamped_frame frame;
  frame.bytes = shared_bytes{bytes{1}};
  update.buffer_put = {{1, frame}, {2, frame}};
  apply(alice, update);
  EXPECT_EQ(rows_in(range_of<sync_buffer_key>(alice.repo)), 2u);
  update.buffer_put = {{3, frame}};
  update.buffer_clear = true;
  apply(alice, update);
  EXPECT_EQ(rows_in(range_of<sync_buffer_key>(alice.repo)), 1u);
  auto drop = update;
  drop.buffer_put.clear();
  journal_batch group;
  group.updates = {update, drop};
  store.commit(std::move(group));
  EXPECT_EQ(rows_in(range_of<sync_buffer_key>(alice.repo)), 0u);
}

// -- time ---------------------------------------------------------------------

TEST_F(CommitterGuardsTest, WriteTimesNeverGoBack) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  store.time = manual_clock{wall_time{1'000'000}};
  apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  store.reopen();
  apply(alice, alice.commit({{"app.a.x/3", "three"}}));
  const log_reader reader{*store.db, *store.names, 0};
  const auto entries = reader.read(0, 100);
  ASSERT_TRUE(entries);
  for (const auto& entry : *entries)
    EXPECT_EQ(entry->written_us, entries->front()->written_us);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterGuardsTest, TheTimeIndexHasOneRowAMinute) {
  apply(alice, alice.appear());
  for (size_t i = 0; i < 6; ++i) {
    apply(alice, alice.commit({{numbered("app.a.x/", i), "r"}}));
    store.time.advance(std::chrono::seconds{20});
    store.reopen();
  }
  const auto rows = rows_in(range_of<time_index_key>());
  EXPECT_GE(rows, 2u);
  EXPECT_LE(rows, 3u);
  EXPECT_EQ(store.findings(), "");
}

} // namespace
} // namespace weir::storage
