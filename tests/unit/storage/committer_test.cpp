#include "storage/format/limits.hpp"
#include "storage/log/content_reader.hpp"
#include "storage/log/limits.hpp"
#include "tests/unit/storage/committer_fixture.hpp"

// The data that the writer writes, and its cost: storage-format.md 5; OPLOG-05,
// OPLOG-22, OPLOG-24, OPLOG-30.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

class CommitterTest : public tests::committer_fixture {};

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

// protocol-coverage.md 2.1.7
TEST_F(CommitterTest, AGroupIsOneBatch) {
  const auto before = store.in_logs();
  journal_batch group;
  for (char c = 'a'; c <= 'z'; ++c)
    group.updates.push_back(test_account{c}.commit({{"app.a.x/1", "one"}}));
  group.upstreams.push_back(
    {1, "wss://relay.test", true, 1, 17, 0, false});
  store.commit(std::move(group));
  EXPECT_EQ(store.in_logs().batches, before.batches + 1);
}

TEST_F(CommitterTest, AnEmptyGroupWritesNothing) {
  const auto before = store.in_logs();
  const auto out = store.commit(journal_batch{});
  EXPECT_EQ(out.last, 0u);
  EXPECT_EQ(store.in_logs().batches, before.batches);
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

// At most 6 rows for a live commit of one record, and no read.
TEST_F(CommitterTest, ALiveCreateCostsSixRowsAndNoRead) {
  apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  const auto written = store.in_logs();
  const auto before = store.db->counters();
  apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  const auto after = store.db->counters();
  EXPECT_EQ(store.in_logs().rows - written.rows, 6u);
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
  const auto written = store.in_logs();
  const auto before = store.db->counters();
  apply(alice, update);
  const auto after = store.db->counters();
  const auto rows = store.in_logs().rows - written.rows;
  EXPECT_LE(rows, 2 * limits::transaction_ops_max);
  // Exactly: a head for each record, log, content, stream, chain, member, two
  // names, the next id of a name, and the first minute of the time index.
  EXPECT_EQ(rows, limits::transaction_ops_max + 9);
  EXPECT_EQ(after.gets - before.gets, 1u) << "whose share the name is";
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
  const auto receipt = apply(alice, alice.commit({{"app.a.x/1", "one"},
                                                  {"app.a.x/2", "two", true},
                                                  {"app.a.x/3", "three"}}));
  content_reader reader{*store.db, 0};
  const auto body = [&](uint64_t number) {
    return std::string{as_text(reader.read_one(number).value().view())};
  };
  EXPECT_EQ(body(receipt.first + 2), "three");
  EXPECT_EQ(body(receipt.first), "one");
  EXPECT_EQ(body(0), "");
  EXPECT_EQ(body(receipt.first + 1), "")
    << "an undecodable block is not stored";
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
  test_store all{committer_options{{0, 0}}};
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

} // namespace
} // namespace weir::storage
