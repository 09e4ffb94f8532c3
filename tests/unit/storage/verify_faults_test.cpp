#include "tests/support/fault_env.hpp"
#include "tests/unit/storage/verify_fixture.hpp"

#include <thread>

// An unreadable row is a finding, too, and hides no other: storage-format.md 6.

namespace weir::storage {
namespace {

using testing::HasSubstr;

class VerifyFaultsTest : public tests::verify_fixture {};

// -- keys that no writer makes ------------------------------------------------

TEST_F(VerifyFaultsTest, KeysThatAreNoneAreFoundAmongTheGoodOnes) {
  const auto planted = [&](const std::string& key) {
    store.put_raw(key, "x");
    const auto found = store.findings();
    store.erase_raw(key);
    return found;
  };
  EXPECT_THAT(planted(encode_key(content_block_key{0, 2}) + "x"),
              HasSubstr("content_block"));
  EXPECT_THAT(planted(head_key("app.a.x/000003").substr(0, 5)),
              HasSubstr("record_head"));
  EXPECT_EQ(store.findings(), "");
}

TEST_F(VerifyFaultsTest, ABlockInsideAnotherIsFound) {
  store.put_raw(encode_key(log_block_key{0, 2}),
                store.get_raw(encode_key(log_block_key{0, 1})));
  expect("I3", "it overlaps the block before it");
}

TEST_F(VerifyFaultsTest, AHolderInAnotherPartitionIsFound) {
  store.put_raw(
    encode_key(collection_member_key{1, collection("app.b.y"), alice.repo}),
    encode_value(holder_row{1, true}));
  expect("tables", "a collection in another partition");
}

TEST_F(VerifyFaultsTest, AStreamWithoutAnOperationIsFound) {
  change_chain([](chain_row& x) {
    const auto at = std::find_if(x.streams.begin(), x.streams.end(),
                                 [](const stream_head& y) {
                                   return y.scope > identity_scope;
                                 });
    x.streams.insert(at, stream_head{std::string{identity_scope}, 0, {}, 0});
  });
  expect("tables", "the chain has a stream that has no operation");
}

// -- reads that fail ----------------------------------------------------------

/// A store with some tables whose reads fail.
class VerifyReadsTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(store.try_open());
    tests::test_account alice{'a'};
    alice.accept(store.commit(alice.appear()));
    for (int i = 0; i < 20; ++i)
      alice.accept(store.commit(
        alice.commit({{tests::numbered("app.a.x/", static_cast<size_t>(i)),
                       std::string(2'000, static_cast<char>('a' + i))}})));
    ASSERT_EQ(store.findings(), "");
  }

  /// Read number `nth` of this thread fails; with `sticky` all later ones, too.
  void fail(uint64_t nth, bool sticky) {
    store.reopen(); // Now all rows are in tables, and none is in memory.
    faults.plan({.nth = nth,
                 .sticky = sticky,
                 .kinds = tests::kind_bit(tests::io_call::read),
                 .name_ends_with = ".ldb",
                 .thread = std::this_thread::get_id()});
  }

  tests::memory_disk disk;
  tests::fault_env faults{disk};
  tests::test_store store{faults, {}, 65'536};
};

TEST_F(VerifyReadsTest, ATableThatCannotBeReadIsAFinding) {
  struct outcome {
    std::string findings;
    uint64_t reads = 0;  ///< The number of all reads.
    uint64_t failed = 0; ///< The number of failures that LevelDB reported.
  };
  const auto verify = [&](uint64_t nth, bool sticky) {
    fail(nth, sticky);
    outcome out{store.findings(), faults.calls(),
                store.db->counters().failed_reads};
    faults.heal();
    // It works without the filter of a table, and then reports nothing.
    EXPECT_EQ(out.findings.find("IO error") != std::string::npos,
              out.failed > 0)
      << nth << " of " << out.reads << ": " << out.findings;
    EXPECT_EQ(out.findings.empty(), out.failed == 0) << out.findings;
    return out;
  };
  uint64_t nth = 1;
  uint64_t told = 0;
  for (; verify(nth, true).reads >= nth && nth < 1'000; ++nth)
    told += verify(nth, false).failed > 0;
  EXPECT_GT(nth, 5u);
  EXPECT_LT(nth, 1'000u);
  EXPECT_GT(told, nth / 2);
}

// This holds for any number of findings: here one is already too many.
TEST_F(VerifyReadsTest, WhyReadsFailAlwaysHasAPlace) {
  verify_options options;
  options.findings_max = 0;
  fail(6, true);
  const auto found = store.findings(options);
  faults.heal();
  EXPECT_THAT(found, HasSubstr("IO error"));
}

} // namespace
} // namespace weir::storage
