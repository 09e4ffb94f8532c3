#include "tests/sim/spare_blocks.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weir::tests {

namespace {

using sim::heap::spare_blocks;

struct alignas(spare_blocks::grain) block {
  std::array<std::byte, spare_blocks::largest + spare_blocks::grain> bytes;
};

} // namespace

TEST(SpareBlocksTest, TheNextOfASizeGetsTheLastThatWasGivenBack) {
  spare_blocks spares;
  block a;
  block b;
  EXPECT_TRUE(spares.give(&a, 64));
  EXPECT_TRUE(spares.give(&b, 64));
  EXPECT_EQ(spares.take(64), &b);
  EXPECT_EQ(spares.take(64), &a);
  EXPECT_EQ(spares.take(64), nullptr);
}

TEST(SpareBlocksTest, NobodyGetsOneOfAnotherSize) {
  spare_blocks spares;
  block a;
  EXPECT_TRUE(spares.give(&a, 64));
  EXPECT_EQ(spares.take(64 - spare_blocks::grain), nullptr);
  EXPECT_EQ(spares.take(64 + spare_blocks::grain), nullptr);
  EXPECT_EQ(spares.take(64), &a);
}

TEST(SpareBlocksTest, LargeOnesAreNotKept) {
  spare_blocks spares;
  block a;
  EXPECT_FALSE(spares.give(&a, spare_blocks::largest + spare_blocks::grain));
  EXPECT_EQ(spares.take(spare_blocks::largest + spare_blocks::grain), nullptr);
  EXPECT_TRUE(spares.give(&a, spare_blocks::largest));
  EXPECT_EQ(spares.take(spare_blocks::largest), &a);
}

} // namespace weir::tests
