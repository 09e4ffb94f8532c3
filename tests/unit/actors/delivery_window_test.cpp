#include "actors/consumer/limits.hpp"
#include "actors/support/limits.hpp"
#include "delivery_world.hpp"

#include <algorithm>

// architecture.md, Limits (log to consumer): everything in the window counts.
namespace weir::tests {

namespace {

using storage::op_id;
using namespace std::chrono_literals;

actors::delivery_options window_of(size_t events, size_t of_one_did = 64) {
  actors::delivery_options out;
  out.events_max = events;
  out.did_events_max = of_one_did;
  return out;
}

} // namespace

// While nothing waits for an ack, the shell may take acks later.
TEST(DeliveryWindow, AcksMayWaitUntilAnEventWaitsForThem) {
  delivery_world x;
  x.connect(1);
  EXPECT_TRUE(x.machine->acks_may_wait());
  x.append(ann);
  x.append(bob);
  x.publish();
  EXPECT_TRUE(x.machine->acks_may_wait()) << "both are in flight";
  x.append(ann);
  x.publish();
  EXPECT_FALSE(x.machine->acks_may_wait()) << "of one DID, one after another";
  x.ack(1);
  EXPECT_TRUE(x.machine->acks_may_wait());
}

TEST(DeliveryWindow, AcksMayNotWaitWhileTheWindowIsFull) {
  actors::delivery_options settings;
  settings.events_max = 2;
  delivery_world x{settings};
  x.connect(1);
  for (size_t i = 0; i < 3; ++i)
    x.append(did_number(i));
  x.publish();
  EXPECT_EQ(x.sent_ids().size(), 2u);
  EXPECT_FALSE(x.machine->acks_may_wait());
  x.ack(1);
  EXPECT_TRUE(x.machine->acks_may_wait());
}

TEST(DeliveryWindow, HasSoManyEventsAndNotOneMore) {
  delivery_world x;
  x.connect(1);
  for (size_t i = 0; i < 2 * limits::consumer_events_max; ++i)
    x.append(did_number(i));
  x.publish();
  EXPECT_EQ(x.sent.size(), limits::consumer_events_max);
  EXPECT_EQ(x.machine->events(), limits::consumer_events_max);
  x.ack(1);
  EXPECT_EQ(x.sent.size(), limits::consumer_events_max + 1);
  x.ack(5);
  EXPECT_EQ(x.machine->events(), limits::consumer_events_max);
}

TEST(DeliveryWindow, HasSoManyEventsOfOneDid) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 200, false);
  x.append(did_number(2));
  x.publish();
  EXPECT_EQ(x.sent.size(), limits::consumer_did_events_max);
  x.ack(1);
  EXPECT_EQ(x.sent.size(), limits::consumer_did_events_max + 1);
}

TEST(DeliveryWindow, OfADidSlidesInOrder) {
  delivery_world x{window_of(100, 4)};
  x.connect(1);
  x.append(did_number(1), 10, false);
  x.publish();
  // Acks after the first unacked event do not widen it.
  x.ack(2);
  x.ack(3);
  EXPECT_EQ(x.sent.size(), 4u);
  x.ack(1);
  EXPECT_EQ(x.sent.size(), 7u);
}

TEST(DeliveryWindow, LogEntriesAreHeldUpToItsBytesAndOneMore) {
  delivery_world x;
  x.connect(1);
  constexpr size_t body = 100'000;
  for (size_t i = 0; i < 400; ++i)
    x.append(did_number(i), 1, true, "app.bsky.feed.post", body);
  size_t most = 0;
  x.publish();
  while (!x.unacked.empty()) {
    most = std::max(most, x.machine->bytes());
    x.ack(x.unacked.begin()->first);
  }
  EXPECT_EQ(x.sent.size(), 400u);
  EXPECT_LE(most, limits::consumer_bytes_max);
  EXPECT_GT(most, limits::consumer_bytes_max / 2);
  EXPECT_EQ(x.machine->bytes(), 0u);
}

TEST(DeliveryWindow, AnEntryLargerThanItsBytesStillComes) {
  actors::delivery_options small;
  small.bytes_max = 1000;
  delivery_world x{small};
  x.connect(1);
  for (size_t i = 0; i < 5; ++i)
    x.append(did_number(i), 1, true, "app.bsky.feed.post", 2'000'000);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.sent.size(), 5u);
  EXPECT_EQ(x.written_position(), 5u);
}

TEST(DeliveryWindow, AFilteredEntryIsNotHeld) {
  actors::delivery_options likes;
  likes.filter = *wire::collection_filter::parse({"app.bsky.feed.like"});
  delivery_world x{likes};
  x.connect(1);
  for (size_t i = 0; i < 100; ++i)
    x.append(did_number(i), 1, true, "app.bsky.feed.post", 100'000);
  x.publish();
  EXPECT_EQ(x.machine->position(), 100u);
  EXPECT_EQ(x.machine->bytes(), 0u);
}

TEST(DeliveryWindow, TheLogIsNotReadWhileItIsFull) {
  delivery_world x{window_of(10)};
  x.connect(1);
  for (size_t i = 0; i < 1000; ++i)
    x.append(did_number(i));
  x.publish();
  const auto pages = x.pages_read;
  for (size_t i = 0; i < 100; ++i)
    x.publish();
  EXPECT_EQ(x.pages_read, pages);
}

TEST(DeliveryWindow, AllThatOneDidHasAtOnceDoesNotHoldUpOthersForLong) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 200, false);
  const auto wanted = x.append(bob);
  x.publish();
  // Ann acks slowly but never stops.
  for (int i = 0; i < 20; ++i) {
    x.pass(100ms);
    x.ack(x.unacked.begin()->first);
  }
  EXPECT_EQ(x.times_sent(wanted), 1u);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
  EXPECT_EQ(x.sent.size(), 201u);
  EXPECT_GT(x.did_pages_read, 0u);
  // The DID has caught up: its next events come from the log.
  const auto pages = x.did_pages_read;
  x.append(ann);
  x.publish();
  EXPECT_EQ(x.sent.size(), 202u);
  EXPECT_EQ(x.did_pages_read, pages);
}

TEST(DeliveryWindow, ADidIsNotPassedWhileOthersGetThrough) {
  delivery_world x{window_of(100, 2)};
  x.connect(1);
  x.append(ann, 3);
  x.append(did_number(2));
  x.append(ann);
  const auto wanted = x.append(did_number(3));
  x.publish();
  x.pass(600ms);
  x.ack(1); // Now ann's next event is sent, and one of another DID.
  ASSERT_EQ(x.sent.size(), 3u);
  x.pass(600ms);
  EXPECT_EQ(x.times_sent(wanted), 0u);
  x.pass(600ms);
  EXPECT_EQ(x.times_sent(wanted), 1u);
}

TEST(DeliveryWindow, WithoutMemoryToParkDidsHoldUpTheLog) {
  actors::delivery_options settings;
  settings.parked_max = 0;
  delivery_world x{settings};
  x.connect(1);
  x.append(ann, 100, false);
  const auto wanted = x.append(did_number(2));
  x.publish();
  x.pass(10min);
  EXPECT_EQ(x.times_sent(wanted), 0u);
  EXPECT_EQ(x.machine->remembered(), 0u);
  EXPECT_GT(x.times_sent(1), 3u); // It is still tried again at its place.
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryWindow, AFastClientReadsHistoryFromTheLogAlone) {
  delivery_world x;
  x.connect(1);
  x.append(did_number(1), 5000, false);
  x.append(did_number(2), 5000, false);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.written_position(), 10'000u);
  EXPECT_EQ(x.did_pages_read, 0u);
}

} // namespace weir::tests
