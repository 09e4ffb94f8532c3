#include "actors/consumer/limits.hpp"
#include "delivery_world.hpp"

#include <algorithm>

// api.md, Acks; architecture.md I5.
namespace weir::tests {

namespace {

using storage::op_id;
using namespace std::chrono_literals;
using ids = std::vector<op_id>;

/// The first event, and then all others in one read.
struct started : delivery_world {
  explicit started(actors::delivery_options settings = {})
    : delivery_world(std::move(settings)) {
    connect(1);
  }
};

actors::delivery_options fire_and_forget() {
  actors::delivery_options out;
  out.fire_and_forget = true;
  return out;
}

actors::delivery_options only_posts() {
  actors::delivery_options out;
  out.filter = *wire::collection_filter::parse({"app.bsky.feed.post"});
  return out;
}

} // namespace

TEST(Delivery, SendsNothingWithoutAClient) {
  delivery_world x;
  x.append(ann);
  x.publish();
  EXPECT_TRUE(x.sent.empty());
  EXPECT_EQ(x.pages_read, 0u);
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), ids{1});
}

TEST(Delivery, SendsNothingBeyondWhatIsDurable) {
  started x;
  x.append(ann);
  x.append(bob);
  EXPECT_TRUE(x.sent.empty());
  x.carry(x.machine->on_log(1, 1, x.now));
  EXPECT_EQ(x.machine->backlog(), 1u);
}

TEST(Delivery, ALiveEventWaitsForTheOneBefore) {
  started x;
  x.append(ann, 3);
  x.publish();
  EXPECT_EQ(x.sent_ids(), ids{1});
  x.ack(1);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack(2);
  x.ack(3);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3}));
  EXPECT_EQ(x.machine->position(), 3u);
  EXPECT_EQ(x.machine->lanes(), 0u);
}

TEST(Delivery, HistoryOfADidFliesTogether) {
  started x;
  x.append(ann, 5, false);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4, 5}));
}

TEST(Delivery, HistoryNeverCrossesALiveEvent) {
  started x;
  x.append(ann, 2, false);
  x.append(ann, 1, true);
  x.append(ann, 2, false);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack(2);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack(1);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3}));
  x.ack(3);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4, 5}));
}

// A fetch brings each record once; the next one may delete what it created.
TEST(Delivery, HistoryOfTwoFetchesDoesNotFlyTogether) {
  started x;
  x.append(ann, 2, false);
  x.fetch = 2;
  x.append(ann, 2, false);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack(2);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack(1);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4}));
}

TEST(Delivery, AnAccountFactIsABarrier) {
  started x;
  x.append(ann, 2, false);
  x.append_account(ann, true);
  x.append(ann, 1, false);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack(1);
  x.ack(2);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3}));
  x.ack(3);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4}));
}

TEST(Delivery, DidsDoNotWaitForEachOther) {
  started x;
  x.append(ann, 2);
  x.append(bob, 2);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{1, 3}));
  x.ack(3);
  EXPECT_EQ(x.sent_ids(), (ids{1, 3, 4}));
}

TEST(Delivery, CommitsAndFilteredRecordsCountAsAcked) {
  started x{only_posts()};
  x.append(ann, 2, true, "app.bsky.feed.like");
  x.append_commit(ann);
  x.append(ann, 1, true, "app.bsky.feed.post");
  x.append_commit(ann);
  x.publish();
  EXPECT_EQ(x.sent_ids(), ids{4});
  EXPECT_EQ(x.machine->position(), 3u);
  EXPECT_EQ(x.machine->backlog(), 1u);
  x.ack(4);
  EXPECT_EQ(x.machine->position(), 5u);
  EXPECT_EQ(x.machine->backlog(), 0u);
}

TEST(Delivery, ProgressWithoutAcksIsWrittenLater) {
  started x;
  x.append(ann);
  x.publish();
  x.ack(1);
  ASSERT_EQ(x.written_position(), 1u);
  x.append_commit(ann);
  x.publish();
  EXPECT_EQ(x.machine->position(), 2u);
  EXPECT_EQ(x.written_position(), 1u);
  x.pass(limits::consumer_lazy_write);
  EXPECT_EQ(x.written_position(), 2u);
}

// limits::acks_write_wait
TEST(Delivery, AcksAreWrittenTogetherAndOneWriteAtATime) {
  started x;
  for (size_t i = 0; i < 10; ++i)
    x.append(did_number(i));
  x.publish();
  x.disk_is_slow = true;
  x.ack(1);
  x.pass(limits::acks_write_wait - 1us);
  EXPECT_FALSE(x.rows);
  x.ack(2);
  x.pass(1us);
  ASSERT_TRUE(x.rows);
  EXPECT_EQ(x.rows->position, 2u);
  for (op_id id = 3; id <= 10; ++id)
    x.ack(id);
  x.pass(1min);
  EXPECT_EQ(x.rows->position, 2u);
  x.write_rows();
  x.carry(x.machine->on_durable_rows(x.now));
  ASSERT_TRUE(x.rows);
  EXPECT_EQ(x.rows->position, 10u);
}

TEST(Delivery, AtTheEndAnAckWaitsForNothing) {
  started x;
  for (size_t i = 0; i < 3; ++i)
    x.append(did_number(i));
  x.publish();
  x.disk_is_slow = true;
  x.ack(1);
  x.pass(limits::acks_write_wait);
  ASSERT_TRUE(x.rows) << "a write is under way";
  x.ack(2);
  x.ack(3);
  const auto last = x.machine->on_stop(x.now).rows;
  ASSERT_TRUE(last);
  EXPECT_EQ(last->position, 3u);
  EXPECT_FALSE(x.machine->on_stop(x.now).rows) << "nothing is left";
}

TEST(Delivery, AcksMayComeTwiceOutOfOrderAndForNothing) {
  started x;
  for (size_t i = 0; i < 3; ++i)
    x.append(did_number(i));
  x.append(did_number(0));
  x.publish();
  x.ack(3);
  x.ack(2);
  x.ack(2);
  EXPECT_EQ(x.machine->counters().acked, 2u);
  for (const op_id unknown : {op_id{0}, op_id{4}, op_id{5}, op_id{1} << 60})
    x.carry(x.machine->on_acks(1, ids{unknown}, x.now));
  EXPECT_EQ(x.machine->counters().acked, 2u);
  EXPECT_EQ(x.machine->position(), 0u);
  x.ack(1);
  EXPECT_EQ(x.machine->position(), 3u);
  EXPECT_EQ(x.machine->counters().acked, 3u);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4})); // 4 waited for 1.
}

TEST(Delivery, SessionsShareTheEvents) {
  started x;
  x.connect(2);
  for (size_t i = 0; i < 10; ++i)
    x.append(did_number(i));
  x.publish();
  EXPECT_EQ(x.inbox[1].size(), 5u);
  EXPECT_EQ(x.inbox[2].size(), 5u);
  EXPECT_EQ(x.sent.size(), 10u);
}

TEST(Delivery, ALostSessionsEventsGoToTheOthers) {
  started x;
  for (size_t i = 0; i < 4; ++i)
    x.append(did_number(i));
  x.publish();
  x.connect(2);
  x.disconnect(1);
  EXPECT_EQ(x.inbox[2], (ids{1, 2, 3, 4}));
  EXPECT_EQ(x.machine->counters().resent, 4u);
  for (const auto& send : x.sent)
    EXPECT_EQ(send.again, send.to == 2);
}

TEST(Delivery, TheNextConnectionGetsUnackedEventsInOrder) {
  started x;
  x.append(ann, 3, false);
  x.append(bob, 2);
  x.publish();
  x.ack(2);
  x.disconnect(1);
  x.connect(7);
  EXPECT_EQ(x.inbox[7], (ids{1, 3, 4}));
}

TEST(Delivery, AnAckOfAnEarlierConnectionCounts) {
  started x;
  x.append(ann, 2);
  x.publish();
  x.disconnect(1);
  x.ack(1, 1);
  EXPECT_EQ(x.machine->position(), 1u);
  x.connect(2);
  EXPECT_EQ(x.inbox[2], ids{2});
}

TEST(Delivery, AnAckOfAnEarlierRunCountsBeforeTheEventIsSentAgain) {
  started x;
  for (size_t i = 0; i < 5; ++i)
    x.append(did_number(i));
  x.publish();
  x.restart_written();
  x.ack(2, 9);
  x.ack(4, 9);
  x.connect(9);
  std::ranges::sort(x.inbox[9]);
  EXPECT_EQ(x.inbox[9], (ids{1, 3, 5}));
  // An ack of an id that no run can have sent is ignored.
  x.append(did_number(9));
  x.carry(x.machine->on_acks(9, ids{6}, x.now));
  x.publish();
  EXPECT_EQ(x.times_sent(6), 1u);
}

TEST(Delivery, AfterARestartOnlyUnackedEventsCome) {
  started x;
  for (size_t i = 0; i < 6; ++i)
    x.append(did_number(i));
  x.publish();
  x.ack(2);
  x.ack(3);
  x.ack(6);
  x.restart_written();
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), (ids{1, 4, 5}));
  x.ack_all();
  EXPECT_EQ(x.written_position(), 6u);
  EXPECT_TRUE(x.ranges.empty());
}

TEST(Delivery, ARestartSkipsLongAckedStretchesWithoutReadingThem) {
  started x;
  x.append(ann);
  for (size_t i = 2; i < 3000; ++i)
    x.append(did_number(i));
  x.publish();
  x.ack_all({ann});
  EXPECT_EQ(x.written_position(), 0u);
  EXPECT_EQ(x.ranges.size(), 1u);
  x.restart_written();
  x.pages_read = 0;
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), ids{1});
  EXPECT_EQ(x.pages_read, 1u);
}

TEST(Delivery, FireAndForgetNeedsNoAcks) {
  started x{fire_and_forget()};
  x.append(ann, 100);
  x.append(bob, 5000, false);
  x.publish();
  EXPECT_EQ(x.sent.size(), 5100u);
  EXPECT_EQ(x.written_position(), 5100u);
  EXPECT_EQ(x.machine->events(), 0u);
  EXPECT_FALSE(x.timer);
}

TEST(Delivery, FireAndForgetWaitsForASocketThatIsFull) {
  started x{fire_and_forget()};
  x.socket_room = 0;
  x.append(ann, 3);
  x.publish();
  EXPECT_TRUE(x.sent.empty());
  EXPECT_EQ(x.machine->position(), 0u);
  x.socket_room = 1;
  x.pass(std::chrono::milliseconds{100});
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3}));
}

TEST(Delivery, WhatASocketDoesNotTakeIsSentLater) {
  started x;
  x.socket_room = 2;
  x.append(ann, 5, false);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.pass(std::chrono::milliseconds{100});
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4}));
  x.pass(std::chrono::seconds{1});
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3, 4, 5}));
}

TEST(Delivery, AFullSocketLeavesTheEventsToAnother) {
  started x;
  x.connect(2);
  x.full_sockets = {1};
  x.append(ann, 10, false);
  x.publish();
  EXPECT_TRUE(x.inbox[1].empty());
  EXPECT_EQ(x.inbox[2].size(), 10u);
}

TEST(Delivery, AnEmptyPageIsNotAskedForAgainUntilTheLogGrows) {
  started x;
  x.carry(x.machine->on_log(x.last() + 5, x.log_events(), x.now));
  EXPECT_EQ(x.pages_read, 1u);
  x.pass(std::chrono::minutes{10});
  EXPECT_EQ(x.pages_read, 1u);
  x.append(ann);
  x.publish();
  EXPECT_EQ(x.sent_ids(), ids{1});
}

TEST(Delivery, IdsThatTheLogDoesNotHaveAreSkipped) {
  started x;
  x.append(ann);
  x.skip_ids(uint64_t{1} << 32);
  const auto later = x.append(ann);
  x.publish();
  x.ack(1);
  x.ack(later);
  EXPECT_EQ(x.machine->position(), later);
}

TEST(Delivery, APageThatNobodyAskedForChangesNothing) {
  delivery_world x;
  x.connect(1);
  const did_page page{atproto::did::trusted("did:plc:nobody")};
  const auto out = x.machine->on_did_page(page, x.now);
  EXPECT_TRUE(out.sends.empty());
  EXPECT_TRUE(out.did_pages.empty());
}

} // namespace weir::tests
