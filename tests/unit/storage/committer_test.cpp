#include "tests/unit/storage/journal_fixture.hpp"

#include "storage/content_reader.hpp"
#include "storage/log_reader.hpp"
#include "storage/row_access.hpp"

#include <gmock/gmock.h>

#include <deque>

// The writer: architecture.md 3 (5), 4; requirements.md OPLOG-05, OPLOG-22,
// OPLOG-24, OPLOG-30, OPLOG-33, OPLOG-34, 2b.11, 2b.13.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

constexpr auto done = update_outcome::done;

class CommitterTest : public testing::Test {
protected:
  /// Commits an update of `who` and lets it take over the answer.
  update_receipt apply(test_account& who, repo_update update) {
    auto receipt = store.commit(std::move(update));
    who.accept(receipt);
    return receipt;
  }

  update_receipt only_receipt(const repo_update& update) {
    journal_batch group;
    group.updates.push_back(update);
    auto out = store.writer->commit(group);
    EXPECT_TRUE(out);
    return out ? out->receipts.at(0) : update_receipt{};
  }

  std::optional<record_head> head(const test_account& who,
                                  const std::string& path) {
    const auto parts = atproto::split_path(path);
    const auto id = store.names->id_of(parts.collection);
    if (!id)
      return std::nullopt;
    auto row = load_row<record_head>(
      *store.db, record_head_key{0, who.repo, *id, {std::string{parts.rkey}}});
    EXPECT_TRUE(row);
    return *row;
  }

  size_t rows_in(const key_range& range) {
    size_t out = 0;
    for (auto rows = store.db->scan(range); rows.valid(); rows.next())
      ++out;
    return out;
  }

  test_store store;
  test_account alice{'a'};
  test_account bob{'b'};
};

// -- ids and order ------------------------------------------------------------

TEST_F(CommitterTest, IdsBeginWithOneAndFollowTheOrderOfTheGroup) {
  journal_batch group;
  group.updates.push_back(alice.commit({{"app.a.x/1", "one"}}));
  group.updates.push_back(bob.commit({{"app.a.x/1", "two"}}));
  const auto out = store.commit(std::move(group));
  EXPECT_EQ(out.receipts[0].first, 1u);
  EXPECT_EQ(out.receipts[0].last, 2u);
  EXPECT_EQ(out.receipts[1].first, 3u);
  EXPECT_EQ(out.receipts[1].last, 4u);
  EXPECT_EQ(out.last, 4u);
  ASSERT_EQ(out.entries.size(), 2u);
  EXPECT_EQ(out.entries[0]->first, 1u);
  EXPECT_EQ(out.entries[1]->first, 3u);
  EXPECT_EQ(out.entries[1]->repo, bob.repo);
}

TEST_F(CommitterTest, AGroupIsOneBatch) {
  const auto before = store.db->counters();
  journal_batch group;
  for (char c = 'a'; c <= 'z'; ++c)
    group.updates.push_back(test_account{c}.commit({{"app.a.x/1", "one"}}));
  group.upstreams.push_back({1, "wss://relay.test", true, 1, 17, 0, false, "",
                             false});
  store.commit(std::move(group));
  EXPECT_EQ(store.db->counters().batches, before.batches + 1);
}

TEST_F(CommitterTest, AnEmptyGroupWritesNothing) {
  const auto before = store.db->counters();
  const auto out = store.commit(journal_batch{});
  EXPECT_EQ(out.last, 0u);
  EXPECT_EQ(store.db->counters().batches, before.batches);
}

TEST_F(CommitterTest, IdsAndChainsGoOnAfterReopening) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  store.reopen();
  EXPECT_EQ(store.writer->last_id(), 2u);
  const auto receipt = apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  EXPECT_EQ(receipt.first, 3u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterTest, StreamHashesDoNotDependOnWhoElseIsWritten) {
  test_store other;
  test_account twin{'a'};
  const std::vector<std::vector<change>> script{
    {{"app.a.x/1", "one"}, {"app.b.y/1", "two"}},
    {{"app.a.x/1", "three"}},
    {{"app.b.y/1", ""}}};
  for (const auto& changes : script) {
    apply(alice, alice.commit(changes));
    apply(bob, bob.commit({{"app.c.z/1", "noise" + std::to_string(bob.rev)}}));
    other.time.advance(std::chrono::hours{1});
    twin.accept(other.commit(twin.commit(changes)));
  }
  ASSERT_EQ(alice.chain->streams.size(), twin.chain->streams.size());
  for (size_t i = 0; i < alice.chain->streams.size(); ++i)
    EXPECT_EQ(alice.chain->streams[i].hash, twin.chain->streams[i].hash);
}

// -- cost ---------------------------------------------------------------------

// architecture.md 4: at most 6 rows a one-record live commit, no read.
TEST_F(CommitterTest, ALiveCreateCostsSixRowsAndNoRead) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  const auto before = store.db->counters();
  apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  const auto after = store.db->counters();
  EXPECT_EQ(after.rows - before.rows, 6u);
  EXPECT_EQ(after.gets, before.gets);
  EXPECT_EQ(after.scans, before.scans);
}

TEST_F(CommitterTest, ARepoTheWriterDoesNotRememberCostsOneRead) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  store.reopen();
  apply(bob, bob.commit({{"app.a.x/1", "one"}}));
  const auto before = store.db->counters();
  apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  EXPECT_EQ(store.db->counters().gets - before.gets, 1u);
}

TEST_F(CommitterTest, BackfilledRecordsCostAtMostTwoRowsEach) {
  apply(alice, alice.appear(repo_status::syncing));
  std::vector<change> all;
  for (size_t i = 0; i < limits::transaction_ops_max; ++i)
    all.push_back({numbered("app.a.x/", i), "record " + std::to_string(i)});
  const auto update = alice.chunk(all);
  const auto before = store.db->counters();
  apply(alice, update);
  const auto after = store.db->counters();
  EXPECT_LE(after.rows - before.rows, 2 * limits::transaction_ops_max);
  // Exactly: a head each, log, content, stream, chain, member, two names, and
  // the first minute of the time index.
  EXPECT_EQ(after.rows - before.rows, limits::transaction_ops_max + 8);
  EXPECT_EQ(after.gets - before.gets, 0u);
}

TEST_F(CommitterTest, UpdatesAndDeletesReadTheirPreviousHead) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}, {"app.a.x/2", "two"}}));
  auto before = store.db->counters();
  apply(alice, alice.commit({{"app.a.x/1", "three"}, {"app.a.x/2", ""}}));
  EXPECT_EQ(store.db->counters().gets - before.gets, 2u);
  EXPECT_EQ(head(alice, "app.a.x/1")->op, 4u);
  EXPECT_FALSE(head(alice, "app.a.x/2"));
  EXPECT_EQ(alice.chain->record_count, 1u);
}

// -- content ------------------------------------------------------------------

TEST_F(CommitterTest, ContentIsFoundByTheIdOfItsOperation) {
  const auto receipt
    = apply(alice, alice.commit({{"app.a.x/1", "one"},
                                 {"app.a.x/2", "two", true},
                                 {"app.a.x/3", "three"}}));
  content_reader reader{*store.db, 0};
  const std::vector<uint64_t> numbers{receipt.first + 2, receipt.first, 0,
                                      receipt.first + 1};
  const auto bodies = reader.read(numbers);
  ASSERT_TRUE(bodies);
  EXPECT_EQ(as_text(bodies->at(0).view()), "three");
  EXPECT_EQ(as_text(bodies->at(1).view()), "one");
  EXPECT_TRUE(bodies->at(2).empty());
  EXPECT_TRUE(bodies->at(3).empty()) << "an undecodable block is not stored";
  EXPECT_EQ(head(alice, "app.a.x/2")->content, 0u);
}

TEST_F(CommitterTest, LargeBodiesAreSpreadOverContentBlocks) {
  const std::string half(limits::content_block_bytes_max / 2, 'h');
  const std::string whole(limits::content_block_bytes_max + 1, 'w');
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", half + "1"},
                             {"app.a.x/2", half + "2"},
                             {"app.a.x/3", whole},
                             {"app.a.x/4", "small"}}));
  EXPECT_EQ(rows_in(range_of<content_block_key>()), 4u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterTest, ContentBlocksFillUpToTheirLimit) {
  const std::string half(limits::content_block_bytes_max / 2, 'h');
  apply(alice, alice.appear(repo_status::syncing));
  apply(alice, alice.chunk({{"app.a.x/1", half}, {"app.a.x/2", half}}));
  EXPECT_EQ(rows_in(range_of<content_block_key>()), 1u);
  apply(alice, alice.chunk({{"app.a.x/3", half}, {"app.a.x/4", half + "1"}}));
  EXPECT_EQ(rows_in(range_of<content_block_key>()), 3u);
}

TEST_F(CommitterTest, OnlyBodiesAboveTheLimitHaveReferences) {
  const std::string at(limits::inline_refs_min, 'x');
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", at}, {"app.a.x/2", at + "1"}}));
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 1u);
  EXPECT_FALSE(head(alice, "app.a.x/1")->referenced);
  EXPECT_TRUE(head(alice, "app.a.x/2")->referenced);
  apply(alice, alice.commit({{"app.a.x/3", at + "1"}}));
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 2u);
  apply(alice, alice.commit({{"app.a.x/2", "small"}, {"app.a.x/3", ""}}));
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 0u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterTest, WithLimitZeroEveryRecordIsReferenced) {
  test_store all{committer_options{0, 0}};
  alice.accept(all.commit(alice.appear()));
  alice.accept(all.commit(alice.commit({{"app.a.x/1", "1"}})));
  size_t references = 0;
  for (auto rows = all.db->scan(range_of<content_reference_key>());
       rows.valid(); rows.next())
    ++references;
  EXPECT_EQ(references, 1u);
  EXPECT_EQ(all.findings(), "");
}

// -- several commits of one repo in one update --------------------------------

TEST_F(CommitterTest, CoalescedCommitsSeeEachOther) {
  const std::string large(limits::inline_refs_min + 1, 'x');
  apply(alice, alice.appear());
  const auto receipt = apply(
    alice, alice.commits({{{"app.a.x/1", large}, {"app.a.x/2", "two"}},
                          {{"app.a.x/1", large + "1"}, {"app.a.x/2", ""}},
                          {{"app.a.x/2", large}, {"app.a.x/1", ""}}}));
  EXPECT_EQ(receipt.last - receipt.first + 1, 9u);
  EXPECT_EQ(receipt.chain->record_count, 1u);
  EXPECT_EQ(receipt.chain->commit_revision(), 3u);
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 1u);
  EXPECT_EQ(rows_in(range_of<chain_key>()), 1u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterTest, DeletingWhatIsAbsentIsLoggedAndChangesNothing) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  apply(alice, alice.commit({{"app.a.x/2", ""}}));
  EXPECT_EQ(alice.chain->record_count, 1u);
  EXPECT_EQ(alice.chain->find("app.a.x")->next_index, 2u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CommitterTest, AnUpdateOfWhatIsAbsentCountsAsANewRecord) {
  auto update = alice.commit({{"app.a.x/1", "one"}});
  update.transactions[0].ops[0].action = atproto::op_action::update;
  apply(alice, alice.appear());
  update.base = alice.chain;
  apply(alice, update);
  EXPECT_EQ(alice.chain->record_count, 1u);
  EXPECT_EQ(store.findings(), "");
}

// -- guards -------------------------------------------------------------------

TEST_F(CommitterTest, AnUpdateOnAnOldRevisionIsAMismatchAndWritesNothing) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  auto late = alice.commit({{"app.a.x/2", "two"}});
  apply(alice, late);
  const auto before = store.db->counters();
  const auto receipt = only_receipt(late);
  EXPECT_EQ(receipt.outcome, update_outcome::mismatch);
  EXPECT_THAT(receipt.reason, testing::HasSubstr("revision 1"));
  EXPECT_EQ(store.db->counters().batches, before.batches);
  EXPECT_EQ(store.writer->last_id(), 4u);
}

// The revision counts `$commit` operations only; facts of the account move the
// streams, too.
TEST_F(CommitterTest, AnUpdateOnAnOldStreamIsAMismatchAtTheSameRevision) {
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

TEST_F(CommitterTest, ARejectedUpdateLeavesTheOthersOfItsGroupAlone) {
  auto stale = alice.commit({{"app.a.x/1", "one"}});
  stale.commit_revision = 5;
  journal_batch group;
  group.updates.push_back(stale);
  group.updates.push_back(bob.commit({{"app.a.x/1", "two"}}));
  const auto out = store.writer->commit(group);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->receipts[0].outcome, update_outcome::mismatch);
  EXPECT_EQ(out->receipts[0].first, 0u);
  EXPECT_EQ(out->receipts[1].outcome, done);
  EXPECT_EQ(out->receipts[1].first, 1u);
  EXPECT_EQ(store.names->size(), 1u);
}

TEST_F(CommitterTest, AFenceDropsUpdatesOfOlderActorsOnly) {
  const auto next = store.writer->fence(alice.repo);
  auto update = alice.commit({{"app.a.x/1", "one"}});
  update.actor_incarnation = next - 1;
  EXPECT_EQ(only_receipt(update).outcome, update_outcome::fenced);
  EXPECT_EQ(store.writer->last_id(), 0u);
  update.actor_incarnation = next;
  EXPECT_EQ(only_receipt(update).outcome, done);
  EXPECT_GT(store.writer->fence(alice.repo), next);
  EXPECT_EQ(only_receipt(bob.commit({{"app.a.x/1", "x"}})).outcome, done);
}

TEST_F(CommitterTest, FencesAreBoundedAndTheOldestGoesFirst) {
  store.writer->fence(alice.repo);
  for (size_t i = 1; i < limits::fences_max; ++i)
    store.writer->fence(atproto::did::trusted(numbered("did:web:h", i)));
  const auto update = alice.commit({{"app.a.x/1", "one"}});
  EXPECT_EQ(only_receipt(update).outcome, update_outcome::fenced);
  store.writer->fence(atproto::did::trusted("did:web:last"));
  EXPECT_EQ(only_receipt(update).outcome, done);
}

TEST_F(CommitterTest, AChunkOfAnotherResyncIsStale) {
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

TEST_F(CommitterTest, AChunkOfARepoThatIsNotKnownIsStale) {
  alice.row.resync_id = 77;
  const auto chunk = alice.chunk({{"app.a.x/1", "one"}});
  EXPECT_EQ(only_receipt(chunk).outcome, update_outcome::stale);
}

TEST_F(CommitterTest, AResyncGuardIsReadFromTheStoreAfterReopening) {
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

TEST_F(CommitterTest, ATransactionHoldsUpToItsLimit) {
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

TEST_F(CommitterTest, ARepoHasUpToItsLimitOfStreams) {
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
}

TEST_F(CommitterTest, RefusesWhatCanNeverBeWritten) {
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
  EXPECT_TRUE(refused([&](auto& x) { x.transactions.emplace_back(); }));
  EXPECT_TRUE(refused([&](auto& x) { op(x).scope = "$other"; }));
  EXPECT_TRUE(refused([&](auto& x) { op(x).scope = "$commit"; }));
  EXPECT_TRUE(refused([&](auto& x) { op(x).scope.clear(); }));
  EXPECT_TRUE(refused([&](auto& x) { op(x).rkey.clear(); }));
  EXPECT_TRUE(refused([&](auto& x) { op(x).id = {}; }));
  EXPECT_TRUE(refused([&](auto& x) { op(x).action = {}; }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).rkey.assign(limits::record_key_bytes_max + 1, 'k');
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).scope.assign(limits::nsid_bytes_max + 1, 'n');
  }));
  EXPECT_TRUE(refused([&](auto& x) {
    op(x).content = shared_bytes{bytes(limits::car_section_bytes_max + 1)};
  }));
  EXPECT_TRUE(refused([&](auto& x) { x.erase = true; }));
  EXPECT_TRUE(refused([&](auto& x) { x.forget = true; }));
  EXPECT_EQ(store.writer->last_id(), 0u);
  EXPECT_EQ(store.names->size(), 0u);
  EXPECT_FALSE(refused([&](auto& x) {
    op(x).rkey.assign(limits::record_key_bytes_max, 'k');
    op(x).scope.assign(limits::nsid_bytes_max, 'n');
  }));
}

// -- repo rows ----------------------------------------------------------------

TEST_F(CommitterTest, TheStatusIndexFollowsTheRow) {
  const auto indexed = [&](repo_status status, uint64_t due) {
    return rows_in({encode_key(repo_by_status_key{status, due, alice.repo}),
                    key_after(encode_key(
                      repo_by_status_key{status, due, alice.repo}))});
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
  EXPECT_EQ(rows_in(range_of<repo_by_status_key>()), 1u);
  apply(alice, alice.forget());
  EXPECT_EQ(rows_in(range_of<repo_by_status_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<repo_key>()), 0u);
}

TEST_F(CommitterTest, WaitingCommitsArePutAndCleared) {
  apply(alice, alice.appear(repo_status::syncing));
  auto update = alice.appear(repo_status::syncing);
  update.base = alice.chain;
  update.buffer_put = {{atproto::tid{1}, shared_bytes{bytes{1}}},
                       {atproto::tid{2}, shared_bytes{bytes{2}}}};
  apply(alice, update);
  EXPECT_EQ(rows_in(range_of<sync_buffer_key>(alice.repo)), 2u);
  update.buffer_put = {{atproto::tid{3}, shared_bytes{bytes{3}}}};
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

TEST_F(CommitterTest, WriteTimesNeverGoBack) {
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

TEST_F(CommitterTest, TheTimeIndexHasOneRowAMinute) {
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

// -- failure ------------------------------------------------------------------

TEST_F(CommitterTest, RelaxedCommitsBecomeDurableWithSync) {
  journal_batch group;
  group.updates.push_back(alice.commit({{"app.a.x/1", "one"}}));
  ASSERT_TRUE(store.writer->commit(group, sync_mode::relaxed));
  ASSERT_TRUE(store.writer->sync());
  const auto dice = seeded_random(3);
  store.disk.cut_power(*dice);
  store.close();
  store.disk.power_on();
  store.reopen();
  EXPECT_EQ(store.writer->last_id(), 2u);
}

} // namespace
} // namespace weir::storage
