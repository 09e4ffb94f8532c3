#include "actors/consumer/limits.hpp"
#include "actors/consumer/consumer_lines.hpp"

#include <gtest/gtest.h>

namespace weir::actors {

namespace {

constexpr steady_time begin{5'000'000};
constexpr std::chrono::microseconds moment{1};

} // namespace

// limits::foreign_ack_interval
TEST(UselessAcksTest, OneForeignAckInAMinuteIsAnAlarmAndEachIsCounted) {
  useless_acks x;
  const auto next = begin + limits::foreign_ack_interval;
  EXPECT_TRUE(x.note_foreign("channel", 900, 700, begin));
  EXPECT_FALSE(x.note_foreign("channel", 901, 700, begin));
  EXPECT_FALSE(x.note_foreign("channel", 902, 700, next + -moment));
  EXPECT_TRUE(x.note_foreign("channel", 903, 700, next));
  EXPECT_EQ(x.foreign(), 4u);
  EXPECT_EQ(x.bad(), 0u);
}

// limits::refused_ack_interval; those of the other kind do not count
TEST(UselessAcksTest, OneThatIsNoneInAMinuteIsAWarningAndEachIsCounted) {
  useless_acks x;
  const auto next = begin + limits::refused_ack_interval;
  x.note_foreign("channel", 900, 700, begin);
  EXPECT_TRUE(x.note_bad("channel", "an ack without an id", begin));
  EXPECT_FALSE(x.note_bad("channel", "an ack without an id", next + -moment));
  EXPECT_TRUE(x.note_bad("channel", "an ack without an id", next));
  EXPECT_EQ(x.bad(), 3u);
  EXPECT_EQ(x.foreign(), 1u);
}

} // namespace weir::actors
