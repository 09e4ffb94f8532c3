#include "apps/demo/report.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weir::apps {

TEST(DemoReportTest, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(61'204), "61,204");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

TEST(DemoReportTest, TimesAreReadable) {
  EXPECT_EQ(readable(std::chrono::microseconds{1'900}), "1.9 ms");
  EXPECT_EQ(readable(std::chrono::microseconds{2'500'000}), "2.5 s");
}

TEST(DemoReportTest, APercentileIsAValueThatOccurred) {
  using std::chrono::microseconds;
  std::vector<microseconds> sorted;
  EXPECT_EQ(percentile(sorted, 0.5), microseconds{0});
  for (int i = 1; i <= 100; ++i)
    sorted.emplace_back(i);
  EXPECT_EQ(percentile(sorted, 0.5), microseconds{50});
  EXPECT_EQ(percentile(sorted, 0.99), microseconds{99});
  EXPECT_EQ(percentile(sorted, 1), microseconds{100});
  EXPECT_EQ(percentile(std::span{sorted}.first(1), 0.99), microseconds{1});
}

TEST(DemoReportTest, CountsOfNothingAreLeftOut) {
  EXPECT_EQ(listed({{"a", 2}, {"b", 0}, {"c", 1'000}}), "a 2, c 1,000");
}

} // namespace weir::apps
