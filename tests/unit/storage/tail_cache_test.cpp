#include "storage/log/limits.hpp"
#include "storage/log/tail_cache.hpp"

#include <gtest/gtest.h>

#include <thread>

// The shared tail of the log: architecture.md, The stages.

namespace weir::storage {
namespace {

/// An entry of `ops` operations with `size` bytes of body each.
log_entry_ptr make(op_id first, size_t ops, size_t size = 10) {
  auto out = std::make_shared<log_entry>();
  out->first = first;
  out->ops.resize(ops);
  for (auto& op : out->ops)
    op.body = shared_bytes{bytes(size)};
  return out;
}

std::vector<op_id> firsts(const std::vector<log_entry_ptr>& entries) {
  std::vector<op_id> out;
  for (const auto& entry : entries)
    out.push_back(entry->first);
  return out;
}

class TailCacheTest : public testing::Test {
protected:
  void add(std::vector<log_entry_ptr> entries) { cache.add(entries); }

  tail_cache cache{1};
};

using ids = std::vector<op_id>;

TEST_F(TailCacheTest, GivesWhatFollowsAnId) {
  add({make(1, 2), make(3, 1), make(4, 3)});
  EXPECT_EQ(firsts(cache.since(0, 6).value()), (ids{1, 3, 4}));
  EXPECT_EQ(firsts(cache.since(2, 6).value()), (ids{3, 4}));
  EXPECT_EQ(firsts(cache.since(4, 6).value()), (ids{4}));
  EXPECT_TRUE(cache.since(6, 6).value().empty());
}

TEST_F(TailCacheTest, AnEmptyCacheKnowsOnlyTheEndOfTheLog) {
  tail_cache later{100};
  EXPECT_TRUE(later.since(99, 99).value().empty());
  EXPECT_FALSE(later.since(98, 99));
}

TEST_F(TailCacheTest, NothingBeyondDurableIsGiven) {
  add({make(1, 2), make(3, 2)});
  EXPECT_EQ(firsts(cache.since(0, 3).value()), (ids{1}));
  EXPECT_TRUE(cache.since(0, 1).value().empty());
}

TEST_F(TailCacheTest, PagesAreBoundedByOperationsAndBytes) {
  add({make(1, 2), make(3, 2), make(5, 2)});
  EXPECT_EQ(firsts(cache.since(0, 6, 4).value()), (ids{1, 3}));
  EXPECT_EQ(firsts(cache.since(0, 6, 3).value()), (ids{1}));
  EXPECT_EQ(firsts(cache.since(0, 6, 1).value()), (ids{1}));
  const auto two = 2 * make(1, 2)->bytes_held();
  EXPECT_EQ(firsts(cache.since(0, 6, 100, two).value()), (ids{1, 3}));
  EXPECT_EQ(firsts(cache.since(0, 6, 100, two - 1).value()), (ids{1}));
}

TEST_F(TailCacheTest, HoldsItsLimitAndDropsTheOldestBeyond) {
  const auto each = make(1, 1)->bytes_held();
  tail_cache small{1, 2 * each};
  const std::vector<log_entry_ptr> two{make(1, 1), make(2, 1)};
  small.add(two);
  EXPECT_EQ(small.bytes_held(), 2 * each);
  EXPECT_TRUE(small.since(0, 2));
  const std::vector<log_entry_ptr> third{make(3, 1)};
  small.add(third);
  EXPECT_EQ(small.bytes_held(), 2 * each);
  EXPECT_FALSE(small.since(0, 3)) << "too old";
  EXPECT_EQ(firsts(small.since(1, 3).value()), (ids{2, 3}));
}

TEST_F(TailCacheTest, AnEntryAboveTheLimitEmptiesIt) {
  tail_cache tiny{1, 1};
  const std::vector<log_entry_ptr> one{make(1, 1)};
  tiny.add(one);
  EXPECT_EQ(tiny.bytes_held(), 0u);
  EXPECT_FALSE(tiny.since(0, 1));
  EXPECT_TRUE(tiny.since(1, 1).value().empty());
}

// The log has the dropped entries, and the next ones follow them.
TEST_F(TailCacheTest, WhenClearedItGoesOnWithWhatComesNext) {
  add({make(1, 2), make(3, 2)});
  cache.clear();
  EXPECT_EQ(cache.bytes_held(), 0u);
  EXPECT_FALSE(cache.since(2, 4));
  EXPECT_TRUE(cache.since(4, 4).value().empty());
  add({make(5, 2)});
  EXPECT_FALSE(cache.since(2, 6));
  EXPECT_EQ(firsts(cache.since(4, 6).value()), (ids{5}));
}

TEST_F(TailCacheTest, AHoleIsNeverBridged) {
  add({make(1, 2), make(5, 2)});
  EXPECT_FALSE(cache.since(0, 6));
  EXPECT_FALSE(cache.since(2, 6));
  EXPECT_EQ(firsts(cache.since(4, 6).value()), (ids{5}));
}

TEST_F(TailCacheTest, ReadersAndTheWriterDoNotDisturbEachOther) {
  constexpr op_id end = 2'000;
  std::thread writer{[this] {
    for (op_id id = 1; id <= end; ++id)
      add({make(id, 1, 20'000)});
  }};
  op_id after = 0;
  while (after < end) {
    const auto entries = cache.since(after, end);
    if (!entries)
      break; // The writer was faster than the limit.
    for (const auto& entry : *entries) {
      ASSERT_EQ(entry->first, after + 1);
      after = entry->last();
    }
  }
  writer.join();
  EXPECT_LE(cache.bytes_held(), limits::tail_cache_bytes_max);
}

} // namespace
} // namespace weir::storage
