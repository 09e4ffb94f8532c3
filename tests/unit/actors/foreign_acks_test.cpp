#include "actors/consumer/foreign_acks.hpp"
#include "actors/consumer/refused_acks.hpp"

#include <gtest/gtest.h>

namespace weir::actors {

// limits::foreign_ack_interval
TEST(ForeignAcksTest, OneInAMinuteIsAnAlarmAndEachIsCounted) {
  foreign_acks x;
  const steady_time begin{5'000'000};
  EXPECT_TRUE(x.note("channel", 900, 700, begin));
  EXPECT_FALSE(x.note("channel", 901, 700, begin));
  const std::chrono::microseconds just_before{
    limits::foreign_ack_interval - std::chrono::microseconds{1}};
  EXPECT_FALSE(x.note("channel", 902, 700, begin + just_before));
  EXPECT_TRUE(x.note("channel", 903, 700, begin + limits::foreign_ack_interval));
  EXPECT_EQ(x.count(), 4u);
}

// limits::refused_ack_interval
TEST(RefusedAcksTest, OneInAMinuteIsAWarningAndEachIsCounted) {
  refused_acks x;
  const steady_time begin{5'000'000};
  EXPECT_TRUE(x.note("channel", "an ack without an id", begin));
  const std::chrono::microseconds just_before{
    limits::refused_ack_interval - std::chrono::microseconds{1}};
  EXPECT_FALSE(x.note("channel", "an ack without an id", begin + just_before));
  EXPECT_TRUE(x.note("channel", "an ack without an id",
                     begin + limits::refused_ack_interval));
  EXPECT_EQ(x.count(), 3u);
}

} // namespace weir::actors
