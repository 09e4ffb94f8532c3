#include "storage/log/limits.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/operation_reader.hpp"
#include "storage/log/stream_reader.hpp"
#include "tests/unit/storage/trimmed_log.hpp"

#include <gmock/gmock.h>

// Trimming of the log: docs/storage-format.md 5.2, ADR 35; OPLOG-01, OPLOG-22.
namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

class LogTrimTest : public tests::TrimmedLog {};

} // namespace

TEST_F(LogTrimTest, OfARecordOnlyTheCurrentVersionStays) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/1", "first"}});
  commit(ann, {{"app.a.x/1", "second"}});
  commit(ann, {{"app.a.x/2", "other"}});
  commit(ann, {{"app.a.x/2", ""}});
  commit(ann, {{"app.a.x/3", "last"}});
  const auto before = firsts();
  ASSERT_EQ(before.size(), 5u);
  const auto removed = trim();
  // The second version and the last block stay.
  EXPECT_THAT(firsts(), ElementsAre(before[1], before[4]));
  EXPECT_EQ(removed.blocks, 3u);
  EXPECT_EQ(removed.operations, 6u) << "each with its commit";
  EXPECT_EQ(log_whole_from(*store.db).value(), before[4]);
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(copy_of(ann, entries()), ann.records);
  // Nothing is left of what was removed.
  EXPECT_EQ(rows_in(range_of<log_block_key>(uint16_t{0})), 2u);
  EXPECT_EQ(rows_in(range_of<content_block_key>(uint16_t{0})), 2u);
  EXPECT_EQ(rows_in(range_of<stream_block_key>(ann.repo)), 4u);
  EXPECT_EQ(trim().blocks, 0u) << "nothing is left to do";
}

// A reader that was never sent the record must not get a version of it whose
// deletion is gone.
TEST_F(LogTrimTest, ADeletedRecordDoesNotComeBackFromABlockThatStays) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/gone", "gone"}, {"app.a.x/stays", "stays"}});
  commit(ann, {{"app.a.x/gone", ""}});
  commit(ann, {{"app.a.x/new", "new"}});
  EXPECT_EQ(trim().blocks, 1u);
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(copy_of(ann, entries()), ann.records);
  const log_reader reader{*store.db, *store.names, 0};
  const auto own
    = reader.read_repo(ann.repo, *ann.chain, 0, store.writer->last_id())
        .value();
  EXPECT_EQ(copy_of(ann, own), ann.records);
}

// What deleted it is kept for a consumer that began before it was trimmed.
TEST_F(LogTrimTest, WhoBeganBeforeGetsEveryVersionThatIsLeft) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/gone", "gone"}, {"app.a.x/stays", "stays"}});
  commit(ann, {{"app.a.x/gone", ""}});
  commit(ann, {{"app.a.x/new", "new"}});
  const auto all = firsts();
  consumer_change acked_later;
  acked_later.name = "channel";
  acked_later.row = consumer_row{{0}, store.db->log_identity(), false, 0, 0};
  acked_later.acked.push_back({2, all[2]});
  journal_batch group;
  group.consumers.push_back(acked_later);
  store.commit(group);
  erase_replaced(all[2], true);
  ASSERT_EQ(store.writer->trim(all, true).value().blocks, 1u);
  const auto whole_from = log_whole_from(*store.db).value();
  EXPECT_EQ(whole_from, all[2]);
  const log_reader reader{*store.db, *store.names, 0};
  const auto outdated = [&](op_id current_before) {
    log_page page;
    page.current_before = current_before;
    return reader.read(0, store.writer->last_id(), page)
      .value()
      .at(0)
      ->ops.at(0)
      .outdated;
  };
  EXPECT_FALSE(outdated(1));
  EXPECT_TRUE(outdated(2));
  EXPECT_TRUE(outdated(whole_from));
}

// The ids go on behind it.
TEST_F(LogTrimTest, TheLastBlockStays) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/1", "body"}});
  commit(ann, {{"app.a.x/1", ""}});
  const auto last = store.writer->last_id();
  trim();
  store.reopen();
  EXPECT_EQ(store.writer->last_id(), last);
  EXPECT_EQ(entries().back()->last(), last);
  commit(ann, {{"app.a.x/2", "more"}});
  trim();
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(copy_of(ann, entries()), ann.records);
}

TEST_F(LogTrimTest, WhatIsBeingErasedStaysUntilThatIsDone) {
  for (auto* who : {&ann, &bob}) {
    apply(*who, who->appear());
    commit(*who, {{"app.a.x/1", "body"}});
    commit(*who, {{"app.a.x/2", "body"}});
  }
  apply(ann, ann.erase());
  commit(bob, {{"app.a.x/3", "body"}});
  EXPECT_EQ(trim().blocks, 0u);
  while (store.writer->erase_step(ann.repo).value()) {
    EXPECT_EQ(trim().blocks, 0u);
    EXPECT_EQ(store.findings(), "");
  }
  ASSERT_TRUE(
    store.writer->end_erasure(ann.repo, ann.chain->erased_through));
  EXPECT_EQ(trim().blocks, 1u) << "its last commit and fact stay";
  EXPECT_EQ(store.findings(), "");
}

// OPLOG-12, 25, 31: what is read of a stream with holes
TEST_F(LogTrimTest, AStreamKeepsItsIndicesAndHashes) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/1", "first"}});
  commit(ann, {{"app.a.x/1", "second"}});
  commit(ann, {{"app.a.x/2", "other"}});
  commit(ann, {{"app.a.x/2", ""}});
  commit(ann, {{"app.b.y/1", "last"}});
  const stream_reader reader{*store.db, *store.names, 0};
  const stream_name stream{ann.repo, "app.a.x"};
  const auto before = reader.get(stream, 1).value();
  ASSERT_TRUE(before && before->hashes && before->hashes->previous);
  trim();
  EXPECT_FALSE(reader.get(stream, 0).value());
  const auto after = reader.get(stream, 1).value();
  ASSERT_TRUE(after && after->hashes);
  EXPECT_EQ(after->hashes->operation, before->hashes->operation);
  EXPECT_EQ(after->hashes->stream, before->hashes->stream);
  EXPECT_FALSE(after->hashes->previous) << "it is gone";
  EXPECT_FALSE(reader.get(stream, 3).value());
  EXPECT_EQ(reader.next_index(stream).value(), 4u) << "none is used twice";
  const auto page = reader.get_since(stream, std::nullopt).value();
  ASSERT_EQ(page.found.size(), 1u);
  EXPECT_EQ(page.found[0].index, 1u);
  const operation_reader all{*store.db, *store.names, 0};
  const auto log = all.get_since_id(0, store.writer->last_id(), {}).value();
  EXPECT_EQ(log.found.size(), 4u) << "two records with their commits";
}

// first_written_since: the time index knows minutes
TEST_F(LogTrimTest, WhatIsOldIsKnownByTheMinute) {
  EXPECT_EQ(first_written_since(*store.db, 0, 0).value(), 1u) << "empty";
  apply(ann, ann.appear());
  const auto began = store.time.wall_now().micros;
  commit(ann, {{"app.a.x/1", "body"}});
  store.time.advance(5min);
  commit(ann, {{"app.a.x/1", "body 2"}});
  commit(ann, {{"app.a.x/1", "body 3"}});
  store.time.advance(5min);
  commit(ann, {{"app.a.x/1", "body 4"}});
  const auto all = firsts();
  const auto since = [&](std::chrono::microseconds x) {
    return first_written_since(*store.db, 0, began + x.count()).value();
  };
  EXPECT_EQ(since(-1h), all[0]);
  EXPECT_EQ(since(2min), all[1]) << "the next in which something was written";
  EXPECT_EQ(since(5min), all[1]);
  EXPECT_EQ(since(7min), all[3]);
  EXPECT_EQ(since(1h), all[3]) << "the last block stays";
}

// limits::trim_minutes_max
TEST_F(LogTrimTest, TheTimeIndexForgetsWhatIsGone) {
  apply(ann, ann.appear());
  for (size_t i = 0; i < limits::trim_minutes_max + 2; ++i) {
    store.time.advance(1min);
    commit(ann, {{"app.a.x/1", "version " + std::to_string(i)}});
  }
  const auto minutes = [this] {
    return rows_in(range_of<time_index_key>(uint16_t{0}));
  };
  const auto before = minutes();
  EXPECT_EQ(before, limits::trim_minutes_max + 2);
  trim();
  EXPECT_EQ(minutes(), before - limits::trim_minutes_max);
  EXPECT_EQ(store.findings(), "");
  commit(ann, {{"app.a.x/1", "one more"}});
  trim();
  EXPECT_EQ(store.findings(), "");
  EXPECT_LE(minutes(), 2u);
}

TEST_F(LogTrimTest, AHoleThatTrimmingDidNotMakeIsAnError) {
  apply(ann, ann.appear());
  for (int i = 0; i < 5; ++i)
    commit(ann, {{"app.a.x/1", "version " + std::to_string(i)}});
  const auto all = firsts();
  trim(all[2] - 1);
  store.erase_raw(encode_key(log_block_key{0, all[3]}));
  const log_reader reader{*store.db, *store.names, 0};
  const auto read = reader.read(0, store.writer->last_id());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ec::storage_failure);
  EXPECT_THAT(store.findings(), testing::HasSubstr(
                                  "operations from " + std::to_string(all[3])
                                  + " on are missing"));
}

// A single damaged row behind the trimmed part is found as before.
TEST_F(LogTrimTest, DamageBehindWhatWasTrimmedIsFound) {
  apply(ann, ann.appear());
  for (int i = 0; i < 6; ++i)
    commit(ann, {{"app.a.x/" + std::to_string(i % 2), std::to_string(i)}});
  const auto all = firsts();
  trim(all[3] - 1);
  ASSERT_EQ(store.findings(), "");
  const auto whole_from = log_whole_from(*store.db).value();
  ASSERT_EQ(whole_from, all[3]);
  std::vector<std::string> keys;
  for (auto rows = store.db->scan({}); rows.valid(); rows.next()) {
    const std::string key{rows.key()};
    const auto block = decode_key<log_block_key>(key);
    const auto content = decode_key<content_block_key>(key);
    if ((block && block->first >= whole_from)
        || (content && content->first >= whole_from)
        || decode_key<stream_block_key>(key)
        || decode_key<record_head_key>(key) || decode_key<chain_key>(key))
      keys.push_back(key);
  }
  EXPECT_GE(keys.size(), 15u);
  for (const auto& key : keys) {
    const auto value = store.get_raw(key);
    store.erase_raw(key);
    EXPECT_NE(store.findings(), "") << testing::PrintToString(key);
    store.put_raw(key, value);
  }
  EXPECT_EQ(store.findings(), "");
}

// prop_replay_equals_state, and that laps in pieces find the same
TEST_F(LogTrimTest, WhateverHappensAReaderFromTheBeginningGetsTheState) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    test_store fresh;
    at = &fresh;
    std::vector<test_account> accounts{test_account{'a'}, test_account{'b'},
                                       test_account{'c'}};
    const auto dice = seeded_random(seed);
    for (auto& who : accounts)
      apply(who, who.appear());
    for (size_t n = 0; n < 120; ++n) {
      auto& who = accounts[dice->below(accounts.size())];
      std::vector<change> changes;
      for (size_t k = dice->below(4); k > 0; --k) {
        const auto path = numbered("app.c", dice->below(3)) + '/'
                          + std::to_string(dice->below(6));
        const auto again = std::ranges::find(changes, path, &change::path);
        if (again == changes.end())
          {
          const auto deletes
            = dice->below(3) == 0 && who.records.contains(path);
          changes.push_back({path, deletes ? "" : std::to_string(n)});
        }
      }
      const auto event = dice->below(40);
      if (event == 0)
        apply(who, who.erase());
      else
        apply(who, who.commit(changes));
      fresh.time.advance(std::chrono::seconds{dice->below(90)});
      if (event == 1)
        while (fresh.writer->erase_step(who.repo, 3).value()) {
        }
      if (event == 2 && who.chain && who.chain->erased_through != 0) {
        ASSERT_TRUE(
          fresh.writer->end_erasure(who.repo, who.chain->erased_through));
      }
      if (dice->below(12) != 0)
        continue;
      const auto acked = dice->below(fresh.writer->last_id() + 1);
      if (dice->below(2) == 0) {
        ack(acked);
        const auto until = 1 + dice->below(fresh.writer->last_id() + 1);
        erase_replaced(until, true, 1 + dice->below(9));
      }
      trim(acked, 1 + dice->below(9));
      const auto all = entries(0, 1 + dice->below(20));
      for (const auto& x : accounts)
        ASSERT_EQ(copy_of(x, all), x.records) << "seed " << seed;
      ASSERT_EQ(fresh.findings(), "") << "seed " << seed << " step " << n;
    }
    fresh.reopen();
    ASSERT_EQ(fresh.findings(), "") << "seed " << seed;
  }
}

} // namespace weir::storage
