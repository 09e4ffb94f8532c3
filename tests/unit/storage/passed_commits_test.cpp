#include "storage/format/limits.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/tables/chain_table.hpp"
#include "tests/unit/storage/committer_fixture.hpp"

#include <gmock/gmock.h>

// Commits of which nothing is kept: the chain proves them, and the log has no
// entry of them (docs/storage-format.md 3.4).

namespace weir::storage {
namespace {

using testing::HasSubstr;

class PassedCommitsTest : public tests::committer_fixture {
protected:
  void SetUp() override {
    apply(alice, alice.appear());
    apply(alice, alice.commit({{"app.a.x/1", "one"}}));
  }

  void pass(size_t count) {
    for (size_t i = 0; i < count; ++i)
      apply(alice, alice.pass());
  }

  /// Findings after a change of alice's chain.
  std::string with_chain(const std::function<void(chain_row&)>& change) {
    const auto key = encode_key(chain_key{alice.repo});
    const auto good = store.get_raw(key);
    auto chain = *load_chain(*store.db, *store.names, alice.repo).value();
    change(chain);
    store.put_raw(key, encode_chain(chain, *store.names).value());
    auto out = store.findings();
    store.put_raw(key, good);
    return out;
  }

  std::string with_indexed_rev(uint64_t rev) {
    auto row = alice.row;
    row.last_indexed_rev = atproto::tid{rev};
    store.put_raw(encode_key(repo_key{alice.repo}), encode_value(row));
    return store.findings();
  }
};

TEST_F(PassedCommitsTest, TheyMoveTheChainAndAddNothingToTheLog) {
  const auto last = store.writer->last_id();
  const auto before = store.in_logs();
  pass(3);
  EXPECT_EQ(store.writer->last_id(), last);
  EXPECT_EQ(store.in_logs().rows, before.rows + 3) << "that of the chain each";
  EXPECT_EQ(alice.chain->rev, atproto::tid{alice.rev});
  EXPECT_EQ(alice.chain->passed, 3u);
  EXPECT_EQ(store.findings(), "");
  store.reopen();
  EXPECT_EQ(store.findings(), "");
  const auto chain = load_chain(*store.db, *store.names, alice.repo).value();
  EXPECT_EQ(chain->rev, atproto::tid{alice.rev});
  EXPECT_EQ(chain->passed, 3u);
  EXPECT_EQ(atproto::cid::of_dag_cbor(chain->passed_block.view()),
            chain->commit);
}

TEST_F(PassedCommitsTest, TheNextEntrySaysHowManyItFollows) {
  pass(2);
  const auto receipt = apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  const auto block = load_block(*store.db, 0, receipt.first).value();
  ASSERT_TRUE(block);
  EXPECT_EQ(block->passed, 2u);
  EXPECT_EQ(alice.chain->passed, 0u);
  EXPECT_TRUE(alice.chain->passed_block.empty());
  EXPECT_EQ(store.findings(), "");
}

// OPLOG-33: neither the revision nor the number of operations tells them apart.
TEST_F(PassedCommitsTest, AnUpdateOnTheChainBeforeThemIsAMismatch) {
  auto late = alice.commit({{"app.a.x/2", "two"}});
  late.transactions.back().rev = atproto::tid{++alice.rev};
  pass(1);
  const auto receipt = only_receipt(late);
  EXPECT_EQ(receipt.outcome, update_outcome::mismatch);
  EXPECT_THAT(receipt.reason, HasSubstr(alice.chain->rev.str()));
  store.reopen();
  EXPECT_EQ(only_receipt(late).outcome, update_outcome::mismatch);
}

TEST_F(PassedCommitsTest, AnErasedRepoHasNone) {
  pass(2);
  apply(alice, alice.erase());
  EXPECT_EQ(alice.chain->passed, 0u);
  EXPECT_TRUE(alice.chain->passed_block.empty());
  EXPECT_EQ(store.findings(), "");
}

TEST_F(PassedCommitsTest, TheBlockIsThereAndUpToItsLimit) {
  const auto with = [&](uint64_t passed, size_t bytes_in_block) {
    auto update = alice.pass();
    update.chain->passed = passed;
    update.chain->passed_block = shared_bytes{bytes(bytes_in_block, 7)};
    return only_receipt(update).outcome;
  };
  EXPECT_EQ(with(1, 0), update_outcome::refused);
  EXPECT_EQ(with(0, 1), update_outcome::refused);
  EXPECT_EQ(with(1, limits::passed_block_bytes_max + 1),
            update_outcome::refused);
  EXPECT_EQ(with(1, limits::passed_block_bytes_max), update_outcome::done);
}

TEST_F(PassedCommitsTest, TheChainIsAtTheLastOfThem) {
  pass(1);
  EXPECT_THAT(with_chain([](auto& x) {
                x.commit = tests::cid_of("other");
              }),
              HasSubstr("does not hash to the CID of the chain"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.rev = atproto::tid{x.rev.value() + 1};
              }),
              HasSubstr("another repo, revision or tree than the commit"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.data = tests::cid_of("other");
              }),
              HasSubstr("another repo, revision or tree than the commit"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.passed = 0;
              }),
              HasSubstr("the chain is not at operation"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.passed_block = shared_bytes{bytes{0xa0}};
              }),
              HasSubstr("its last commit is not a valid commit"));
}

TEST_F(PassedCommitsTest, TheyAreBehindTheLastCommitOfTheLog) {
  pass(1);
  const auto old = *alice.chain;
  apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  EXPECT_THAT(with_chain([&](auto& x) {
                x.rev = old.rev;
                x.data = old.data;
                x.commit = old.commit;
                x.passed = 1;
                x.passed_block = old.passed_block;
              }),
              HasSubstr("its last commit is not behind operation"));
}

// CONS-06: a fetch may find the rev of a commit that the log has no entry of.
TEST_F(PassedCommitsTest, ARepoMayBeIndexedAtOneOfThem) {
  const auto first = alice.rev;
  pass(1);
  const auto passed = alice.rev;
  EXPECT_EQ(with_indexed_rev(passed), "");
  EXPECT_THAT(with_indexed_rev(first - 1), HasSubstr("the log has no commit"));
  apply(alice, alice.commit({{"app.a.x/2", "two"}}));
  EXPECT_EQ(with_indexed_rev(passed), "");
  EXPECT_EQ(with_indexed_rev(first), "");
  apply(alice, alice.commit({{"app.a.x/3", "three"}}));
  alice.rev += 10;
  apply(alice, alice.commit({{"app.a.x/4", "four"}}));
  EXPECT_EQ(with_indexed_rev(passed), "");
  EXPECT_THAT(with_indexed_rev(alice.rev - 5),
              HasSubstr("the log has no commit"));
}

} // namespace
} // namespace weir::storage
