#include "actors/support/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weir::actors {
namespace {

atproto::did account(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

TEST(PlacementTest, OneNodeAloneHasOnePlace) {
  const placement places;
  EXPECT_EQ(places.partitions(), 1u);
  EXPECT_EQ(places.routers(), 1u);
  EXPECT_EQ(places.partition_of(account(1)), 0u);
  EXPECT_EQ(places.router_of(account(1)), 0u);
}

TEST(PlacementTest, RoutersOfOnePartitionShareByHash) {
  const placement places{1, 4};
  std::vector<size_t> counts(places.routers());
  for (size_t i = 0; i < 4000; ++i) {
    EXPECT_EQ(places.router_of(account(i)),
              atproto::stable_hash(account(i).str()) % 4);
    ++counts[places.router_of(account(i))];
  }
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 900u);
}

TEST(PlacementTest, ARouterIsOneOfItsPartition) {
  const placement places{4, 6};
  EXPECT_EQ(places.routers(), 24u);
  std::vector<size_t> counts(places.routers());
  for (size_t i = 0; i < 24'000; ++i) {
    const auto partition = places.partition_of(account(i));
    const auto router = places.router_of(account(i));
    ASSERT_LT(partition, 4u);
    ASSERT_GE(router, places.first_router(partition));
    ASSERT_LT(router, places.first_router(partition) + 6);
    ++counts[router];
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  EXPECT_GT(*least, 850u) << "the two choices do not depend on each other";
  EXPECT_LT(*most, 1150u);
}

// Each ROUTER gets its own lines, in the order given, and one without any gets
// no message.
TEST(PlacementTest, LinesAreDividedByTheirRouters) {
  struct line {
    atproto::did repo;
    size_t number;
  };
  struct part {
    std::vector<line> repos;
  };
  const placement places{2, 3};
  std::vector<line> lines;
  for (size_t i = 0; i < 50; ++i)
    lines.push_back({account(i % 4), i});
  const auto parts = places.by_router<part>(lines);
  EXPECT_LE(parts.size(), 4u);
  size_t seen = 0;
  for (const auto& [router, own] : parts) {
    ASSERT_FALSE(own.repos.empty());
    for (size_t i = 0; i < own.repos.size(); ++i, ++seen) {
      EXPECT_EQ(places.router_of(own.repos[i].repo), router);
      EXPECT_TRUE(i == 0 || own.repos[i - 1].number < own.repos[i].number);
    }
  }
  EXPECT_EQ(seen, lines.size());
}

// This is the reason for rendezvous hashing instead of a remainder.
TEST(PlacementTest, OneMorePartitionTakesOnlyItsOwnShare) {
  const placement before{4, 1};
  const placement after{5, 1};
  size_t moved = 0;
  for (size_t i = 0; i < 10'000; ++i) {
    const auto now = after.partition_of(account(i));
    if (now == before.partition_of(account(i)))
      continue;
    EXPECT_EQ(now, 4u) << "none moves between those that were there";
    ++moved;
  }
  EXPECT_NEAR(double(moved), 2000.0, 150.0);
}

// The stores of existing data directories were filled with these numbers.
TEST(PlacementTest, StaysAsItIsOnDisk) {
  const placement places{4, 1};
  std::vector<uint16_t> found;
  for (size_t i = 0; i < 12; ++i)
    found.push_back(places.partition_of(account(i)));
  EXPECT_EQ(found,
            (std::vector<uint16_t>{2, 3, 1, 0, 0, 1, 3, 0, 1, 2, 2, 2}));
  EXPECT_EQ((placement{64, 1}.partition_of(account(1))), 58u);
}

} // namespace
} // namespace weir::actors
