#include "base/token_bucket.hpp"

#include <gtest/gtest.h>

namespace weir {

namespace {

using namespace std::chrono_literals;

constexpr steady_time start{1'000'000};

} // namespace

TEST(TokenBucketTest, ABurstPassesAndThenTheRateRules) {
  token_bucket bucket{10, 3};
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(bucket.take(start));
  EXPECT_FALSE(bucket.take(start));
  EXPECT_FALSE(bucket.take(start + 99ms));
  EXPECT_TRUE(bucket.take(start + 100ms));
  EXPECT_FALSE(bucket.take(start + 100ms));
}

TEST(TokenBucketTest, SavingStopsAtTheBurst) {
  token_bucket bucket{1'000, 2};
  auto later = start + 1h;
  EXPECT_TRUE(bucket.take(later, 2));
  EXPECT_FALSE(bucket.take(later));
}

TEST(TokenBucketTest, TheDelayIsExactlyWhatTakeNeeds) {
  token_bucket bucket{3, 1};
  auto now = start;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(bucket.take(now));
    auto wait = bucket.delay(now);
    EXPECT_GT(wait, 333ms);
    EXPECT_LE(wait, 334ms);
    EXPECT_FALSE(bucket.take(now + (wait - 2us)));
    now = now + wait;
    EXPECT_EQ(bucket.delay(now), 0us);
  }
}

TEST(TokenBucketTest, ADebtIsTakenAtOnceUpToItsBoundAndPaidOff) {
  token_bucket bucket{10, 10};
  bucket.charge(start, 25, 20);
  EXPECT_EQ(bucket.level(start), -15);
  bucket.charge(start, 25, 20);
  EXPECT_EQ(bucket.level(start), -20);
  EXPECT_FALSE(bucket.take(start + 2s));
  EXPECT_TRUE(bucket.take(start + 2100ms));
}

TEST(TokenBucketTest, ASmallerBoundForgivesNothing) {
  token_bucket bucket{10, 10};
  bucket.charge(start, 30, 20);
  bucket.charge(start, 1, 5);
  EXPECT_EQ(bucket.level(start), -20);
}

TEST(TokenBucketTest, ARequestAboveTheBurstPassesWhenFullAndIsPaidOff) {
  token_bucket bucket{1, 10};
  EXPECT_TRUE(bucket.take(start, 30));
  EXPECT_FALSE(bucket.take(start + 20s));
  EXPECT_TRUE(bucket.take(start + 21s));
  EXPECT_FALSE(bucket.take(start + 25s, 30));
}

TEST(TokenBucketTest, ARateOfZeroNeverRefills) {
  token_bucket bucket{0, 1};
  EXPECT_TRUE(bucket.take(start));
  EXPECT_FALSE(bucket.take(start + 1000h));
  EXPECT_EQ(bucket.delay(start), 24h);
}

TEST(TokenBucketTest, TimeThatGoesBackGivesNothing) {
  token_bucket bucket{1, 1};
  EXPECT_TRUE(bucket.take(start + 1h));
  EXPECT_FALSE(bucket.take(start));
  EXPECT_TRUE(bucket.take(start + 1h + 1s));
}

TEST(TokenBucketTest, ANewRateKeepsWhatIsSaved) {
  token_bucket bucket{1, 10};
  EXPECT_TRUE(bucket.take(start, 5));
  bucket.set_rate(start, 100, 4);
  EXPECT_TRUE(bucket.take(start, 4));
  EXPECT_FALSE(bucket.take(start));
  EXPECT_TRUE(bucket.take(start + 10ms));
}

} // namespace weir
