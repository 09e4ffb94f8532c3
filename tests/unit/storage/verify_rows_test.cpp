#include "storage/format/content_block.hpp"
#include "storage/tables/row_access.hpp"
#include "tests/unit/storage/content_stubs.hpp"
#include "tests/unit/storage/full_store.hpp"

#include <gmock/gmock.h>

// Content, erasing, and rows of another repo: storage-format.md 5.1 and 6.

namespace weir::storage {
namespace {

using testing::HasSubstr;

class VerifyRowsTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(store.findings(), ""); }

  tests::full_store store;
};

// -- content ------------------------------------------------------------------

TEST_F(VerifyRowsTest, ContentBehindTheEndOfTheLogIsFound) {
  const auto key
    = store.db->last_in(range_of<content_block_key>()).value()->first;
  const auto with = [&](std::initializer_list<const char*> more) {
    const auto value = store.get_raw(key);
    const auto block = content_block_reader::open(value).value();
    content_block_writer out;
    for (size_t i = 0; i < block.count(); ++i)
      out.add(block.at(i)->body);
    for (const auto* x : more)
      out.add(as_bytes(x));
    return store.findings_with(key, out.take());
  };
  EXPECT_EQ(with({}), "");
  EXPECT_THAT(with({"stray"}),
              HasSubstr("content is stored behind the end of the log"));
  EXPECT_THAT(with({""}), HasSubstr("begins or ends with nothing"));
}

TEST_F(VerifyRowsTest, AStubInsteadOfContentIsFound) {
  const auto key = encode_key(content_block_key{0, 1});
  const auto stub = tests::with_stubs(store.get_raw(key), {0});
  EXPECT_THAT(store.findings_with(key, stub),
              HasSubstr("operation 1: its content is missing"));
}

TEST_F(VerifyRowsTest, ContentThatOverlapsIsFound) {
  const std::string first{store.db->scan(range_of<content_block_key>()).key()};
  content_block_writer both;
  both.add(as_bytes("of the first operation"));
  both.add(as_bytes("of the second"));
  EXPECT_THAT(store.findings_with(first, both.take()),
              HasSubstr("its content overlaps the content before it"));
}

// -- erasing ------------------------------------------------------------------

TEST_F(VerifyRowsTest, ContentOfAnErasedRepoIsGone) {
  content_block_writer old;
  const auto block = decode_value<stream_run>(
                       store.db->scan(range_of<stream_block_key>(
                                        store.erased.repo, commit_scope_id))
                         .value())
                       ->block;
  for (size_t i = 0; i < 6; ++i)
    old.add(as_bytes("record" + std::to_string(i)));
  EXPECT_THAT(
    store.findings_with(encode_key(content_block_key{0, block}), old.take()),
    HasSubstr("its content should have been erased"));
}

TEST_F(VerifyRowsTest, ErasingThatSteppedOverSomethingIsFound) {
  const auto key = encode_key(erasure_key{store.erasing.repo});
  const auto good = decode_value<erasure_row>(store.get_raw(key)).value();
  ASSERT_EQ(good.stage, erasure_stage::heads);
  EXPECT_THAT(store.findings_with(key, std::nullopt),
              HasSubstr("should have been erased"));
  const auto with = [&](erasure_stage stage, const std::string& resume) {
    auto row = good;
    row.stage = stage;
    const auto view = as_bytes(resume);
    row.resume.assign(view.begin(), view.end());
    return store.findings_with(key, encode_value(row));
  };
  EXPECT_THAT(with(erasure_stage::streams, {}), HasSubstr("its record head should have been"));
  const auto last
    = store.db->last_in(range_of<record_head_key>(0, store.erasing.repo))
        .value()
        ->first;
  EXPECT_THAT(with(erasure_stage::heads, last), HasSubstr("its record head should have been"));
  const auto stream
    = store.db->last_in(range_of<stream_block_key>(store.erasing.repo))
        .value()
        ->first;
  EXPECT_THAT(with(erasure_stage::streams, stream), HasSubstr("its content should have been"));
  EXPECT_THAT(with(erasure_stage::heads, stream), HasSubstr("a row of something else"));
  EXPECT_THAT(
    with(erasure_stage::heads, encode_key(record_head_key{0, store.synced.repo, 16, {"1"}})),
    HasSubstr("a row of something else"));
}

// -- a log that was cut -------------------------------------------------------

// The content and stream rows of the transaction are removed, too.
TEST_F(VerifyRowsTest, ALogWithoutItsLastTransactionIsFound) {
  const auto last = store.db->last_in(range_of<log_block_key>()).value();
  const auto first = decode_key<log_block_key>(last->first)->first;
  store.erase_raw(last->first);
  store.erase_raw(encode_key(content_block_key{0, first}));
  auto runs = store.db->scan(range_of<stream_block_key>());
  for (; runs.valid(); runs.next())
    if (decode_value<stream_run>(runs.value())->block == first)
      store.erase_raw(std::string{runs.key()});
  EXPECT_THAT(store.findings(), HasSubstr("I3 "));
  EXPECT_THAT(store.findings(), HasSubstr("the chain goes on at index"));
}

// -- heads, members -----------------------------------------------------------

TEST_F(VerifyRowsTest, AHeadUnderAScopeThatIsNoCollectionIsFound) {
  for (const auto scope : {commit_scope_id, identity_scope_id, 99u})
    EXPECT_THAT(store.findings_with(encode_key(record_head_key{
                                      0, store.synced.repo, scope, {"1"}}),
                                    encode_value(record_head{})),
                HasSubstr("record heads that no chain counts"));
}

TEST_F(VerifyRowsTest, AHolderIsOneSinceAnOperationOfItsOwn) {
  const auto with = [&](op_id since) {
    return store.findings_with(
      encode_key(collection_member_key{0, 16, store.synced.repo}),
      encode_value(holder_row{since, true}));
  };
  EXPECT_THAT(with(0), HasSubstr("since operation 0, which is not its own"));
  EXPECT_THAT(with(9'999), HasSubstr("which is not its own"));
  EXPECT_THAT(with(store.erasing_from), HasSubstr("which is not its own"));
}

TEST_F(VerifyRowsTest, ARepoIsInADataset) {
  EXPECT_THAT(
    store.findings_with(
      encode_key(member_key{default_dataset, store.synced.repo}), std::nullopt),
    HasSubstr("it has a row and is in no dataset"));
}

TEST_F(VerifyRowsTest, WhatWaitsIsACommitOfTheRepo) {
  const auto rows = store.db->scan(range_of<sync_buffer_key>());
  const std::string value{rows.value()};
  EXPECT_THAT(store.findings_with(
                encode_key(sync_buffer_key{store.synced.repo, 1}), value),
              HasSubstr("is no commit of it"));
  EXPECT_THAT(store.findings_with(
                std::string{rows.key()},
                encode_value(waiting_row{{}, 0, false, {{1, 2, 3}}})),
              HasSubstr("is no commit of it"));
}

TEST_F(VerifyRowsTest, ADeadLetterIsAcked) {
  EXPECT_THAT(store.findings_with(
                encode_key(dead_letter_key{default_dataset, "tap", 0, 5}),
                encode_value(dead_letter_row{})),
              HasSubstr("its dead letter 5 is not acked"));
}

TEST_F(VerifyRowsTest, TheStatusIndexHasNoValues) {
  EXPECT_THAT(store.findings_with(encode_key(repo_by_status_key{
                                    repo_status::synced, 0, store.synced.repo}),
                                  "x"),
              HasSubstr("its row in the status index has a value"));
}

} // namespace
} // namespace weir::storage
