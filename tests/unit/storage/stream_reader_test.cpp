#include "tests/unit/storage/operation_fixture.hpp"

#include <gmock/gmock.h>

// Reading one stream: OPLOG-12, OPLOG-13, OPLOG-14, OPLOG-16, OPLOG-27,
// OPLOG-31.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::stream_of;
using tests::words_of;
using testing::ElementsAre;

class StreamReaderTest : public tests::OperationFixture {
protected:
  /// Commits one record at this time.
  void commit_at(int64_t time_us) {
    const auto path = "app.a.x/" + std::to_string(++written_);
    auto update = alice.commit({{path, "r"}});
    update.transactions.front().time_us = time_us;
    apply(alice, std::move(update));
  }

  std::vector<uint64_t>
  indices(const result<operation_page>& page) const {
    std::vector<uint64_t> out;
    for (const auto& x : page.value().found)
      out.push_back(x.index);
    return out;
  }

private:
  int written_ = 0;
};

// OPLOG-12
TEST_F(StreamReaderTest, OneOperationIsFoundByItsIndex) {
  write_a_little();
  const auto one = streams().get(stream_of(alice, "app.a.x"), 1).value();
  ASSERT_TRUE(one);
  EXPECT_EQ(one->id, 6u);
  EXPECT_EQ(one->action, atproto::op_action::update);
  EXPECT_EQ(as_text(one->body.view()), "three");
  EXPECT_EQ(one->in->repo, alice.repo);
  EXPECT_EQ(one->in->rev, alice.chain->rev);
  EXPECT_FALSE(streams().get(stream_of(alice, "app.a.x"), 3).value());
  EXPECT_FALSE(streams().get(stream_of(alice, "app.c.z"), 0).value());
  EXPECT_FALSE(streams().get(stream_of(bob, "app.b.y"), 0).value());
  EXPECT_FALSE(streams().get(stream_of(alice, "$unknown"), 0).value());
  const auto bare
    = streams().get(stream_of(alice, "app.a.x"), 1, {.with_content = false});
  EXPECT_TRUE(bare.value()->body.empty());
  EXPECT_EQ(bare.value()->content, content_state::present);
}

// OPLOG-27
TEST_F(StreamReaderTest, AnotherBranchIsAnotherStream) {
  write_a_little();
  auto denied = stream_of(alice, "app.a.x");
  denied.branch = denied_branch;
  EXPECT_FALSE(streams().get(denied, 0).value());
  EXPECT_TRUE(streams().get_since(denied, {})->found.empty());
  EXPECT_EQ(streams().next_index(denied).value(), 0u);
}

// OPLOG-12, OPLOG-25: also at the begin of a block, and inside of one of 256
TEST_F(StreamReaderTest, EachNamesTheOneBeforeIt) {
  fetch(300);
  apply(alice, alice.commit({{"app.a.x/new", "live"}}));
  std::optional<atproto::digest> before;
  for (uint64_t i = 0; i <= 300; ++i) {
    const auto one
      = streams().get(stream_of(alice, "app.a.x"), i).value();
    ASSERT_TRUE(one) << i;
    EXPECT_EQ(one->index, i);
    EXPECT_EQ(one->hashes->previous, before) << i;
    before = one->hashes->operation;
  }
}

// OPLOG-13
TEST_F(StreamReaderTest, AStreamIsReadFromAnyIndexOn) {
  write_a_little();
  const auto x = stream_of(alice, "app.a.x");
  EXPECT_THAT(words_of(streams().get_since(x, {})->found),
              ElementsAre("app.a.x/0 create 1 present",
                          "app.a.x/1 update 1 present",
                          "app.a.x/2 create 2 invalid"));
  EXPECT_THAT(indices(streams().get_since(x, 0)), ElementsAre(1, 2));
  EXPECT_THAT(indices(streams().get_since(x, 1)), ElementsAre(2));
  EXPECT_THAT(indices(streams().get_since(x, 2)), ElementsAre());
  EXPECT_THAT(indices(streams().get_since(x, UINT64_MAX)), ElementsAre());
  EXPECT_THAT(indices(streams().get_since(stream_of(bob, "app.b.y"), {})),
              ElementsAre());
}

// OPLOG-13: at the limit of a page and one above it, inside of transactions
TEST_F(StreamReaderTest, PagesOfAnySizeGiveAStreamOnce) {
  fetch(300);
  const auto x = stream_of(alice, "app.a.x");
  for (const size_t ops_max : {1u, 100u, 256u, 299u, 300u, 301u}) {
    std::optional<uint64_t> after;
    uint64_t next = 0;
    for (bool more = true; more;) {
      const auto page
        = streams().get_since(x, after, {.ops_max = ops_max}).value();
      ASSERT_EQ(page.found.size(), std::min(ops_max, size_t{300 - next}));
      ASSERT_TRUE(!after || page.through > *after) << "no progress";
      for (const auto& each : page.found)
        EXPECT_EQ(each.index, next++);
      more = page.more;
      after = page.through;
    }
    EXPECT_EQ(next, 300u) << ops_max;
  }
}

// OPLOG-14
TEST_F(StreamReaderTest, FromATimeOnItIsReadWithAllThatShareIt) {
  apply(alice, alice.appear());
  for (const int64_t time_us : {1'000'000, 2'000'000, 2'000'999, 1'500'000,
                                2'001'000, 3'000'000})
    commit_at(time_us);
  const auto since = [&](int64_t ms, std::optional<uint64_t> after = {}) {
    return indices(
      streams().get_since_time(stream_of(alice, "app.a.x"), ms, after));
  };
  EXPECT_THAT(since(2'000), ElementsAre(1, 2, 4, 5)) << "the third went back";
  EXPECT_THAT(since(2'001), ElementsAre(4, 5));
  EXPECT_THAT(since(0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(since(3'000), ElementsAre(5));
  EXPECT_THAT(since(3'001), ElementsAre());
  EXPECT_THAT(since(2'000, 1), ElementsAre(2, 4, 5));
  const auto one
    = streams().get(stream_of(alice, "app.a.x"), 2).value();
  EXPECT_EQ(one->timestamp_ms(), 2'000);
}

TEST_F(StreamReaderTest, ATimeThatFewReachedIsSearchedInSteps) {
  apply(alice, alice.appear());
  for (int64_t i = 1; i <= 6; ++i)
    commit_at(i * 1'000'000);
  const auto x = stream_of(alice, "app.a.x");
  auto page = streams().get_since_time(x, 6'000, {}, {.looked_max = 5});
  EXPECT_THAT(indices(page), ElementsAre());
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->through, 4u);
  page = streams().get_since_time(x, 6'000, page->through, {.looked_max = 5});
  EXPECT_THAT(indices(page), ElementsAre(5));
  EXPECT_FALSE(page->more);
  page = streams().get_since_time(x, 6'000, {}, {.looked_max = 6});
  EXPECT_THAT(indices(page), ElementsAre(5));
}

// OPLOG-31: without reading the stream
TEST_F(StreamReaderTest, TheNextIndexCostsTheSameHoweverLongTheStreamIs) {
  fetch(1'000);
  const auto x = stream_of(alice, "app.a.x");
  const auto before = store.db->counters();
  EXPECT_EQ(streams().next_index(x).value(), 1'000u);
  const auto after = store.db->counters();
  EXPECT_EQ(after.scans - before.scans, 0u);
  EXPECT_EQ(after.gets - before.gets, 1u);
  EXPECT_EQ(streams().next_index(stream_of(alice, "$commit")).value(), 1u);
  EXPECT_EQ(streams().next_index(stream_of(alice, "app.b.y")).value(), 0u);
  EXPECT_EQ(streams().next_index(stream_of(bob, "app.a.x")).value(), 0u);
}

// OPLOG-31: an index is never used twice, so the next one is known also after
// the rows of a stream are gone.
TEST_F(StreamReaderTest, AnErasedStreamGoesOnAboveItsIndices) {
  write_a_little();
  const auto x = stream_of(alice, "app.a.x");
  apply(alice, alice.erase());
  EXPECT_EQ(streams().next_index(x).value(), 3u);
  EXPECT_EQ(words_of(streams().get_since(x, {})->found),
            (std::vector<std::string>{"app.a.x/0 create 1 erased",
                                      "app.a.x/1 update 1 erased",
                                      "app.a.x/2 create 2 erased"}));
  sweep(alice);
  EXPECT_EQ(streams().next_index(x).value(), 3u);
  EXPECT_TRUE(streams().get_since(x, {})->found.empty());
  EXPECT_FALSE(streams().get(x, 0).value());
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", "new"}}));
  EXPECT_THAT(indices(streams().get_since(x, {})), ElementsAre(3));
  EXPECT_EQ(streams().next_index(x).value(), 4u);
}

// OPLOG-16
TEST_F(StreamReaderTest, EveryCallCanBeCancelled) {
  write_a_little();
  const auto x = stream_of(alice, "app.a.x");
  read_bounds bounds;
  size_t allowed = 0;
  bounds.cancelled = [&allowed] {
    return allowed == 0 || --allowed == 0;
  };
  EXPECT_EQ(streams().get(x, 0, bounds).error().code, ec::cancelled);
  EXPECT_EQ(streams().next_index(x, bounds).error().code, ec::cancelled);
  EXPECT_EQ(streams().get_since(x, {}, bounds).error().code, ec::cancelled);
  EXPECT_EQ(streams().get_since_time(x, 0, {}, bounds).error().code,
            ec::cancelled);
  allowed = 3; // Asked at the begin and before each of two blocks.
  EXPECT_EQ(streams().get_since(x, {}, bounds).error().code, ec::cancelled);
  allowed = 4;
  EXPECT_THAT(indices(streams().get_since(x, {}, bounds)),
              ElementsAre(0, 1, 2));
}

TEST_F(StreamReaderTest, ARowThatSaysSomethingElseThanTheLogIsAnError) {
  write_a_little();
  const auto x = stream_of(alice, "app.a.x");
  const auto key = encode_key(
    stream_block_key{alice.repo, *store.names->id_of("app.a.x"), 0, 0});
  store.put_raw(key, encode_value(stream_run{1, 2}));
  EXPECT_EQ(streams().get(x, 0).error().code, ec::storage_failure);
  store.put_raw(key, encode_value(stream_run{4, 1})); // It is bob's.
  EXPECT_EQ(streams().get_since(x, {}).error().code, ec::storage_failure);
  store.put_raw(key, encode_value(stream_run{2, 1}));
  EXPECT_EQ(streams().get(x, 0).error().code, ec::storage_failure);
}

} // namespace
} // namespace weir::storage
