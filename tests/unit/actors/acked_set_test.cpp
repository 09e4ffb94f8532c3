#include "actors/consumer/acked_set.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

// storage-format.md 2: position and sparse acked ranges.
namespace weir::tests {

namespace {

using actors::acked_set;
using storage::op_id;

/// The rows of a consumer, as a store would hold them.
struct rows {
  op_id position = 0;
  std::map<op_id, op_id> ranges;

  void apply(const acked_set::delta& x) {
    position = x.position;
    for (const auto first : x.erase)
      EXPECT_EQ(ranges.erase(first), 1u) << "no row " << first;
    for (const auto& range : x.put)
      ranges[range.first] = range.last;
  }

  acked_set load() const {
    std::vector<storage::acked_range> list;
    for (const auto& [first, last] : ranges)
      list.push_back({first, last});
    return {position, list};
  }
};

} // namespace

TEST(AckedSet, InOrderIsAPositionAndNothingElse) {
  acked_set x;
  for (op_id id = 1; id <= 1000; ++id)
    EXPECT_TRUE(x.add(id));
  EXPECT_EQ(x.position(), 1000u);
  EXPECT_EQ(x.ranges(), 0u);
  EXPECT_EQ(x.count(), 1000u);
}

TEST(AckedSet, HolesAreFilledFromAnySide) {
  acked_set x;
  for (const op_id id : {5, 3, 9, 4, 7, 8})
    EXPECT_TRUE(x.add(id));
  EXPECT_EQ(x.ranges(), 2u); // 3..5, 7..9
  EXPECT_TRUE(x.add(6));
  EXPECT_EQ(x.ranges(), 1u);
  EXPECT_TRUE(x.add(1));
  EXPECT_EQ(x.position(), 1u);
  EXPECT_TRUE(x.add(2));
  EXPECT_EQ(x.position(), 9u);
  EXPECT_EQ(x.ranges(), 0u);
}

TEST(AckedSet, ASecondAckIsNone) {
  acked_set x;
  x.add_range(3, 5);
  EXPECT_FALSE(x.add(4));
  x.add_range(1, 2);
  EXPECT_FALSE(x.add(1));
  EXPECT_FALSE(x.add(0));
  x.add_range(2, 4);
  EXPECT_EQ(x.count(), 5u);
}

TEST(AckedSet, OneThatIsTakenOutLeavesAHole) {
  acked_set x;
  x.add_range(1, 9);
  EXPECT_TRUE(x.remove(4));
  EXPECT_FALSE(x.remove(4));
  EXPECT_FALSE(x.remove(0));
  EXPECT_FALSE(x.remove(10));
  EXPECT_EQ(x.position(), 3u);
  EXPECT_EQ(x.count(), 8u);
  EXPECT_EQ(x.next_missing(1), 4u);
  EXPECT_EQ(x.next_missing(5), 10u);
  EXPECT_TRUE(x.remove(7));
  EXPECT_EQ(x.ranges(), 2u); // 5..6, 8..9
  EXPECT_TRUE(x.remove(1));
  EXPECT_EQ(x.position(), 0u);
  for (const op_id id : {1, 4, 7})
    EXPECT_TRUE(x.add(id));
  EXPECT_EQ(x.position(), 9u);
}

TEST(AckedSet, FindsWhatIsMissing) {
  acked_set x;
  x.add_range(1, 3);
  x.add_range(6, 8);
  EXPECT_EQ(x.next_missing(0), 4u);
  EXPECT_EQ(x.next_missing(2), 4u);
  EXPECT_EQ(x.next_missing(5), 5u);
  EXPECT_EQ(x.next_missing(6), 9u);
  EXPECT_EQ(x.next_missing(8), 9u);
  EXPECT_EQ(x.next_missing(20), 20u);
}

TEST(AckedSet, WritesOnlyWhatChanged) {
  acked_set x;
  x.add_range(10, 20);
  x.add_range(30, 40);
  auto delta = x.take_delta();
  EXPECT_EQ(delta.put.size(), 2u);
  EXPECT_FALSE(x.changed());
  x.add(41);
  delta = x.take_delta();
  EXPECT_TRUE(delta.erase.empty());
  ASSERT_EQ(delta.put.size(), 1u);
  EXPECT_EQ(delta.put[0].first, 30u);
  EXPECT_EQ(delta.put[0].last, 41u);
}

TEST(AckedSet, ARangeThatComesAndGoesLeavesNoTrace) {
  acked_set x;
  x.add(2);
  x.add(1);
  const auto delta = x.take_delta();
  EXPECT_EQ(delta.position, 2u);
  EXPECT_TRUE(delta.erase.empty());
  EXPECT_TRUE(delta.put.empty());
}

TEST(AckedSet, TouchingRowsOfAnOldStoreBecomeOne) {
  const acked_set x{4, {{5, 6}, {9, 9}, {10, 12}, {2, 3}, {11, 11}}};
  EXPECT_EQ(x.position(), 6u);
  EXPECT_EQ(x.ranges(), 1u);
  EXPECT_EQ(x.count(), 10u);
  EXPECT_TRUE(x.changed());
  auto copy = x;
  auto delta = copy.take_delta();
  EXPECT_EQ(delta.position, 6u);
  EXPECT_EQ(delta.erase, (std::vector<op_id>{2, 5, 10, 11}));
  ASSERT_EQ(delta.put.size(), 1u);
  EXPECT_EQ(delta.put[0].last, 12u);
}

TEST(AckedSet, RowsThatAreRightAreNotWrittenAgain) {
  acked_set x{4, {{6, 8}, {10, 12}}};
  EXPECT_FALSE(x.changed());
  x.add(13);
  EXPECT_EQ(x.take_delta().put.size(), 1u);
}

TEST(AckedSet, EqualsASetOfNumbersAlsoWhenReloaded) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto random = seeded_random(seed);
    acked_set x;
    rows disk;
    std::set<op_id> model;
    for (int step = 0; step < 300; ++step) {
      const op_id first = 1 + random->below(120);
      const op_id last = first + (random->below(4) == 0 ? random->below(9) : 0);
      const bool fresh = !model.contains(first);
      if (first == last)
        ASSERT_EQ(x.add(first), fresh) << "seed " << seed;
      else
        x.add_range(first, last);
      for (auto id = first; id <= last; ++id)
        model.insert(id);
      if (const op_id gone = 1 + random->below(120); random->below(6) == 0) {
        ASSERT_EQ(x.remove(gone), model.erase(gone) == 1) << "seed " << seed;
      }
      if (random->below(5) == 0)
        disk.apply(x.take_delta());
      if (random->below(40) == 0) {
        disk.apply(x.take_delta());
        x = disk.load();
      }
      ASSERT_EQ(x.count(), model.size()) << "seed " << seed;
      const op_id probe = random->below(140);
      ASSERT_EQ(x.contains(probe), probe == 0 || model.contains(probe));
      auto missing = std::max<op_id>(probe, 1);
      while (model.contains(missing))
        ++missing;
      ASSERT_EQ(x.next_missing(std::max<op_id>(probe, 1)), missing);
    }
    disk.apply(x.take_delta());
    const auto back = disk.load();
    EXPECT_EQ(back.position(), x.position()) << "seed " << seed;
    EXPECT_EQ(back.count(), x.count());
    EXPECT_FALSE(back.changed());
  }
}

} // namespace weir::tests
