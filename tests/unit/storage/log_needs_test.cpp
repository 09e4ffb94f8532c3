#include "storage/log/log_blocks.hpp"
#include "tests/unit/storage/trimmed_log.hpp"

#include <gmock/gmock.h>

// What consumers need of the log is not trimmed: docs/storage-format.md 5.2.
namespace weir::storage {
namespace {

using testing::ElementsAre;

class LogNeedsTest : public tests::TrimmedLog {};

TEST_F(LogNeedsTest, WhatTheConsumerNeedsStays) {
  apply(ann, ann.appear());
  for (int i = 0; i < 4; ++i)
    commit(ann, {{"app.a.x/1", "version " + std::to_string(i)}});
  const auto all = firsts();
  EXPECT_EQ(trim(0).blocks, 0u);
  EXPECT_EQ(trim(all[1] - 2).blocks, 1u) << "its commit is no event";
  EXPECT_EQ(log_whole_from(*store.db).value(), all[1]);
  EXPECT_THAT(firsts(), ElementsAre(all[1], all[2], all[3]));
  EXPECT_EQ(store.findings(), "");
}

// An event of an account that is away waits for years, and keeps the position.
TEST_F(LogNeedsTest, WhatWasAckedBehindTheFirstOpenEventGoes) {
  apply(ann, ann.appear());
  apply(bob, bob.appear());
  for (int i = 0; i < 3; ++i) {
    commit(ann, {{"app.a.x/1", "of ann " + std::to_string(i)}});
    commit(bob, {{"app.a.x/1", "of bob " + std::to_string(i)}});
  }
  const auto all = firsts();
  ack(all[1] - 1);
  journal_batch group;
  consumer_change change;
  change.name = "channel";
  change.acked.push_back({all[2], all[4]}); // bob's first event is open.
  group.consumers.push_back(change);
  store.commit(group);
  const auto needs = log_needs::load(*store.db, 0, true).value();
  EXPECT_FALSE(needs.needs(all[1] - 1).value());
  EXPECT_TRUE(needs.needs(all[1]).value());
  EXPECT_FALSE(needs.needs(all[2]).value());
  EXPECT_FALSE(needs.needs(all[4]).value());
  EXPECT_TRUE(needs.needs(all[4] + 1).value());
  erase_replaced(store.writer->last_id() + 1, true);
  EXPECT_EQ(store.writer->trim(all, true).value().blocks, 3u);
  EXPECT_THAT(firsts(), ElementsAre(all[1], all[4], all[5]));
  EXPECT_EQ(store.findings(), "");
}

// It says in which state the account was when the open event was written.
TEST_F(LogNeedsTest, AFactBehindTheFirstOpenEventStays) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/1", "one"}});
  for (int i = 0; i < 3; ++i) {
    auto fact = ann.appear();
    auto& tx = fact.transactions.emplace_back();
    tx.time_us = store.time.wall_now().micros;
    tx.ops.push_back(ann.fact(account_scope));
    apply(ann, fact);
  }
  const auto all = firsts();
  const auto open = log_needs::load(*store.db, 0, true).value();
  EXPECT_TRUE(open.needs(all[1]).value()) << "nothing was acked yet";
  ack(all[1] - 1);
  journal_batch group;
  consumer_change change;
  change.name = "channel";
  change.acked.push_back({all[2], all[3]});
  group.consumers.push_back(change);
  store.commit(group);
  erase_replaced(store.writer->last_id() + 1, true);
  EXPECT_EQ(store.writer->trim({all[2]}, true).value().blocks, 0u);
  ack(all[3]);
  EXPECT_EQ(store.writer->trim({all[2]}, true).value().blocks, 1u);
}

// It may be ordered again: a deletion is current while the record is absent.
TEST_F(LogNeedsTest, ADeadLetterStays) {
  apply(ann, ann.appear());
  commit(ann, {{"app.a.x/1", "body"}});
  commit(ann, {{"app.a.x/1", ""}});
  commit(ann, {{"app.a.x/2", "more"}});
  const auto all = firsts();
  journal_batch group;
  consumer_change letter;
  letter.name = "channel";
  letter.row = consumer_row{{all[2]}, store.db->log_identity(), false, 0, 1};
  letter.dead_letters.emplace_back(all[1], dead_letter_row{3, "why", 1});
  group.consumers.push_back(letter);
  store.commit(group);
  EXPECT_EQ(trim().blocks, 1u) << "what it deleted";
  EXPECT_THAT(firsts(), ElementsAre(all[1], all[2]));
  EXPECT_EQ(store.findings(), "");
  letter.dead_letters.clear();
  letter.dead_letters_gone = {all[1]};
  letter.row->dead_letters = 0;
  group.consumers = {letter};
  store.commit(group);
  EXPECT_EQ(trim().blocks, 1u);
}

} // namespace
} // namespace weir::storage
