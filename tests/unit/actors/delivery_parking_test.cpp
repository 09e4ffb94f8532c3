#include "actors/consumer/limits.hpp"
#include "actors/support/limits.hpp"
#include "delivery_world.hpp"

#include <algorithm>

// api.md, Acks: a DID that does not ack is parked, and others continue.
namespace weir::tests {

namespace {

using storage::op_id;
using namespace std::chrono_literals;
using ids = std::vector<op_id>;

actors::delivery_options attempts_of(uint32_t count) {
  actors::delivery_options out;
  out.attempts_max = count;
  return out;
}

} // namespace

// The same run has the same order, wherever its lanes are in memory.
TEST(DeliveryParking, LanesThatWaitForTheSameMomentAreInTheOrderOfTheirDids) {
  for (const auto* made : {"abc", "cba"}) {
    std::deque<actors::delivery_lane> lanes;
    std::set<actors::sleeping_lane> all;
    for (const char* x = made; *x != 0; ++x)
      for (const auto facts : {true, false})
        all.insert({steady_time{*x == 'b' ? 1 : 2},
                    &lanes.emplace_back(
                      atproto::did::trusted(std::string{"did:plc:"} + *x),
                      facts)});
    std::string order;
    for (const auto& x : all)
      order += x.lane->repo.str().back() + std::string{x.lane->facts ? "! " : " "};
    EXPECT_EQ(order, "b b! a a! c c! ") << made;
  }
}

TEST(DeliveryParking, AnUnackedEventComesAgainAfterTheTimeout) {
  delivery_world x;
  x.connect(1);
  x.append(ann);
  x.publish();
  x.pass(limits::consumer_retry_timeout - 1us);
  EXPECT_EQ(x.times_sent(1), 1u);
  x.pass(1us);
  EXPECT_EQ(x.times_sent(1), 2u);
  EXPECT_TRUE(x.sent.back().again);
  x.ack(1);
  x.pass(1h);
  EXPECT_EQ(x.times_sent(1), 2u);
}

// Erased events are not in the DID's part of the log any more.
TEST(DeliveryParking, WhatIsErasedMeanwhileHoldsUpNoPosition) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 3);
  x.publish();
  x.append(ann, 2);
  x.append(bob);
  x.publish();
  const auto gone = x.append_deletion(ann);
  x.sweep(ann);
  x.publish();
  x.pass(limits::consumer_retry_timeout);
  x.ack_all();
  x.pass(limits::consumer_retry_timeout);
  EXPECT_EQ(x.written_position(), gone);
  EXPECT_EQ(x.machine->backlog(), 0u);
}

TEST(DeliveryParking, EachFurtherWaitIsLonger) {
  delivery_world x;
  x.connect(1);
  x.append(ann);
  x.publish();
  std::vector<std::chrono::seconds> at;
  for (auto time = 0s; time < 2h; time += 1s) {
    if (x.sent.size() > at.size())
      at.push_back(time);
    x.pass(1s);
  }
  ASSERT_GE(at.size(), 7u);
  EXPECT_EQ((std::vector(at.begin(), at.begin() + 7)),
            (std::vector<std::chrono::seconds>{0s, 60s, 180s, 360s, 660s, 1200s,
                                               1860s}));
}

TEST(DeliveryParking, OneDidThatNeverAcksDoesNotStopTenThousandEvents) {
  delivery_world x;
  x.connect(1);
  size_t others = 0;
  const auto write = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (i % 10 == 0)
        x.append(ann);
      x.append(did_number(100 + i % 50), 1, i % 3 != 0);
      ++others;
    }
    x.publish();
  };
  write(5000);
  for (int i = 0; i < 200; ++i) {
    x.ack_all({ann});
    x.pass(1s);
  }
  x.restart_written();
  x.connect(1);
  write(5000);
  for (int i = 0; i < 200; ++i) {
    x.ack_all({ann});
    x.pass(1s);
  }
  EXPECT_EQ(others, 10'000u);
  EXPECT_EQ(x.acked.size(), others);
  EXPECT_TRUE(x.letters.empty());
  EXPECT_LE(x.machine->remembered(), 2u);
  EXPECT_EQ(x.machine->backlog(), 1000u);
  // As soon as it acks, everything of it follows.
  x.pass(limits::consumer_retry_delay_max);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
  EXPECT_EQ(x.machine->lanes(), 0u);
}

TEST(DeliveryParking, OnlyTheFirstEventIsTriedAgain) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 10, false);
  x.publish();
  ASSERT_EQ(x.sent.size(), 10u);
  x.pass(60s);
  EXPECT_EQ(x.sent.size(), 11u);
  EXPECT_EQ(x.sent.back().id, 1u);
  EXPECT_EQ(x.machine->events(), 1u);
  x.ack(1);
  // It acks again, so the rest may be sent together.
  EXPECT_EQ(x.sent.size(), 20u);
}

TEST(DeliveryParking, LateAcksOfParkedEventsCount) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 10, false);
  x.publish();
  x.ack(10);
  x.pass(60s);
  for (const op_id id : {4, 5, 6})
    x.ack(id);
  x.ack(1);
  EXPECT_EQ(x.times_sent(4), 1u);
  EXPECT_EQ(x.times_sent(10), 1u);
  EXPECT_EQ(x.times_sent(7), 2u);
  x.ack_all();
  EXPECT_EQ(x.written_position(), 10u);
  EXPECT_EQ(x.machine->remembered(), 0u);
}

TEST(DeliveryParking, ALateAckEndsTheWaitForTheNextAttempt) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 2);
  x.publish();
  x.pass(130s); // Sent twice, and waiting for the third time.
  ASSERT_EQ(x.times_sent(1), 2u);
  x.ack(1);
  EXPECT_EQ(x.times_sent(2), 1u);
}

TEST(DeliveryParking, ALateAckOfTheFirstLetsTheRestFlyTogether) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 10, false);
  x.publish();
  x.pass(130s);
  ASSERT_EQ(x.sent.size(), 11u);
  x.ack(1);
  EXPECT_EQ(x.sent.size(), 20u);
}

TEST(DeliveryParking, WhatIsAckedNeedNotBeRemembered) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 10, false);
  x.publish();
  x.pass(130s);
  EXPECT_EQ(x.machine->remembered(), 11u);
  x.disconnect(1);
  for (op_id id = 2; id <= 6; ++id)
    x.ack(id);
  EXPECT_EQ(x.machine->remembered(), 6u);
}

TEST(DeliveryParking, ADidThatCatchesUpGetsItsShareOfAFullWindow) {
  actors::delivery_options settings;
  settings.events_max = 8;
  delivery_world x{settings};
  x.connect(1);
  const auto first = x.append(ann, 20, false);
  for (size_t i = 0; i < 1000; ++i)
    x.append(did_number(100 + i));
  x.publish();
  x.pass(61s); // No event is acked: all that were sent are parked.
  x.ack(first);
  // The other DIDs have enough events to fill the window at any time.
  for (int i = 0; i < 300; ++i)
    x.ack(x.unacked.rbegin()->first);
  EXPECT_GT(x.times_sent(first + 19), 0u);
}

TEST(DeliveryParking, ANewConnectionTriesParkedDidsAtOnce) {
  delivery_world x;
  x.connect(1);
  x.append(ann);
  x.publish();
  x.pass(600s); // They wait for a long time.
  const auto before = x.sent.size();
  x.disconnect(1);
  x.connect(2);
  EXPECT_EQ(x.sent.size(), before + 1);
}

TEST(DeliveryParking, AClientThatIsSlowIsNotSentEverythingAgain) {
  delivery_world x;
  x.connect(1);
  for (size_t i = 0; i < 500; ++i)
    x.append(did_number(i));
  x.publish();
  for (op_id id = 1; id <= 500; ++id) {
    x.pass(1s); // The last one waits 500 s.
    x.ack(id);
  }
  EXPECT_EQ(x.sent.size(), 500u);
}

TEST(DeliveryParking, AnEventThatIsLeftOutIsNoticedWhileOthersAreAcked) {
  delivery_world x;
  x.connect(1);
  for (size_t i = 0; i < 500; ++i)
    x.append(did_number(i));
  x.publish();
  for (op_id id = 1; id <= 100; ++id) {
    x.pass(1s);
    if (id != 7)
      x.ack(id);
  }
  EXPECT_EQ(x.times_sent(7), 2u);
  EXPECT_EQ(x.sent.size(), 501u);
}

TEST(DeliveryParking, AfterTheLastAttemptTheEventIsADeadLetter) {
  delivery_world x{attempts_of(3)};
  x.connect(1);
  x.append(ann, 2);
  x.publish();
  for (int i = 0; i < 600 && x.times_sent(2) == 0; ++i)
    x.pass(1s);
  EXPECT_EQ(x.times_sent(1), 3u);
  ASSERT_TRUE(x.letters.contains(1));
  EXPECT_EQ(x.letters[1].attempts, 3u);
  EXPECT_FALSE(x.letters[1].reason.empty());
  EXPECT_TRUE(x.letters[1].uri.starts_with("at://" + ann + '/'))
    << x.letters[1].uri;
  EXPECT_EQ(x.written_position(), 1u);
  x.ack(2);
  EXPECT_EQ(x.written_position(), 2u);
  EXPECT_EQ(x.letters.size(), 1u);
  // No event of it is sent after a restart.
  x.restart_written();
  x.connect(1);
  EXPECT_TRUE(x.sent.empty());
}

TEST(DeliveryParking, TheDefaultIsTwentyAttempts) {
  delivery_world x;
  x.connect(1);
  x.append(ann);
  x.publish();
  x.pass(24h);
  EXPECT_EQ(x.times_sent(1), limits::consumer_attempts_max);
  EXPECT_EQ(x.letters.size(), 1u);
  EXPECT_FALSE(x.timer);
}

TEST(DeliveryParking, WithoutAnEndOfAttemptsNothingIsGivenUp) {
  delivery_world x{attempts_of(0)};
  x.connect(1);
  x.append(ann);
  x.publish();
  x.pass(24h);
  EXPECT_GT(x.times_sent(1), 2 * limits::consumer_attempts_max);
  EXPECT_TRUE(x.letters.empty());
  x.ack(1);
  EXPECT_EQ(x.written_position(), 1u);
}

TEST(DeliveryParking, AConnectionThatBreaksIsNoAttempt) {
  delivery_world x{attempts_of(2)};
  x.append(ann);
  x.publish();
  for (actors::session_id id = 1; id <= 50; ++id) {
    x.connect(id);
    x.pass(10s);
    x.disconnect(id);
  }
  EXPECT_EQ(x.sent.size(), 50u);
  EXPECT_TRUE(x.letters.empty());
}

TEST(DeliveryParking, AParkedDidLosesNothingWhileTheLogGoesOn) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 3);
  x.publish();
  x.pass(61s);
  for (int i = 0; i < 500; ++i) {
    x.append(ann, 1 + static_cast<size_t>(i % 3), i % 2 == 0);
    x.append(bob);
    x.publish();
    x.ack_all({ann});
  }
  x.pass(limits::consumer_retry_delay_max);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
  EXPECT_EQ(x.machine->lanes(), 0u);
  auto order = x.sent_ids();
  std::erase_if(order, [&](op_id id) {
    return x.did_of(id) != ann;
  });
  order.erase(std::unique(order.begin(), order.end()), order.end());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(DeliveryParking, ParkedDidsAreRememberedUpToABound) {
  auto settings = attempts_of(5);
  settings.parked_max = 100;
  settings.events_max = 50;
  delivery_world x{settings};
  x.connect(1);
  for (size_t i = 0; i < 400; ++i)
    x.append(did_number(i));
  x.publish();
  size_t most = 0;
  for (int i = 0; i < 20'000 && x.letters.size() < 400; ++i) {
    x.pass(10s);
    most = std::max(most, x.machine->remembered());
    ASSERT_LE(x.machine->events(), settings.events_max);
  }
  EXPECT_LE(most, settings.parked_max);
  EXPECT_GE(most, settings.parked_max / 2);
  // No event was acked: all ended as dead letters, and none was skipped.
  EXPECT_EQ(x.letters.size(), 400u);
  EXPECT_EQ(x.written_position(), 400u);
}

TEST(DeliveryParking, SparseRangesHaveABound) {
  actors::delivery_options settings;
  settings.ranges_max = 50;
  settings.events_max = 20;
  // A DID of which nothing was sent has no limit of attempts.
  settings.attempts_max = 0;
  delivery_world x{settings};
  x.connect(1);
  x.append(ann);
  x.publish();
  x.pass(61s);
  for (size_t i = 0; i < 200; ++i) {
    x.append(ann);
    x.append(bob);
    x.publish();
    x.pass(1s);
    x.ack_all({ann});
  }
  EXPECT_LE(x.machine->ranges(), settings.ranges_max + settings.events_max);
  EXPECT_GT(x.letters.size(), 100u);
  EXPECT_LT(x.letters.size(), 200u);
  for (const auto& [id, letter] : x.letters) {
    EXPECT_EQ(letter.attempts, 0u);
    EXPECT_EQ(letter.did, ann);
    EXPECT_TRUE(letter.uri.starts_with("at://" + ann + '/')) << letter.uri;
    EXPECT_TRUE(letter.reason.starts_with("more events wait")) << letter.reason;
  }
  x.pass(limits::consumer_retry_delay_max);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
  for (op_id id = 1; id <= x.last(); ++id)
    EXPECT_NE(x.acked.contains(id), x.letters.contains(id)) << id;
}

} // namespace weir::tests
