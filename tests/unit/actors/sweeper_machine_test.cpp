#include "actors/sweeper/limits.hpp"
#include "actors/sweeper/sweeper_machine.hpp"

#include "atproto/identifiers.hpp"

#include <gtest/gtest.h>

// Erasing in steps, followed by a compaction: docs/actors.md, Erasing.

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
  std::vector<storage::content_span> content;
  if (first != 0)
    content.push_back({first, last});
  return {repo_of(letter), {9, stage, {}, content}};
}

class SweeperMachineTest : public testing::Test {
protected:
  /// A compaction of one repo that takes this time, up to the next scan.
  void compact_for(std::chrono::microseconds took) {
    x.on_erased();
    x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now);
    now = now + took;
    compact_all();
  }

  /// Compacts the rest, so that nothing is left on the disk.
  sweeper_effects compact_all() {
    auto out = x.on_compacted({}, now);
    while (out.compact)
      out = x.on_compacted({}, now);
    return out;
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
  EXPECT_EQ(out.compact->content, (storage::content_span{1, 9}));
  out = x.on_compacted({4, true}, now);
  EXPECT_EQ(out.compact->content, (storage::content_span{4, 9}))
    << "the rest of a slice";
  out = x.on_compacted({}, now);
  EXPECT_EQ(out.compact->content, (storage::content_span{50, 60}));
  for (const auto letter : {'c', 'a', 'b'}) {
    EXPECT_TRUE(out.over.empty());
    out = x.on_compacted({}, now);
    ASSERT_TRUE(out.compact) << "what waited for a repo";
    EXPECT_EQ(out.compact->content.first, 0u);
    EXPECT_EQ(out.compact->first, repo_of(letter)) << "as they were found";
    EXPECT_EQ(out.compact->last, repo_of(letter));
  }
  out = x.on_compacted({}, now);
  EXPECT_EQ(out.over.size(), 3u);
  EXPECT_TRUE(out.scan);
}

// limits::compaction_ranges_max
TEST_F(SweeperMachineTest, PartsAreFewAndThoseNextToEachOtherBecomeOne) {
  std::vector<open_erasure> rows;
  for (size_t i = 0; i <= limits::compaction_ranges_max; ++i)
    rows.push_back(erasing('a', erasure_stage::compact, 1 + i * i * 100,
                           2 + i * i * 100));
  x.on_erased();
  auto out = x.on_scanned(rows, now);
  EXPECT_EQ(out.compact->content, (storage::content_span{1, 102}))
    << "the two that are closest";
  size_t parts = 0;
  for (; out.compact->content.first != 0; ++parts)
    out = x.on_compacted({}, now);
  EXPECT_EQ(parts, limits::compaction_ranges_max);
  for (parts = 0; out.compact; ++parts)
    out = x.on_compacted({}, now);
  EXPECT_EQ(parts, limits::compaction_ranges_max / 2 + 1)
    << "one repo more, so two at a time";
}

// limits::sweep_retry_min, limits::sweep_retry_max
TEST_F(SweeperMachineTest, WhatFailedIsSaidOnceAndTriedAgain) {
  x.on_erased();
  auto wait = std::chrono::microseconds{limits::sweep_retry_min};
  for (int i = 0; i < 20; ++i) {
    const auto out = x.on_failed(now);
    EXPECT_EQ(out.trouble, i == 0);
    ASSERT_EQ(out.timer, now + wait);
    EXPECT_FALSE(x.on_erased().scan) << "it waits";
    EXPECT_FALSE(x.on_timer(*out.timer + -1us).scan);
    now = *out.timer;
    EXPECT_TRUE(x.on_timer(now).scan);
    wait = std::min<std::chrono::microseconds>(2 * wait,
                                               limits::sweep_retry_max);
  }
  auto out = x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now);
  EXPECT_TRUE(out.compact);
  EXPECT_FALSE(out.well) << "the compaction may fail again";
  now = *x.on_failed(now).timer;
  x.on_timer(now);
  EXPECT_TRUE(
    x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now).compact);
  out = compact_all();
  EXPECT_TRUE(out.well);
  EXPECT_EQ(out.over.size(), 1u);
  EXPECT_FALSE(x.on_scanned({}, now).scan);
  x.on_erased();
  out = x.on_failed(now);
  EXPECT_TRUE(out.trouble) << "and said again";
  EXPECT_EQ(out.timer, now + limits::sweep_retry_min);
}

TEST_F(SweeperMachineTest, WhatAReaderHoldsIsNotOverAndIsTriedAgain) {
  x.on_erased();
  x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now);
  EXPECT_TRUE(x.on_compacted({0, false}, now).compact);
  auto out = x.on_compacted({}, now);
  EXPECT_TRUE(out.over.empty());
  EXPECT_FALSE(out.trouble);
  EXPECT_TRUE(out.scan) << "for others' rows";
  out = x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now);
  ASSERT_EQ(out.timer, now + limits::sweep_retry_min);
  now = *out.timer;
  EXPECT_TRUE(x.on_timer(now).scan);
  x.on_scanned({erasing('a', erasure_stage::compact, 1, 5)}, now);
  EXPECT_EQ(compact_all().over.size(), 1u);
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
