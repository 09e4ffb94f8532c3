#include "actors/consumer/backlog_age.hpp"
#include "actors/consumer/limits.hpp"
#include "tests/unit/actors/delivery_world.hpp"

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

// What is unread counts from when it may be delivered; a store that fails
// changes nothing.
TEST(backlog_age, what_was_read_is_judged_by_the_machine) {
  tests::delivery_world x;
  x.append(tests::did_number(1));
  x.publish();
  const auto first = x.machine->oldest_due();
  ASSERT_TRUE(first.unread);
  backlog_age age;
  ASSERT_TRUE(age.see(first, x.now));
  age.on_read({first.id, x.last(), fail(ec::storage_failure)}, *x.machine,
              x.now);
  EXPECT_EQ(age.written_us(), 0);
  ASSERT_TRUE(age.see(first, x.now + limits::unread_look_interval));
  age.on_read({first.id, x.last(), x.read_log(first.id - 1)}, *x.machine,
              x.now);
  EXPECT_EQ(age.written_us(), x.now.micros);
}

TEST(backlog_age, what_may_not_be_delivered_gives_no_age) {
  tests::delivery_world x;
  x.append(tests::did_number(1));
  x.publish();
  x.set_active(tests::did_number(1), false);
  const auto first = x.machine->oldest_due();
  backlog_age age;
  ASSERT_TRUE(age.see(first, x.now));
  age.on_read({first.id, x.last(), x.read_log(first.id - 1)}, *x.machine,
              x.now);
  EXPECT_EQ(age.written_us(), 0);
}

// The machine has read on meanwhile: only the date of the entry is of use.
TEST(backlog_age, another_event_than_the_oldest_is_only_dated) {
  tests::delivery_world x;
  x.append(tests::did_number(1));
  x.publish();
  x.connect(1);
  x.ack(1);
  ASSERT_FALSE(x.machine->oldest_due().unread);
  backlog_age age;
  age.on_read({1, 1, x.read_log(0)}, *x.machine, x.now);
  EXPECT_EQ(age.written_us(), x.entry_of(1)->written_us);
  EXPECT_NE(age.written_us(), 0);
}

} // namespace weir::actors
