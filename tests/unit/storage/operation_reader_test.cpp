#include "storage/log/limits.hpp"
#include "tests/unit/storage/operation_fixture.hpp"

#include <gmock/gmock.h>

#include <map>

// Reading all streams of a partition: OPLOG-15, OPLOG-16; what is derived of an
// operation: OPLOG-24, OPLOG-25; what it names: OPLOG-23, OPLOG-26.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::words_of;
using testing::ElementsAre;

class OperationReaderTest : public tests::OperationFixture {};

std::vector<op_id> ids_of(const std::vector<stored_operation>& all) {
  std::vector<op_id> out;
  for (const auto& x : all)
    out.push_back(x.id);
  return out;
}

// OPLOG-15: ids begin with 1, and reading is exclusive.
TEST_F(OperationReaderTest, FromZeroTheFirstOneComes) {
  write_a_little();
  const auto page = log().get_since_id(0, last()).value();
  EXPECT_THAT(ids_of(page.found), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(words_of(page.found),
              ElementsAre("app.a.x/0 create 1 present",
                          "app.b.y/0 create 1 present",
                          "$commit/0 create present",
                          "app.a.x/0 create 1 present",
                          "$commit/0 create present",
                          "app.a.x/1 update 1 present",
                          "app.a.x/2 create 2 invalid",
                          "app.b.y/1 delete 1 none",
                          "$commit/1 create present"));
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.through, last());
  EXPECT_EQ(as_text(page.found[5].body.view()), "three");
  EXPECT_EQ(page.found[3].in->repo, bob.repo);
  EXPECT_THAT(ids_of(log().get_since_id(8, last())->found), ElementsAre(9));
  const auto end = log().get_since_id(9, last()).value();
  EXPECT_TRUE(end.found.empty());
  EXPECT_EQ(end.through, 9u);
  EXPECT_FALSE(end.more);
}

TEST_F(OperationReaderTest, NothingBeyondDurableIsRead) {
  write_a_little();
  const auto page = log().get_since_id(0, 5).value();
  EXPECT_THAT(ids_of(page.found), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(page.through, 5u);
  EXPECT_FALSE(page.more);
}

// OPLOG-15: a page may end, and the next one begin, inside of a transaction.
TEST_F(OperationReaderTest, PagesOfAnySizeGiveEveryOperationOnce) {
  fetch(300);
  const auto all = ids_of(read_all({}, {.ops_max = 10'000}));
  EXPECT_EQ(all.size(), 301u);
  for (const size_t ops_max : {1u, 100u, 255u, 256u, 257u, 300u, 301u}) {
    EXPECT_EQ(ids_of(read_all({}, {.ops_max = ops_max})), all) << ops_max;
    const auto page
      = log().get_since_id(0, last(), {}, {.ops_max = ops_max}).value();
    EXPECT_EQ(page.found.size(), ops_max);
    EXPECT_EQ(page.more, ops_max < 301);
  }
}

// OPLOG-15
TEST_F(OperationReaderTest, PagesAreFullHoweverFewFit) {
  fetch(300);
  for (int i = 0; i < 5; ++i) {
    apply(alice, alice.commit({{numbered("app.a.x/", i), ""},
                               {numbered("app.rare/", i), "rare"}}));
    apply(bob, i == 0 ? bob.appear() : bob.commit({{"app.rare/b", "bob's"}}));
  }
  operation_filter rare;
  rare.scopes = {"app.rare"};
  const auto page
    = log().get_since_id(0, last(), rare, {.ops_max = 4}).value();
  EXPECT_EQ(page.found.size(), 4u);
  EXPECT_TRUE(page.more);
  EXPECT_EQ(read_all(rare, {.ops_max = 4}).size(), 9u);
  auto of_alice = rare;
  of_alice.repo = alice.repo;
  EXPECT_EQ(read_all(of_alice, {.ops_max = 4}).size(), 5u);
  operation_filter deletes;
  deletes.actions = {atproto::op_action::remove};
  EXPECT_EQ(log().get_since_id(0, last(), deletes)->found.size(), 5u);
  operation_filter two;
  two.scopes = {"app.rare", "$commit"};
  EXPECT_EQ(read_all(two, {.ops_max = 3}).size(), 9u + 10u);
}

TEST_F(OperationReaderTest, NothingFitsACollectionThatNobodyHas) {
  write_a_little();
  operation_filter unknown;
  unknown.scopes = {"app.nobody"};
  const auto page = log().get_since_id(0, last(), unknown).value();
  EXPECT_TRUE(page.found.empty());
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.through, last()) << "a later one may fit";
}

// limits::operations_looked_max: at the limit and one above it
TEST_F(OperationReaderTest, ACallLooksAtSoManyAndSaysWhereToGoOn) {
  fetch(limits::operations_looked_max);
  ASSERT_EQ(last(), limits::operations_looked_max + 1) << "and its commit";
  operation_filter none;
  none.actions = {atproto::op_action::remove};
  const auto whole
    = log().get_since_id(1, last(), none).value();
  EXPECT_FALSE(whole.more);
  EXPECT_EQ(whole.through, last());
  const auto page = log().get_since_id(0, last(), none).value();
  EXPECT_TRUE(page.found.empty());
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.through, limits::operations_looked_max);
  none.actions = {atproto::op_action::remove, atproto::op_action::update};
  EXPECT_TRUE(read_all(none, {}).empty());
}

TEST_F(OperationReaderTest, BytesBoundAPageThatHasOneAtLeast) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", std::string(600, 'x')},
                             {"app.a.x/2", std::string(400, 'y')},
                             {"app.a.x/3", "z"}}));
  const auto page = [&](op_id after, size_t bytes_max) {
    return log()
      .get_since_id(after, last(), {}, {.bytes_max = bytes_max})
      .value();
  };
  EXPECT_EQ(page(0, 1'001).found.size(), 3u);
  EXPECT_EQ(page(0, 1'000).found.size(), 2u);
  EXPECT_EQ(page(0, 999).found.size(), 1u);
  EXPECT_EQ(page(0, 1).found.size(), 1u) << "otherwise it would never go on";
  EXPECT_EQ(page(0, 1).through, 1u);
  EXPECT_TRUE(page(0, 999).more);
  EXPECT_EQ(read_all({}, {.bytes_max = 1}).size(), 4u);
  EXPECT_EQ(log()
              .get_since_id(0, last(), {},
                            {.bytes_max = 1, .with_content = false})
              ->found.size(),
            4u);
}

// OPLOG-16
TEST_F(OperationReaderTest, AReadingCanBeCancelledBeforeAndBetweenBlocks) {
  write_a_little();
  size_t asked = 0;
  size_t allowed = 0;
  read_bounds bounds;
  bounds.cancelled = [&] {
    return ++asked > allowed;
  };
  EXPECT_EQ(log().get_since_id(0, last(), {}, bounds).error().code,
            ec::cancelled);
  EXPECT_EQ(asked, 1u);
  asked = 0;
  allowed = 2;
  EXPECT_EQ(log().get_since_id(0, last(), {}, bounds).error().code,
            ec::cancelled);
  EXPECT_EQ(asked, 3u) << "once at the begin, then before each block";
  asked = 0;
  allowed = 4;
  EXPECT_TRUE(log().get_since_id(0, last(), {}, bounds));
}

// OPLOG-24, OPLOG-25: the hashes of the writer, whatever is read first.
TEST_F(OperationReaderTest, HashesLeadToWhatTheChainHas) {
  fetch(300);
  apply(bob, bob.appear());
  for (int i = 0; i < 4; ++i) {
    apply(bob, bob.commit({{"app.a.x/1", std::to_string(i)}}));
    auto update = alice.commit({{"app.a.x/new", std::to_string(i)}});
    auto& fact = update.transactions.emplace_back();
    fact.ops.push_back(alice.fact(identity_scope));
    apply(alice, std::move(update));
  }
  for (const size_t ops_max : {1u, 7u, 1'000u}) {
    std::map<std::string, stored_operation> tails;
    for (const auto& x : read_all({}, {.ops_max = ops_max})) {
      ASSERT_TRUE(x.hashes) << x.id;
      const auto stream = x.in->repo.str() + x.scope;
      const auto tail = tails.find(stream);
      EXPECT_EQ(x.hashes->previous.has_value(), x.index > 0);
      if (tail != tails.end()) {
        EXPECT_EQ(x.hashes->previous, tail->second.hashes->operation) << x.id;
        EXPECT_EQ(x.index, tail->second.index + 1);
      }
      tails.insert_or_assign(stream, x);
    }
    for (const auto* who : {&alice, &bob})
      for (const auto& head : who->chain->streams) {
        const auto& tail = tails.at(who->repo.str() + head.scope);
        EXPECT_EQ(tail.hashes->stream, head.hash) << head.scope;
        EXPECT_EQ(tail.index + 1, head.next_index) << head.scope;
      }
  }
}

// OPLOG-25: the one before is that of the stream, not the last one that fits.
TEST_F(OperationReaderTest, AFilterDoesNotChangeWhatComesBefore) {
  write_a_little();
  for (int i = 0; i < 6; ++i)
    apply(bob, bob.commit({{"app.a.x/1", i % 2 == 0 ? "" : "again"}}));
  operation_filter deletes;
  deletes.actions = {atproto::op_action::remove};
  deletes.repo = bob.repo;
  const auto all = read_all({}, {});
  const auto some = read_all(deletes, {});
  ASSERT_EQ(some.size(), 3u);
  for (const auto& x : some)
    EXPECT_EQ(x.hashes->previous, all[x.id - 1].hashes->previous) << x.id;
}

// OPLOG-23, OPLOG-26
TEST_F(OperationReaderTest, ItNamesItsCommitOrItsFetchAndWhenItWasWritten) {
  fetch(2);
  store.time.advance(std::chrono::seconds{5});
  apply(alice, alice.commit({{"app.a.x/new", "live"}}));
  const auto all = log().get_since_id(0, last())->found;
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].in->job, 77u) << "a fetch";
  EXPECT_FALSE(all[0].in->commit.defined());
  EXPECT_EQ(all[3].in->job, 0u);
  EXPECT_EQ(all[3].in->commit, all[4].cid);
  EXPECT_EQ(all[3].in->from, provenance::live);
  EXPECT_EQ(all[3].written_ms() - all[0].written_ms(), 5'000);
  EXPECT_EQ(all[3].written_ms(), store.time.wall_now().micros / 1000);
}

// SYNC-30: from the batch on that erases a repo, its content is not given.
TEST_F(OperationReaderTest, OfAnErasedRepoNoContentIsGiven) {
  write_a_little();
  apply(alice, alice.erase());
  const auto expect_erased = [&] {
    operation_filter filter;
    filter.repo = alice.repo;
    const auto all = log().get_since_id(0, last(), filter)->found;
    ASSERT_EQ(all.size(), 8u);
    for (const auto& x : all) {
      const bool fact = x.scope == account_scope;
      EXPECT_EQ(x.content,
                fact ? content_state::present : content_state::erased);
      EXPECT_EQ(x.body.empty(), !fact);
      EXPECT_EQ(x.hashes.has_value(), fact || x.scope == commit_scope);
    }
    filter.with_erased = false;
    EXPECT_EQ(ids_of(log().get_since_id(0, last(), filter)->found),
              std::vector<op_id>{10});
    filter.repo = bob.repo;
    EXPECT_EQ(log().get_since_id(0, last(), filter)->found.size(), 2u);
  };
  expect_erased();
  sweep(alice);
  expect_erased();
  store.reopen();
  expect_erased();
  const auto names = words_of(log().get_since_id(0, last())->found);
  EXPECT_EQ(names[0], "app.a.x/0 create 1 erased") << "bob has the collection";
  EXPECT_EQ(names[1], "/0 create 1 erased") << "nobody has it any more";
}

TEST_F(OperationReaderTest, AStreamThatBeginsAgainHasNoOperationBefore) {
  write_a_little();
  apply(alice, alice.forget());
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "new"}}));
  const auto check = [&] {
    const auto all = log().get_since_id(9, last())->found;
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].index, 3u);
    EXPECT_EQ(all[0].content, content_state::present);
    EXPECT_FALSE(all[0].hashes->previous);
    EXPECT_EQ(all[0].hashes->stream, alice.chain->find("app.a.x")->hash);
    EXPECT_TRUE(all[1].hashes->previous) << "commits go on";
  };
  check();
  sweep(alice);
  check();
}

TEST_F(OperationReaderTest, ContentThatMustBeThereIsAnErrorWhenItIsGone) {
  write_a_little();
  store.erase_raw(encode_key(content_block_key{0, 4}));
  const auto page = log().get_since_id(0, last());
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ec::storage_failure);
  EXPECT_NE(page.error().context.find("operation 4"), std::string::npos);
}

TEST_F(OperationReaderTest, AMissingBlockIsAnErrorNeverAHole) {
  write_a_little();
  store.erase_raw(encode_key(log_block_key{0, 4}));
  for (const op_id after : {0u, 3u, 4u}) {
    const auto page = log().get_since_id(after, last());
    ASSERT_FALSE(page) << after;
    EXPECT_EQ(page.error().code, ec::storage_failure);
  }
}

} // namespace
} // namespace weir::storage
