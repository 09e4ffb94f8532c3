#include "bench/report.hpp"

#include <gtest/gtest.h>

// How figures are read: benchmarks.md, How to read it.

namespace weir::bench {
namespace {

TEST(SpreadTest, TheMedianOfAnOddNumberIsTheMiddleOne) {
  const auto x = spread_of({5, 1, 4});
  EXPECT_EQ(x.median, 4);
  EXPECT_EQ(x.mad, 1);
  EXPECT_EQ(x.mad_percent(), 25);
}

TEST(SpreadTest, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  const auto x = spread_of({8, 1, 2, 4});
  EXPECT_EQ(x.median, 3);
  EXPECT_EQ(x.mad, 1.5);
}

TEST(SpreadTest, OneValueHasNoSpread) {
  const auto x = spread_of({7});
  EXPECT_EQ(x.median, 7);
  EXPECT_EQ(x.mad, 0);
}

TEST(CalibrationTest, FivePercentIsStillTheSameMachine) {
  EXPECT_FALSE((calibration_pair{20'000, 19'000}).drifted());
  EXPECT_FALSE((calibration_pair{19'000, 20'000}).drifted());
  EXPECT_TRUE((calibration_pair{20'000, 18'999}).drifted());
  EXPECT_TRUE((calibration_pair{18'999, 20'000}).drifted());
}

TEST(CalibrationTest, ItMeasuresSomething) {
  EXPECT_GT(calibrate(std::chrono::milliseconds{20}), 100);
}

load_run quiet_run() {
  load_run out;
  out.calibration = {22'500, 22'500};
  out.rate = 11'000;
  return out;
}

load_result live_result(std::vector<load_run> runs) {
  return {"live", "commits", {22'000, 4'000}, {}, std::move(runs)};
}

TEST(WarningsTest, AQuietMachineGivesNone) {
  EXPECT_TRUE(warnings(live_result({quiet_run(), quiet_run()})).empty());
}

TEST(WarningsTest, CalibrationsThatDifferAreNamedWithTheirRun) {
  auto noisy = quiet_run();
  noisy.calibration.after = 20'000;
  const auto found = warnings(live_result({quiet_run(), noisy}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.front().starts_with("live run 2: the calibrations"));
}

TEST(WarningsTest, OtherWorkCountsFromAboveFivePercent) {
  auto x = quiet_run();
  x.others_percent = others_percent_max;
  EXPECT_TRUE(warnings(live_result({x})).empty());
  x.others_percent += 0.1;
  EXPECT_EQ(warnings(live_result({x})).size(), 1u);
}

TEST(WarningsTest, RunsThatDisagreeGiveOne) {
  auto slow = quiet_run();
  slow.rate = 9'000;
  EXPECT_EQ(warnings(live_result({quiet_run(), slow})).size(), 1u);
}

TEST(LoadResultTest, TheCeilingFollowsCalibrationAndCores) {
  auto x = quiet_run();
  const auto result = live_result({x});
  const auto cores = this_machine().cores;
  EXPECT_DOUBLE_EQ(result.ceiling_here(x), 11'000.0 * cores);
  x.calibration = {45'000, 45'000};
  EXPECT_DOUBLE_EQ(result.ceiling_here(x), 22'000.0 * cores);
}

TEST(MicroResultTest, AFasterMachineGetsAShorterReference) {
  micro_result x{"stage", "", {50, 0}, 200, {45'000, 45'000}};
  EXPECT_DOUBLE_EQ(x.reference_here(), 100);
  EXPECT_DOUBLE_EQ(x.ratio(), 2);
}

} // namespace
} // namespace weir::bench
