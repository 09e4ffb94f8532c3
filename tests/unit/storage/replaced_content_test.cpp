#include "storage/log/erasure.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/operation_reader.hpp"
#include "storage/log/record_history.hpp"
#include "tests/unit/storage/content_stubs.hpp"
#include "tests/unit/storage/trimmed_log.hpp"

#include <gmock/gmock.h>

// Contents of versions that were replaced: docs/storage-format.md 5.2;
// CONTENT-03, CONTENT-08.
namespace weir::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::change;
using tests::numbered;

class ReplacedContentTest : public tests::TrimmedLog {
protected:
  void SetUp() override { apply(ann, ann.appear()); }

  op_id end() const { return store.writer->last_id() + 1; }

  stored_operation operation(op_id id, bool with_content = true) {
    const operation_reader log{*store.db, *store.names, 0};
    read_bounds one;
    one.ops_max = 1;
    one.with_content = with_content;
    return log.get_since_id(id - 1, store.writer->last_id(), {}, one)
      .value()
      .found.at(0);
  }

  std::string body_of(op_id id) {
    return std::string{as_text(operation(id).body.view())};
  }

  std::vector<op_id> kept() {
    std::vector<op_id> out;
    for (auto rows = store.db->scan(range_of<kept_content_key>(uint16_t{0}));
         rows.valid(); rows.next())
      out.push_back(decode_key<kept_content_key>(rows.key())->id);
    return out;
  }

  bool is_on_disk(const std::string& text) const {
    return std::ranges::any_of(store.disk.names(), [&](const auto& name) {
      return store.disk.read(name).find(text) != std::string::npos;
    });
  }

  /// As if the first content of a block was erased.
  void erase_by_hand(op_id id) {
    const auto key = encode_key(content_block_key{0, id});
    store.put_raw(key, tests::with_stubs(store.get_raw(key), {0}));
  }
};

TEST_F(ReplacedContentTest, OfAReplacedVersionTheEnvelopeStays) {
  commit(ann, {{"app.a.x/1", "first"}});
  commit(ann, {{"app.a.x/1", "second"}});
  const auto before = operation(1);
  EXPECT_EQ(before.content, content_state::present);
  EXPECT_EQ(erase_replaced(end()), 1u);
  const auto after = operation(1);
  EXPECT_EQ(after.content, content_state::deleted);
  EXPECT_TRUE(after.body.empty());
  EXPECT_EQ(after.cid, before.cid);
  EXPECT_EQ(after.hashes->stream, before.hashes->stream);
  EXPECT_EQ(operation(1, false).content, content_state::deleted);
  EXPECT_EQ(body_of(3), "second");
  EXPECT_EQ(operation(2).content, content_state::present) << "the commit";
  EXPECT_EQ(store.findings(), "");
  store.reopen();
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(erase_replaced(end()), 0u) << "nothing is left to do";
}

TEST_F(ReplacedContentTest, OfADeletedRecordNothingButTheEnvelopeStays) {
  commit(ann, {{"app.a.x/1", "one"}, {"app.a.x/2", "two"}});
  commit(ann, {{"app.a.x/1", ""}});
  EXPECT_EQ(erase_replaced(end()), 1u);
  EXPECT_EQ(operation(1).content, content_state::deleted);
  EXPECT_EQ(body_of(2), "two") << "its neighbour";
  EXPECT_EQ(copy_of(ann, entries()), ann.records);
  EXPECT_EQ(store.findings(), "");
}

// A reader that was never sent it must not get it without its bytes.
TEST_F(ReplacedContentTest, ItIsOutdatedForReadersOfTheLog) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  erase_replaced(end());
  const auto all = entries();
  EXPECT_TRUE(all.at(0)->ops.at(0).outdated);
  EXPECT_FALSE(all.at(0)->erased) << "its account was not";
  EXPECT_FALSE(all.at(1)->ops.at(0).outdated);
  EXPECT_EQ(copy_of(ann, all), ann.records);
}

TEST_F(ReplacedContentTest, WhatWasReplacedLaterStays) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  commit(ann, {{"app.a.x/1", "three"}});
  EXPECT_EQ(erase_replaced(5), 1u) << "operation 5 is not old";
  EXPECT_EQ(body_of(3), "two");
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(erase_replaced(6), 1u);
  EXPECT_EQ(operation(3).content, content_state::deleted);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ReplacedContentTest, WhatAConsumerNeedsIsErasedAfterItsAck) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  EXPECT_EQ(erase_replaced(end(), true), 0u) << "nothing was acked";
  EXPECT_THAT(kept(), ElementsAre(1));
  EXPECT_EQ(body_of(1), "one");
  EXPECT_EQ(store.findings(), "");
  ack(2);
  EXPECT_EQ(erase_replaced(end(), true), 1u);
  EXPECT_THAT(kept(), IsEmpty());
  EXPECT_EQ(operation(1).content, content_state::deleted);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ReplacedContentTest, SoIsADeadLetterWhenItIsGone) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  consumer_change change;
  change.name = "channel";
  change.row = consumer_row{{4}, store.db->log_identity(), false, 0, 1};
  change.dead_letters.emplace_back(1, dead_letter_row{3, "why", 1});
  journal_batch group;
  group.consumers = {change};
  store.commit(group);
  EXPECT_EQ(erase_replaced(end(), true), 0u);
  EXPECT_EQ(store.findings(), "");
  change.dead_letters.clear();
  change.dead_letters_gone = {1};
  change.row->dead_letters = 0;
  group.consumers = {change};
  store.commit(group);
  EXPECT_EQ(erase_replaced(end(), true), 1u);
  EXPECT_THAT(kept(), IsEmpty());
}

// limits::replaced_step_ops_max, each commit has two operations
TEST_F(ReplacedContentTest, AStepHasSomeHundredOperations) {
  constexpr auto commits = limits::replaced_step_ops_max / 2;
  for (size_t i = 0; i < commits + 2; ++i)
    commit(ann, {{"app.a.x/1", std::to_string(i)}});
  const auto step = store.writer->erase_replaced(end(), false).value();
  EXPECT_EQ(step.erased, commits - 1) << "the first one replaced none";
  EXPECT_TRUE(step.more);
  EXPECT_EQ(store.writer->erase_replaced(end(), false).value().erased, 2u);
}

// Steps of any size do the same.
TEST_F(ReplacedContentTest, AStepIsBounded) {
  for (int i = 0; i < 9; ++i)
    commit(ann, {{"app.a.x/1", "version " + std::to_string(i)}});
  const auto step = store.writer->erase_replaced(end(), false, 4).value();
  EXPECT_EQ(step.erased, 1u) << "two commits with two operations each";
  EXPECT_TRUE(step.more);
  EXPECT_EQ(replaced_through(*store.db).value(), 5u);
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(erase_replaced(end(), false, 1), 7u);
  EXPECT_EQ(store.findings(), "");
}

// limits::replaced_step_bytes_max
TEST_F(ReplacedContentTest, SoAreItsBytes) {
  const std::string large(60'000, 'x');
  const auto fits = limits::replaced_step_bytes_max / large.size();
  for (size_t i = 0; i < fits + 8; ++i)
    commit(ann, {{numbered("app.a.x/", i), large}});
  for (size_t i = 0; i < fits + 8; ++i)
    commit(ann, {{numbered("app.a.x/", i), "small"}});
  const auto half = 2 * (fits + 8);
  EXPECT_EQ(store.writer->erase_replaced(half + 1, false, half).value().erased,
            0u);
  const auto step = store.writer->erase_replaced(end(), false, half).value();
  EXPECT_GE(step.erased, fits);
  EXPECT_LE(step.erased, fits + 1);
  EXPECT_EQ(erase_replaced(end()), fits + 8 - step.erased);
}

// limits::replaced_step_ops_max counts kept contents as well.
TEST_F(ReplacedContentTest, KeptContentsAreLookedAtInSteps) {
  for (int i = 0; i < 6; ++i)
    commit(ann, {{"app.a.x/1", "version " + std::to_string(i)}});
  erase_replaced(end(), true);
  EXPECT_EQ(kept().size(), 5u);
  ack(12);
  const auto step = store.writer->erase_replaced(end(), true, 2).value();
  EXPECT_EQ(step.erased, 2u);
  EXPECT_TRUE(step.more);
  EXPECT_EQ(kept().size(), 3u);
  EXPECT_EQ(erase_replaced(end(), true, 2), 3u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ReplacedContentTest, AnOlderVersionIsNotKnownAnyMore) {
  commit(ann, {{"app.a.x/1", "one"}});
  const auto first = ann.rev;
  commit(ann, {{"app.a.x/1", "two"}});
  const auto second = ann.rev;
  commit(ann, {{"app.a.x/1", ""}});
  erase_replaced(4); // What the second commit replaced.
  const record_history history{*store.db, *store.names, 0};
  const auto known = [&](uint64_t rev) {
    return history.at(ann.repo, "app.a.x", "1", atproto::tid{rev}).value().what;
  };
  EXPECT_EQ(known(first), past_record::fate::trimmed);
  EXPECT_EQ(known(second), past_record::fate::present);
  EXPECT_EQ(known(ann.rev), past_record::fate::removed);
}

TEST_F(ReplacedContentTest, OfAnErasedAccountNothingIsLeftToErase) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  apply(ann, ann.erase());
  EXPECT_LE(erase_replaced(end()), 1u);
  EXPECT_EQ(store.findings(), "");
  while (store.writer->erase_step(ann.repo).value()) {
  }
  commit(ann, {{"app.a.x/1", "three"}});
  EXPECT_EQ(erase_replaced(end()), 0u) << "what was erased is not replaced";
  EXPECT_EQ(store.findings(), "");
}

// With the block the name of what it replaced would be gone.
TEST_F(ReplacedContentTest, ABlockIsNotTrimmedBeforeItWasWalked) {
  commit(ann, {{"app.a.x/1", "one"}, {"app.a.x/2", "two"}});
  commit(ann, {{"app.a.x/1", ""}});
  commit(ann, {{"app.a.x/3", "three"}});
  const auto needs = log_needs::load(*store.db, 0, false).value();
  const auto spent = [&] {
    return find_spent(*store.db, *store.names, 0, needs, 1, end(), 99)
      .value()
      .firsts;
  };
  erase_replaced(4); // The deletion, operation 4, is not old.
  EXPECT_THAT(spent(), IsEmpty());
  EXPECT_EQ(store.writer->trim({4}, false).value().blocks, 0u);
  erase_replaced(end());
  EXPECT_THAT(spent(), ElementsAre(4));
  EXPECT_EQ(store.writer->trim({4}, false).value().blocks, 1u);
  EXPECT_EQ(operation(1).content, content_state::deleted);
  EXPECT_EQ(store.findings(), "");
}

// limits::replaced_step_bytes_max: also what one block replaced
TEST_F(ReplacedContentTest, WhatIsTooMuchForAStepIsErasedInTheNext) {
  const std::string large(limits::content_block_bytes_max, 'x');
  const auto fits = limits::replaced_step_bytes_max / large.size();
  std::vector<change> gone;
  for (size_t i = 0; i < fits + 20; ++i) {
    const auto path = numbered("app.a.x/", i);
    commit(ann, {{path, large}});
    gone.push_back({path, ""});
  }
  commit(ann, gone);
  const auto first = end() - gone.size() - 1;
  erase_replaced(first, false);
  const auto step = store.writer->erase_replaced(end(), false).value();
  EXPECT_LE(step.erased, fits + 1);
  EXPECT_TRUE(step.more);
  EXPECT_FALSE(kept().empty());
  EXPECT_EQ(store.findings(), "");
  EXPECT_EQ(erase_replaced(end()), gone.size() - step.erased);
  EXPECT_THAT(kept(), IsEmpty());
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ReplacedContentTest, AVersionWithoutContentMayBeKept) {
  commit(ann, {{"app.a.x/1", "no record", true}});
  commit(ann, {{"app.a.x/1", "two"}});
  erase_replaced(end(), true);
  EXPECT_THAT(kept(), ElementsAre(1));
  EXPECT_EQ(store.findings(), "");
}

// -- the disk -----------------------------------------------------------------

TEST_F(ReplacedContentTest, ItsBytesLeaveTheDisk) {
  const std::string secret = "what nobody may keep";
  commit(ann, {{"app.a.x/1", secret}, {"app.a.x/2", "stays"}});
  commit(ann, {{"app.a.x/1", ""}});
  store.reopen(); // The bytes are in a table now.
  EXPECT_TRUE(is_on_disk(secret));
  erase_replaced(end());
  const auto spans = content_to_purge(*store.db).value();
  EXPECT_THAT(spans, ElementsAre(content_span{1, 3})) << "the whole row";
  EXPECT_TRUE(compact_content(*store.db, 0, spans[0], 1'000'000).value().gone);
  EXPECT_FALSE(is_on_disk(secret));
  ASSERT_TRUE(store.writer->end_purge());
  EXPECT_THAT(content_to_purge(*store.db).value(), IsEmpty());
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ReplacedContentTest, WhatWasTrimmedIsToLeaveTheDiskAsWell) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  commit(ann, {{"app.a.x/2", "other"}});
  ASSERT_EQ(trim().blocks, 1u);
  EXPECT_THAT(content_to_purge(*store.db).value(),
              ElementsAre(content_span{1, 2}));
}

// -- the checker --------------------------------------------------------------

TEST_F(ReplacedContentTest, ContentThatIsCurrentMustBeThere) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  commit(ann, {{"app.a.x/2", "other"}});
  erase_replaced(end());
  erase_by_hand(3);
  EXPECT_THAT(store.findings(),
              HasSubstr("operation 3: its content is missing, and it is "
                        "current"));
}

TEST_F(ReplacedContentTest, ContentIsNotErasedBeforeItsTime) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  erase_by_hand(1);
  EXPECT_THAT(store.findings(),
              HasSubstr("operation 1: its content is missing"));
}

TEST_F(ReplacedContentTest, ContentIsNotLeftBehind) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  erase_replaced(end(), true); // It is kept for a consumer.
  store.erase_raw(encode_key(kept_content_key{0, 1}));
  EXPECT_THAT(store.findings(), HasSubstr("operation 1: it was replaced long "
                                          "ago, and its content is there"));
}

TEST_F(ReplacedContentTest, OnlyOldContentIsKept) {
  commit(ann, {{"app.a.x/1", "one"}});
  store.put_raw(encode_key(kept_content_key{0, 1}), "");
  EXPECT_THAT(store.findings(), HasSubstr("although it is not old"));
}

TEST_F(ReplacedContentTest, AnOperationNamesTheVersionBeforeIt) {
  commit(ann, {{"app.a.x/1", "one"}});
  commit(ann, {{"app.a.x/1", "two"}});
  commit(ann, {{"app.a.x/1", ""}});
  commit(ann, {{"app.a.x/1", "three"}});
  std::vector<op_id> replaced;
  for (const op_id first : {1, 3, 5, 7})
    replaced.push_back(
      load_block(*store.db, 0, first).value()->ops.at(0).replaced);
  EXPECT_THAT(replaced, ElementsAre(0, 1, 3, 0));
  auto block = *load_block(*store.db, 0, 7).value();
  block.ops[0].replaced = 3;
  store.put_raw(encode_key(log_block_key{0, 7}),
                encode_log_block(block).value());
  EXPECT_THAT(store.findings(), HasSubstr("it says that it replaces operation "
                                          "3, the one before it is 0"));
}

} // namespace
} // namespace weir::storage
