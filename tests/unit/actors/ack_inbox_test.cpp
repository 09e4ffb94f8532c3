#include "actors/support/ack_inbox.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <tuple>
#include <vector>

namespace weir::actors {

using events = std::vector<uint64_t>;

TEST(AckInboxTest, TheFirstAckWakesItsConsumerAndTheNextOnesDoNot) {
  ack_inbox x;
  EXPECT_TRUE(x.put(7));
  EXPECT_FALSE(x.put(5)) << "the CONSUMER is on its way";
  EXPECT_EQ(x.take(false).events, (events{7, 5})) << "in their order";
  EXPECT_TRUE(x.put(8));
}

TEST(AckInboxTest, AcksThatMayWaitWakeNobody) {
  ack_inbox x;
  EXPECT_TRUE(x.take(true).events.empty());
  EXPECT_FALSE(x.put(7));
  EXPECT_EQ(x.take(false).events, events{7});
  EXPECT_TRUE(x.put(8));
}

// limits::waiting_acks_max
TEST(AckInboxTest, AcksAboveTheLimitAreCountedAndDropped) {
  ack_inbox x;
  for (size_t i = 0; i < limits::waiting_acks_max; ++i)
    std::ignore = x.put(i);
  EXPECT_EQ(x.take(false).dropped, 0u);
  for (size_t i = 0; i <= limits::waiting_acks_max; ++i)
    std::ignore = x.put(i);
  const auto all = x.take(false);
  EXPECT_EQ(all.events.size(), limits::waiting_acks_max);
  EXPECT_EQ(all.dropped, 1u);
  EXPECT_EQ(x.take(false).dropped, 0u);
}

TEST(AckInboxTest, NoAckIsLostBetweenThreads) {
  constexpr uint64_t many = 100'000;
  ack_inbox x;
  std::thread connection{[&x] {
    for (uint64_t i = 0; i < many; ++i)
      std::ignore = x.put(i);
  }};
  uint64_t next = 0;
  while (next < many) {
    const auto some = x.take(next % 2 == 0);
    ASSERT_EQ(some.dropped, 0u);
    for (const auto id : some.events)
      ASSERT_EQ(id, next++);
  }
  connection.join();
}

} // namespace weir::actors
