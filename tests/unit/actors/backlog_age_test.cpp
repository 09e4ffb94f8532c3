#include "actors/consumer/backlog_age.hpp"
#include "actors/consumer/limits.hpp"

#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;

constexpr oldest_event unread{7, 0, true};

class BacklogAgeMachineTest : public testing::Test {
protected:
  BacklogAgeMachineTest() {
    EXPECT_TRUE(age.see(unread, now));
    EXPECT_FALSE(age.see(unread, now)) << "it is being read";
    age.on_read();
    age.set({7, 500, true}, now);
  }

  backlog_age age;
  steady_time now{1'000'000};
};

} // namespace

// limits::unread_look_interval and less
TEST_F(BacklogAgeMachineTest, WhatNobodyHasReadIsLookedAtAgain) {
  EXPECT_FALSE(age.see(unread, now));
  EXPECT_EQ(age.look_at(), now + limits::unread_look_interval);
  EXPECT_FALSE(age.see(unread, now + (limits::unread_look_interval - 1us)));
  EXPECT_EQ(age.written_us(), 500);
  EXPECT_TRUE(age.see(unread, now + limits::unread_look_interval));
  EXPECT_FALSE(age.look_at());
}

TEST_F(BacklogAgeMachineTest, AnotherOneIsLookedAtAtOnceAndWhatIsDatedIsNot) {
  EXPECT_FALSE(age.see({8, 900, false}, now));
  EXPECT_EQ(age.written_us(), 900);
  EXPECT_TRUE(age.see({9, 0, true}, now));
  age.on_read();
  EXPECT_FALSE(age.see({}, now));
  EXPECT_EQ(age.written_us(), 0);
}

// When the store cannot be read, the age of the backlog is not known.
TEST_F(BacklogAgeMachineTest, WhatCannotBeReadStaysAsOldAndIsTriedAgainLater) {
  ASSERT_TRUE(age.see(unread, now + limits::unread_look_interval));
  age.on_read();
  age.keep(7, now + limits::unread_look_interval);
  EXPECT_EQ(age.written_us(), 500);
  EXPECT_FALSE(age.see(unread, now + limits::unread_look_interval));
  EXPECT_TRUE(age.see(unread, now + 2 * limits::unread_look_interval));
}

// The event of a DID that is read separately: its date does not change.
TEST_F(BacklogAgeMachineTest, OneThatWasReadIsDatedOnce) {
  EXPECT_TRUE(age.see({9, 0, false}, now));
  age.on_read();
  age.set({9, 800}, now);
  EXPECT_FALSE(age.see({9, 0, false}, now + 2 * limits::unread_look_interval));
  EXPECT_FALSE(age.look_at());
}

} // namespace weir::actors
