#include "atproto/block_index.hpp"
#include "atproto/cid.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

// Proves the bounded memory of protocol-coverage.md 5.7 and
// hostile-inputs.md 2.1.17.

namespace weir::tests {

using namespace atproto;

namespace {

/// Counts the bytes that go through a spool in memory.
class counting_spool final : public spool {
public:
  result<void> append(bytes_view chunk) override {
    appended += chunk.size();
    return inner_->append(chunk);
  }

  result<bytes_view> read(uint64_t offset, size_t size) override {
    ++reads;
    largest_read = std::max(largest_read, size);
    return inner_->read(offset, size);
  }

  size_t appended = 0;
  size_t reads = 0;
  size_t largest_read = 0;

private:
  std::unique_ptr<spool> inner_ = make_memory_spool(100'000'000);
};

class broken_spool final : public spool {
public:
  result<void> append(bytes_view) override {
    return fail(ec::storage_failure, "no");
  }

  result<bytes_view> read(uint64_t, size_t) override {
    return fail(ec::storage_failure, "no");
  }
};

digest random_digest(random_source& random) {
  digest out;
  random.fill(out);
  return out;
}

/// The arguments with which a block was added.
struct added {
  digest hash;
  block_place at;
};

std::vector<added> add_random(block_index& index, random_source& random,
                              size_t n) {
  std::vector<added> out;
  for (size_t i = 0; i < n; ++i) {
    out.push_back({random_digest(random),
                   {random.below(uint64_t{1} << 40), random.below(1 << 24)}});
    EXPECT_TRUE(index.add(out.back().hash.data(), out.back().at));
  }
  return out;
}

void prepare(block_index& index, size_t work_max = 1000) {
  for (int calls = 0; calls < 10'000; ++calls) {
    const auto ready = index.prepare(work_max);
    ASSERT_TRUE(ready) << to_string(ready.error());
    if (*ready)
      return;
  }
  FAIL() << "never ready";
}

bool holds(block_index& index, const digest& hash, block_place at) {
  return index
    .find(hash.data(),
          [&](block_place x) -> result<bool> {
            return x.offset == at.offset && x.size == at.size;
          })
    .value();
}

/// Number of entries in memory and of a run: all in one run, several runs, all
/// spooled.
struct shape {
  size_t entries_max;
  size_t run_entries;
};

class BlockIndexTest : public testing::TestWithParam<shape> {
protected:
  counting_spool overflow;
  block_index index{overflow, GetParam().entries_max, GetParam().run_entries};
};

} // namespace

// limits::walk_index_entries_max, and one run of limits::walk_index_run_entries
// more: then all of them are in the spool
TEST(BlockIndexDefaultsTest, SoManyEntriesAreInMemory) {
  counting_spool overflow;
  block_index index{overflow};
  const auto random = seeded_random(5);
  add_random(index, *random,
             limits::walk_index_entries_max + limits::walk_index_run_entries
               - 1);
  EXPECT_EQ(overflow.appended, 0u) << "the last run has one too few";
  add_random(index, *random, 1);
  EXPECT_EQ(overflow.appended,
            (limits::walk_index_entries_max + limits::walk_index_run_entries)
              * limits::walk_index_entry_bytes);
}

TEST_P(BlockIndexTest, FindsEveryBlockAndNoOther) {
  const auto random = seeded_random(1);
  const auto blocks = add_random(index, *random, 20'000);
  prepare(index);
  for (const auto& x : blocks)
    EXPECT_TRUE(holds(index, x.hash, x.at));
  for (int i = 0; i < 1000; ++i) {
    const auto unknown = random_digest(*random);
    EXPECT_FALSE(index
                   .find(unknown.data(),
                         [](block_place) {
                           return result<bool>{true};
                         })
                   .value());
  }
}

TEST_P(BlockIndexTest, IsEmptyWithoutBlocks) {
  prepare(index);
  const digest any{};
  EXPECT_FALSE(holds(index, any, {}));
}

TEST_P(BlockIndexTest, OffersEveryBlockWhoseDigestBeginsAlike) {
  const auto random = seeded_random(2);
  add_random(index, *random, 3000);
  auto hash = random_digest(*random);
  std::vector<added> alike;
  for (size_t i = 0; i < 700; ++i) {
    hash.back() = static_cast<uint8_t>(i);
    alike.push_back({hash, {i * 10, i + 1}});
    ASSERT_TRUE(index.add(hash.data(), alike.back().at));
  }
  add_random(index, *random, 3000);
  prepare(index);
  for (const auto& x : alike)
    EXPECT_TRUE(holds(index, x.hash, x.at));
}

TEST_P(BlockIndexTest, KeepsRepeatedBlocksOnceARun) {
  const auto random = seeded_random(3);
  const auto hash = random_digest(*random);
  for (size_t i = 0; i < 10'000; ++i)
    ASSERT_TRUE(index.add(hash.data(), {i, 5}));
  add_random(index, *random, 100);
  prepare(index);
  size_t offered = 0;
  EXPECT_FALSE(index
                 .find(hash.data(),
                       [&](block_place x) -> result<bool> {
                         EXPECT_EQ(x.size, 5u);
                         ++offered;
                         return false;
                       })
                 .value());
  EXPECT_LE(offered, 10'000 / GetParam().run_entries + 1);
}

TEST_P(BlockIndexTest, FindsDigestsAtTheEndsOfTheirRange) {
  digest lowest{};
  digest highest;
  highest.fill(0xff);
  ASSERT_TRUE(index.add(highest.data(), {1, 1}));
  const auto random = seeded_random(4);
  add_random(index, *random, 5000);
  ASSERT_TRUE(index.add(lowest.data(), {2, 2}));
  prepare(index);
  EXPECT_TRUE(holds(index, highest, {1, 1}));
  EXPECT_TRUE(holds(index, lowest, {2, 2}));
}

TEST_P(BlockIndexTest, PassesOnTheErrorOfACandidate) {
  const auto random = seeded_random(5);
  const auto blocks = add_random(index, *random, 100);
  prepare(index);
  const auto found
    = index.find(blocks[0].hash.data(), [](block_place) -> result<bool> {
        return fail(ec::storage_failure, "read");
      });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ec::storage_failure);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockIndexTest,
                         testing::Values(shape{1'000'000, 1'000'000},
                                         shape{1'000'000, 1000},
                                         shape{5000, 1000}, shape{0, 700}));

// protocol-coverage.md 5.7
TEST(BlockIndexMemoryTest, GoesToTheSpoolOnlyBeyondItsBound) {
  const auto random = seeded_random(6);
  for (const auto n : {size_t{5000}, size_t{5001}}) {
    counting_spool overflow;
    block_index index{overflow, 5000, 1000};
    add_random(index, *random, n);
    prepare(index);
    EXPECT_EQ(overflow.appended != 0, n > 5000) << n;
  }
}

TEST(BlockIndexMemoryTest, MergesAsMuchAsItIsToldAndReadsPages) {
  counting_spool overflow;
  block_index index{overflow, 0, 500};
  const auto random = seeded_random(7);
  const auto blocks = add_random(index, *random, 10'000);
  size_t calls = 1;
  while (!index.prepare(1000).value())
    ++calls;
  EXPECT_GE(calls, 10u);
  EXPECT_LE(calls, 12u);
  EXPECT_EQ(overflow.appended, 2 * 10'000 * 16u) << "runs, then one of all";
  EXPECT_LE(overflow.largest_read, 4096u);
  overflow.reads = 0;
  for (const auto& x : blocks)
    ASSERT_TRUE(holds(index, x.hash, x.at));
  EXPECT_LE(overflow.reads, blocks.size() + 50);
}

TEST(BlockIndexMemoryTest, FailsWithItsSpool) {
  broken_spool overflow;
  block_index index{overflow, 10, 10};
  const digest any{};
  result<void> done;
  for (size_t i = 0; done && i < 100; ++i)
    done = index.add(any.data(), {i, i});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ec::storage_failure);
}

} // namespace weir::tests
