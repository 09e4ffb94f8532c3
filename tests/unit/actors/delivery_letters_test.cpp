#include "actors/consumer/limits.hpp"
#include "actors/support/limits.hpp"
#include "delivery_world.hpp"

#include <algorithm>

// Dead letters are delivered again or dropped, and the backlog is counted in
// events and seconds.
namespace weir::tests {

namespace {

using actors::letter_wish;
using storage::op_id;
using namespace std::chrono_literals;
using letter_ids = std::vector<op_id>;
using enum letter_wish::fate;

/// A world with a client that has given up ann's first event.
struct with_letter : delivery_world {
  explicit with_letter(actors::delivery_options settings = {})
    : delivery_world([&] {
        settings.attempts_max = 2;
        return settings;
      }()) {
    connect(1);
    append(ann);
    publish();
    give_up();
    unacked.erase(1);
  }

  letter_ids sorted_ids() const {
    auto out = sent_ids();
    std::ranges::sort(out);
    return out;
  }

  /// Lets the ack time of the last event pass twice.
  void give_up() {
    pass(limits::consumer_retry_timeout);
    pass(limits::consumer_retry_timeout);
  }

  void settle_all() {
    while (answer_one(0)) {
    }
  }
};

} // namespace

TEST(DeliveryLetters, ARetriedOneComesWithItsIdAndItsAckEndsIt) {
  with_letter x;
  ASSERT_TRUE(x.letters.contains(1));
  EXPECT_EQ(x.machine->dead_letters(), 1u);
  EXPECT_EQ(x.machine->backlog(), 0u);
  const auto done = x.decide({1}, deliver);
  x.settle_all();
  EXPECT_EQ(done.done, letter_ids{1});
  EXPECT_TRUE(x.letters.empty());
  EXPECT_EQ(x.machine->dead_letters(), 0u);
  EXPECT_EQ(x.times_sent(1), 3u);
  EXPECT_EQ(x.machine->backlog(), 1u);
  EXPECT_EQ(x.written_position(), 0u);
  x.ack(1);
  EXPECT_EQ(x.written_position(), 1u);
  EXPECT_EQ(x.machine->backlog(), 0u);
  EXPECT_EQ(x.machine->lanes(), 0u);
  x.pass(1h);
  EXPECT_EQ(x.times_sent(1), 3u);
}

// limits::acks_write_wait
TEST(DeliveryLetters, AcksWaitToBeWrittenAndDecisionsDoNot) {
  with_letter x;
  x.append(bob, 2);
  x.publish();
  x.settle_all();
  ASSERT_EQ(x.written_position(), 1u);
  x.disk_is_slow = true;
  x.ack(2);
  x.pass(limits::acks_write_wait - 1us);
  EXPECT_FALSE(x.rows);
  x.pass(1us);
  ASSERT_TRUE(x.rows);
  x.disk_is_slow = false;
  x.settle_all();
  x.disk_is_slow = true;
  x.decide({1}, deliver);
  ASSERT_TRUE(x.rows) << "a dead letter is taken back";
  x.disk_is_slow = false;
  x.settle_all();
  x.disk_is_slow = true;
  x.give_up();
  EXPECT_TRUE(x.rows) << "an event becomes a dead letter";
}

TEST(DeliveryLetters, OneThatFailsAgainIsADeadLetterAgainAfterAsManyTries) {
  with_letter x;
  x.decide({1}, deliver);
  x.settle_all();
  x.pass(limits::consumer_retry_timeout);
  EXPECT_FALSE(x.letters.contains(1)) << "after one try";
  x.pass(limits::consumer_retry_timeout);
  ASSERT_TRUE(x.letters.contains(1));
  EXPECT_EQ(x.letters.at(1).attempts, 2u);
  EXPECT_EQ(x.times_sent(1), 4u);
  EXPECT_EQ(x.machine->dead_letters(), 1u);
}

TEST(DeliveryLetters, ARestartForgetsNoneThatWasWanted) {
  with_letter x;
  x.append(bob, 3);
  x.publish();
  x.ack_all();
  x.disconnect(1);
  x.decide({1}, deliver);
  x.settle_all();
  EXPECT_FALSE(x.stored_as_acked(1));
  EXPECT_TRUE(x.written_as_acked(4));
  x.restart_written();
  EXPECT_EQ(x.machine->backlog(), 1u);
  x.connect(2);
  EXPECT_EQ(x.sent_ids(), letter_ids{1});
  x.ack(1, 2);
  EXPECT_EQ(x.written_position(), 4u);
}

TEST(DeliveryLetters, WhatIsNotWrittenDownIsADeadLetterStill) {
  with_letter x;
  x.disk_is_slow = true;
  x.decide({1}, deliver);
  x.restart_written();
  x.connect(2);
  EXPECT_TRUE(x.sent_ids().empty());
  EXPECT_EQ(x.machine->dead_letters(), 1u);
}

TEST(DeliveryLetters, LaterEventsOfItsDidWaitForIt) {
  with_letter x;
  x.append(ann, 2); // 2 and 3.
  x.publish();
  EXPECT_EQ(x.sent_ids().back(), 2u);
  x.decide({1}, deliver);
  x.settle_all();
  EXPECT_EQ(x.sent_ids().back(), 1u);
  x.ack(2); // It was on its way, and counts.
  EXPECT_EQ(x.sent_ids().back(), 1u) << "3 overtook it";
  x.ack(1);
  EXPECT_EQ(x.sent_ids().back(), 3u);
  x.ack(3);
  EXPECT_EQ(x.written_position(), 3u);
  EXPECT_EQ(x.times_sent(2), 1u);
}

TEST(DeliveryLetters, NothingOfItsDidIsSentWhileSomebodyLooks) {
  with_letter x;
  x.machine->watch({atproto::did::trusted(ann)});
  x.append(ann); // 2
  x.append(bob); // 3
  x.publish();
  EXPECT_EQ(x.sent_ids().back(), 3u);
  EXPECT_EQ(x.times_sent(2), 0u);
  x.decide({1}, outdated);
  x.settle_all();
  EXPECT_EQ(x.sent_ids().back(), 2u);
  EXPECT_EQ(x.times_sent(1), 2u);
}

TEST(DeliveryLetters, WhatIsReadyToBeSentWaitsWhileSomebodyLooks) {
  with_letter x;
  x.append(ann); // 2
  x.publish();
  x.disconnect(1);
  x.machine->watch({atproto::did::trusted(ann)});
  x.connect(2);
  EXPECT_EQ(x.times_sent(2), 1u);
  x.decide({1}, outdated);
  x.settle_all();
  EXPECT_EQ(x.times_sent(2), 2u);
}

TEST(DeliveryLetters, DroppedAndOutdatedOnesLeaveNothing) {
  with_letter x;
  x.append(ann);
  x.publish();
  x.give_up();
  ASSERT_EQ(x.letters.size(), 2u);
  EXPECT_EQ(x.decide({1}, drop).done, letter_ids{1});
  x.settle_all();
  EXPECT_EQ(x.decide({2}, outdated).outdated, letter_ids{2});
  x.settle_all();
  EXPECT_TRUE(x.letters.empty());
  EXPECT_EQ(x.machine->dead_letters(), 0u);
  EXPECT_EQ(x.machine->backlog(), 0u);
  EXPECT_EQ(x.written_position(), 2u);
  x.restart_written();
  x.connect(2);
  EXPECT_TRUE(x.sent_ids().empty());
}

TEST(DeliveryLetters, OneThatIsOnItsWayIsNone) {
  with_letter x;
  x.decide({1}, deliver);
  x.settle_all();
  EXPECT_EQ(x.decide({1}, deliver).unknown, letter_ids{1});
  EXPECT_EQ(x.decide({1}, drop).unknown, letter_ids{1});
  EXPECT_EQ(x.machine->dead_letters(), 0u);
}

TEST(DeliveryLetters, WhatMayNotBeToldAnyMoreIsOutdated) {
  with_letter x;
  x.append_deletion(ann);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.decide({1}, deliver).outdated, letter_ids{1});
  x.settle_all();
  EXPECT_EQ(x.times_sent(1), 2u);
  EXPECT_EQ(x.machine->dead_letters(), 0u);
}

TEST(DeliveryLetters, OneOfAnAccountThatIsAwayWaitsForIt) {
  with_letter x;
  x.append_account(ann, false);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.decide({1}, deliver).done, letter_ids{1});
  x.settle_all();
  EXPECT_EQ(x.times_sent(1), 2u);
  EXPECT_EQ(x.machine->backlog(), 1u);
  EXPECT_EQ(x.machine->oldest_due().id, 0u) << "nobody could have it";
  x.append_account(ann, true);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.times_sent(1), 3u);
  EXPECT_EQ(x.machine->backlog(), 0u);
}

TEST(DeliveryLetters, OneThatThisLifeHasNotReadYetComesWithTheLog) {
  with_letter x;
  // 2 and 3 are never acked, so the position stays below them.
  x.append(bob, 2);
  x.append(ann); // 4
  x.publish();
  x.ack(4);
  x.append(ann); // 5
  x.publish();
  x.restart_written();
  EXPECT_EQ(x.decide({1}, deliver).done, letter_ids{1});
  x.settle_all();
  x.connect(2);
  EXPECT_EQ(x.sorted_ids(), (letter_ids{1, 2}));
  EXPECT_EQ(x.machine->backlog(), 4u);
  x.ack_all();
  EXPECT_EQ(x.written_position(), 5u);
  EXPECT_EQ(x.machine->backlog(), 0u);
}

// delivery_options::ranges_max: half of it is for events that are requested
// again.
TEST(DeliveryLetters, WithoutRoomToRememberItOneIsLeft) {
  actors::delivery_options settings;
  settings.ranges_max = 4;
  with_letter x{settings};
  x.append(bob); // 2
  x.publish();
  x.ack(2);
  x.append(ann); // 3
  x.publish();
  x.give_up();
  ASSERT_TRUE(x.letters.contains(3));
  x.append(did_number(10)); // 4 is a hole.
  x.append(bob);            // 5
  x.publish();
  x.ack(5);
  ASSERT_EQ(x.machine->ranges(), 1u);
  const auto result = x.decide({1, 3}, deliver);
  x.settle_all();
  EXPECT_EQ(result.done, letter_ids{1});
  EXPECT_EQ(result.left, letter_ids{3});
  EXPECT_EQ(x.machine->ranges(), 2u);
  EXPECT_TRUE(x.letters.contains(3));
  EXPECT_EQ(x.machine->dead_letters(), 1u);
}

// -- what is due --------------------------------------------------------------

TEST(DeliveryDue, CommitsAreNoEvents) {
  delivery_world x;
  for (int i = 0; i < 50; ++i) {
    x.append_commit(ann);
    x.append(ann);
  }
  x.publish();
  EXPECT_EQ(x.machine->backlog(), 50u) << "nobody is here";
  x.connect(1);
  EXPECT_EQ(x.machine->backlog(), 50u);
  x.ack(2);
  EXPECT_EQ(x.machine->backlog(), 49u);
  x.restart_written();
  EXPECT_EQ(x.machine->backlog(), 49u);
  x.connect(2);
  x.ack_all();
  EXPECT_EQ(x.machine->backlog(), 0u);
  x.append_commit(ann);
  x.publish();
  EXPECT_EQ(x.machine->backlog(), 0u);
}

TEST(DeliveryDue, AcksBehindHolesCountOverARestart) {
  delivery_world x;
  x.connect(1);
  x.append(ann); // 1 is never acked.
  for (int i = 0; i < 10; ++i) {
    x.append_commit(bob);
    x.append(bob);
  }
  x.publish();
  x.ack_all({ann});
  EXPECT_EQ(x.machine->backlog(), 1u);
  x.restart_written();
  EXPECT_EQ(x.machine->backlog(), 1u);
}

/// An application may ack an id that is not an event; that is seen when the id
/// is read.
TEST(DeliveryDue, AnAckOfNoEventIsMadeGood) {
  delivery_world x;
  x.append(ann);
  x.append_commit(ann);
  x.append(bob);
  x.publish();
  x.restart_written();
  x.carry(x.machine->on_acks(1, letter_ids{2}, x.now));
  EXPECT_EQ(x.machine->backlog(), 1u) << "one too few";
  x.connect(1);
  EXPECT_EQ(x.machine->backlog(), 2u);
  EXPECT_EQ(x.sent.size(), 2u);
  x.ack_all();
  EXPECT_EQ(x.machine->backlog(), 0u);
}

TEST(DeliveryDue, WhatTheFilterLeavesOutCountsUntilItIsRead) {
  delivery_world x{[] {
    actors::delivery_options out;
    out.filter = *wire::collection_filter::parse({"app.bsky.feed.post"});
    return out;
  }()};
  x.append(ann, 3, false, "app.bsky.feed.like");
  x.append(ann, 2, false);
  x.publish();
  EXPECT_EQ(x.machine->backlog(), 5u);
  x.connect(1);
  EXPECT_EQ(x.machine->backlog(), 2u);
}

TEST(DeliveryDue, TheOldestIsTheFirstThatMayBeDelivered) {
  delivery_world x;
  EXPECT_EQ(x.machine->oldest_due().id, 0u);
  const auto first = x.now.micros;
  x.append(ann);
  x.now = x.now + 5s;
  x.append(bob);
  x.publish();
  EXPECT_EQ(x.machine->oldest_due().id, 1u);
  EXPECT_EQ(x.machine->oldest_due().written_us, 0) << "it was not read";
  x.connect(1);
  EXPECT_EQ(x.machine->oldest_due().written_us, first);
  x.ack(1);
  EXPECT_EQ(x.machine->oldest_due().id, 2u);
  EXPECT_EQ(x.machine->oldest_due().written_us, first + 5'000'000);
  x.ack(2);
  EXPECT_EQ(x.machine->oldest_due().id, 0u);
  x.append_commit(ann);
  x.publish();
  EXPECT_EQ(x.machine->oldest_due().id, 0u);
}

TEST(DeliveryDue, AParkedDidIsTheOldestUntilItIsAcked) {
  delivery_world x;
  x.connect(1);
  x.append(ann);
  x.append(bob);
  x.publish();
  x.ack(2);
  x.pass(limits::consumer_retry_timeout * 3);
  EXPECT_EQ(x.machine->oldest_due().id, 1u);
  x.ack(1);
  EXPECT_EQ(x.machine->oldest_due().id, 0u);
}

} // namespace weir::tests
