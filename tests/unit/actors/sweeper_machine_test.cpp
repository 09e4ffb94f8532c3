#include "actors/sweeper/sweeper_machine.hpp"

#include "atproto/identifiers.hpp"

#include <gtest/gtest.h>

// Erasing step by step, then a compaction: docs/actors.md, SWEEPER.

namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using storage::erasure_stage;
using storage::open_erasure;

atproto::did repo_of(char letter) {
  return atproto::did::trusted("did:plc:" + std::string(24, letter));
}

open_erasure erasing(char letter, erasure_stage stage, storage::op_id first = 0,
                     storage::op_id last = 0) {
  return {repo_of(letter), {9, stage, {}, first, last}};
}

class SweeperMachineTest : public testing::Test {
protected:
  /// A compaction of one repo that took so long, up to the scan behind it.
  void compact_for(std::chrono::microseconds took) {
    x.on_erased();
    x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now);
    now = now + took;
    x.on_compacted(0, now);
  }

  sweeper_machine x;
  steady_time now = steady_time{} + 1h;
};

TEST_F(SweeperMachineTest, ItLooksOnceAtTheStartAndThenIsIdle) {
  EXPECT_TRUE(x.on_erased().scan);
  const auto out = x.on_scanned({}, now);
  EXPECT_FALSE(out.scan);
  EXPECT_FALSE(out.step);
  EXPECT_FALSE(out.timer);
}

TEST_F(SweeperMachineTest, StepsFollowEachOtherWhileNobodyElseWrites) {
  x.on_erased();
  EXPECT_EQ(x.on_scanned({erasing('a', erasure_stage::heads),
                          erasing('b', erasure_stage::streams)},
                         now)
              .step,
            repo_of('a'));
  EXPECT_EQ(x.on_stepped(true, false, now).step, repo_of('a'));
  EXPECT_EQ(x.on_stepped(false, false, now).step, repo_of('b'));
  EXPECT_TRUE(x.on_stepped(false, false, now).scan);
}

// limits::sweep_pause
TEST_F(SweeperMachineTest, BesideOtherWorkThereIsAPauseAfterEachStep) {
  x.on_erased();
  x.on_scanned({erasing('a', erasure_stage::heads)}, now);
  const auto out = x.on_stepped(true, true, now);
  EXPECT_FALSE(out.step);
  EXPECT_EQ(out.timer, now + limits::sweep_pause);
  EXPECT_EQ(x.on_timer(*out.timer).step, repo_of('a'));
}

TEST_F(SweeperMachineTest, RowsAreErasedBeforeAnythingIsCompacted) {
  x.on_erased();
  const auto out = x.on_scanned({erasing('a', erasure_stage::compact, 1, 5),
                                 erasing('b', erasure_stage::heads)},
                                now);
  EXPECT_EQ(out.step, repo_of('b'));
  EXPECT_FALSE(out.compact);
}

TEST_F(SweeperMachineTest, WhatSeveralCoverIsCompactedOnceAndInSlices) {
  x.on_erased();
  auto out = x.on_scanned({erasing('c', erasure_stage::compact, 50, 60),
                           erasing('a', erasure_stage::compact, 1, 5),
                           erasing('b', erasure_stage::compact, 3, 9)},
                          now);
  EXPECT_TRUE(out.compact);
  EXPECT_EQ(out.first, 1u);
  EXPECT_EQ(out.last, 9u);
  out = x.on_compacted(4, now);
  EXPECT_EQ(out.first, 4u) << "the rest of a slice";
  out = x.on_compacted(0, now);
  EXPECT_EQ(out.first, 50u);
  EXPECT_TRUE(out.over.empty());
  out = x.on_compacted(0, now);
  EXPECT_EQ(out.over.size(), 3u);
  EXPECT_TRUE(out.scan);
}

TEST_F(SweeperMachineTest, PartsAreFewAndThoseNextToEachOtherBecomeOne) {
  std::vector<open_erasure> rows;
  for (size_t i = 0; i <= limits::compaction_ranges_max; ++i)
    rows.push_back(erasing('a', erasure_stage::compact, 1 + i * i * 100,
                           2 + i * i * 100));
  x.on_erased();
  auto out = x.on_scanned(rows, now);
  EXPECT_EQ(out.first, 1u);
  EXPECT_EQ(out.last, 102u) << "the two that are closest";
  size_t parts = 0;
  for (; out.first != 0; ++parts)
    out = x.on_compacted(0, now);
  EXPECT_EQ(parts, limits::compaction_ranges_max);
}

// limits::compaction_rest_factor
TEST_F(SweeperMachineTest, CompactionsTakeATenthOfTheTimeAtMost) {
  compact_for(2s);
  const auto out
    = x.on_scanned({erasing('b', erasure_stage::compact, 1, 5)}, now);
  EXPECT_FALSE(out.compact);
  ASSERT_EQ(out.timer, now + 2s * limits::compaction_rest_factor);
  EXPECT_FALSE(x.on_timer(*out.timer + -1us).scan);
  EXPECT_TRUE(x.on_timer(*out.timer).scan);
  EXPECT_TRUE(x.on_scanned({erasing('b', erasure_stage::compact, 1, 5)},
                           *out.timer)
                .compact);
}

TEST_F(SweeperMachineTest, WhatIsErasedDuringARestIsNotHeldUp) {
  compact_for(2s);
  x.on_scanned({erasing('b', erasure_stage::compact, 1, 5)}, now);
  EXPECT_TRUE(x.on_erased().scan);
}

TEST_F(SweeperMachineTest, WhatIsErasedMeanwhileIsLookedForAfterwards) {
  x.on_erased();
  EXPECT_FALSE(x.on_erased().scan) << "a scan is under way";
  EXPECT_TRUE(x.on_scanned({}, now).scan);
  EXPECT_FALSE(x.on_scanned({}, now).scan);
}

} // namespace
} // namespace weir::actors
