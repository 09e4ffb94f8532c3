#include "atproto/limits.hpp"
#include "base/limits.hpp"
#include "wire/position.hpp"

#include <gtest/gtest.h>

#include <set>

// storage-format.md 4: the ids of events outside the node.
namespace weir::tests {

namespace {

using wire::event_place;

constexpr auto id_max = static_cast<uint64_t>(limits::safe_integer_max);

} // namespace

TEST(EventId, WithOnePartitionIsTheOperationId) {
  for (const uint64_t op : {1ull, 2ull, 1'000'000ull}) {
    EXPECT_EQ(*wire::event_id({0, op}, 1), op);
    EXPECT_EQ(*wire::place_of(op, 1), (event_place{0, op}));
  }
}

TEST(EventId, OfAllPartitionsTogetherUsesEachNumberOnce) {
  constexpr uint16_t partitions = 3;
  std::set<uint64_t> ids;
  for (uint16_t p = 0; p < partitions; ++p)
    for (uint64_t op = 1; op <= 10; ++op) {
      const auto id = *wire::event_id({p, op}, partitions);
      EXPECT_EQ(*wire::place_of(id, partitions), (event_place{p, op}));
      ids.insert(id);
    }
  EXPECT_EQ(ids.size(), 30u);
  EXPECT_EQ(*ids.begin(), 1u);
  EXPECT_EQ(*ids.rbegin(), 30u);
}

TEST(EventId, EndsWhereJsonEnds) {
  EXPECT_EQ(*wire::event_id({0, id_max}, 1), id_max);
  EXPECT_FALSE(wire::event_id({0, id_max + 1}, 1));
  const auto top = *wire::place_of(id_max, 32);
  EXPECT_EQ(*wire::event_id(top, 32), id_max);
  const auto over = top.partition == 31 ? event_place{0, top.op + 1}
                                        : event_place{31, top.op};
  EXPECT_EQ(wire::event_id(over, 32).error().code, ec::limit_reached);
  EXPECT_FALSE(wire::event_id({0, ~0ull}, 256));
}

TEST(EventId, OfAForeignNumberIsNoPlace) {
  EXPECT_FALSE(wire::place_of(0, 1));
  EXPECT_FALSE(wire::place_of(id_max + 1, 1));
  EXPECT_TRUE(wire::place_of(id_max, 1));
}

} // namespace weir::tests
