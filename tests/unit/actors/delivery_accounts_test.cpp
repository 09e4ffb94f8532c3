#include "actors/consumer/limits.hpp"
#include "actors/support/limits.hpp"
#include "delivery_world.hpp"

#include <algorithm>

// architecture.md I8. The world itself checks that no record of an inactive
// account is ever sent.
namespace weir::tests {

namespace {

using storage::op_id;
using namespace std::chrono_literals;
using ids = std::vector<op_id>;

} // namespace

TEST(DeliveryAccounts, AnInactiveAccountsFactOvertakesItsRecords) {
  delivery_world x;
  x.append(ann, 3);
  const auto gone = x.append_account(ann, false);
  x.append(bob);
  x.publish();
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), (ids{gone + 1, gone}));
  x.ack_all();
  EXPECT_EQ(x.sent.size(), 2u);
  EXPECT_EQ(x.machine->backlog(), 3u);
  EXPECT_EQ(x.machine->events(), 0u);
}

// protocol-coverage.md 4.t2
TEST(DeliveryAccounts, RecordsFollowWhenTheAccountIsBack) {
  delivery_world x;
  x.append(ann, 3);
  x.append_account(ann, false);
  x.publish();
  x.connect(1);
  x.ack_all();
  const auto back = x.append_account(ann, true);
  x.append(ann);
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{4, back}));
  x.ack(back);
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{4, back, 1, 2, 3, back + 1}));
  EXPECT_EQ(x.written_position(), x.last());
  EXPECT_EQ(x.machine->lanes(), 0u);
}

TEST(DeliveryAccounts, NoRecordIsSentBetweenTheTwoFacts) {
  // The account is active again before the consumer learns that it was not.
  delivery_world x;
  x.append(ann, 2);
  x.append_account(ann, false);
  x.publish();
  x.connect(1);
  ASSERT_EQ(x.sent_ids(), ids{3});
  x.append_account(ann, true); // Durable, but not published to the machine yet.
  x.ack(3);
  x.pass(10s);
  EXPECT_EQ(x.sent_ids(), ids{3});
  x.publish();
  EXPECT_EQ(x.sent_ids(), (ids{3, 4}));
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{3, 4, 1, 2}));
}

TEST(DeliveryAccounts, AnEventInFlightIsNotRepeatedOnceTheAccountIsInactive) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 3, false);
  x.publish();
  ASSERT_EQ(x.sent.size(), 3u);
  x.append_account(ann, false);
  x.publish();
  x.pass(10min);
  EXPECT_EQ(x.times_sent(1), 1u);
  EXPECT_GE(x.times_sent(4), 1u);
  // Late acks of events that were sent before still count.
  x.ack(2);
  x.ack(4);
  x.append_account(ann, true);
  x.publish();
  x.ack(5);
  EXPECT_EQ(x.times_sent(1), 2u);
  x.ack(1);
  EXPECT_EQ(x.times_sent(2), 1u);
  EXPECT_EQ(x.times_sent(3), 2u);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, FactsOfOneAccountKeepTheirOrder) {
  delivery_world x;
  x.append(ann, 2);
  x.append_account(ann, false, "deactivated");
  x.append_account(ann, false, "takendown");
  x.append(bob, 2);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.append_account(ann, true);
  x.append_account(ann, false, "suspended");
  x.append_account(ann, true);
  x.publish();
  x.ack_all();
  auto facts = x.sent_ids();
  std::erase_if(facts, [&](op_id id) {
    return !delivery_world::is_fact(
      x.entry_of(id)->ops[id - x.entry_of(id)->first]);
  });
  EXPECT_EQ(facts, (ids{3, 4, 7, 8, 9}));
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, AStalledAccountThatIsDeactivatedStillTellsIt) {
  delivery_world x;
  x.connect(1);
  x.append(ann, 2);
  x.publish();
  x.pass(61s); // Parked.
  x.append_account(ann, false);
  x.publish();
  x.pass(limits::consumer_retry_delay_max);
  EXPECT_GE(x.times_sent(3), 1u);
  EXPECT_EQ(x.times_sent(2), 0u);
}

TEST(DeliveryAccounts, WhatWasErasedIsSettledWithoutBeingSent) {
  delivery_world x;
  x.append(ann, 5);
  x.append_account(ann, true);
  const auto gone = x.append_deletion(ann);
  x.publish();
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), ids{gone});
  x.ack(gone);
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, AnAccountErasedWhileItWaitedIsForgotten) {
  delivery_world x;
  x.append(ann, 5);
  x.append_account(ann, false);
  x.publish();
  x.connect(1);
  x.ack_all();
  ASSERT_EQ(x.machine->backlog(), 5u);
  // Once it is removed, no event about it is sent.
  x.set_erased(ann);
  x.pass(31s);
  EXPECT_EQ(x.machine->backlog(), 0u);
  EXPECT_EQ(x.machine->lanes(), 0u);
  EXPECT_EQ(x.sent.size(), 1u);
}

// architecture.md I8, when the process that erased it has ended and left no
// notice.
TEST(DeliveryAccounts, WhatTheLogHasNoContentOfIsNotSent) {
  delivery_world x;
  x.append(ann, 3);
  const auto other = x.append(bob, 1);
  x.sweep(ann);
  x.publish();
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), ids{other});
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, ADeletedAccountThatComesBackStartsAnew) {
  delivery_world x;
  x.append(ann, 3);
  x.append_deletion(ann);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.append_account(ann, true);
  const auto fresh = x.append(ann, 2, false);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{4, 5, fresh, fresh + 1}));
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, AfterARestartRecordsStillWait) {
  delivery_world x;
  x.append(ann, 3);
  x.append_account(ann, false);
  x.append(bob);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.restart_written();
  x.connect(1);
  EXPECT_TRUE(x.sent.empty());
  x.append_account(ann, true);
  x.publish();
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{6, 1, 2, 3}));
  EXPECT_EQ(x.written_position(), x.last());
}

// The first of three lives reports that the account is inactive. While no life
// runs it comes back.
TEST(DeliveryAccounts, AfterARestartRecordsWaitForTheWordThatEndsTheAbsence) {
  delivery_world x;
  x.append(ann, 3);
  const auto gone = x.append_account(ann, false);
  x.append(bob);
  x.publish();
  x.connect(1);
  x.ack_all();
  const auto back = x.append_account(ann, true);
  const auto after = x.append(ann);
  for (int i = 0; i < 2; ++i) {
    x.restart_written();
    x.connect(1);
    EXPECT_EQ(x.sent_ids(), ids{back});
  }
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{back, 1, 2, 3, after}));
  EXPECT_EQ(x.written_position(), x.last());
  EXPECT_EQ(x.times_sent(gone), 0u);
  EXPECT_EQ(x.machine->lanes(), 0u);
}

TEST(DeliveryAccounts, AWordThatWasNotAckedMayHaveBeenHeard) {
  delivery_world x;
  x.append(ann, 2);
  x.append_account(ann, false);
  x.append(bob);
  x.publish();
  x.connect(1);
  x.ack(4);
  x.append_account(ann, true);
  x.restart_written();
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), ids{3});
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{3, 5, 1, 2}));
}

TEST(DeliveryAccounts, AfterARestartAnOldReturnReleasesNothing) {
  delivery_world x;
  x.append(ann, 2);
  x.append_account(ann, false);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.append_account(ann, true);
  x.publish();
  x.ack(4); // The records are sent, but not acked.
  x.append(ann);
  x.append_account(ann, false);
  x.restart_written();
  x.connect(1); // The first event tells its end.
  EXPECT_EQ(x.sent_ids(), ids{6});
  x.ack_all();
  x.pass(1min);
  EXPECT_EQ(x.sent_ids(), ids{6});
}

TEST(DeliveryAccounts, AfterARestartNobodyOvertakesWhoWasNeverAway) {
  delivery_world x;
  x.append(ann, 2, false);
  x.append_account(ann, true);
  x.append(bob);
  x.publish();
  x.connect(1);
  x.ack(2);
  x.ack(4);
  x.append(ann);
  x.restart_written();
  x.connect(1);
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{1, 3, 5}));
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, AFactThatWasSettledBeforeTheRestartIsNotWaitedFor) {
  delivery_world x;
  x.append(ann, 3);
  x.append_account(ann, false);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.append_account(ann, true);
  x.publish();
  x.disk_is_slow = true;
  x.ack(5);
  x.pass(limits::acks_write_wait);
  x.write_rows();
  x.disk_is_slow = false;
  x.restart_written();
  x.connect(1);
  x.ack_all();
  EXPECT_EQ(x.sent_ids(), (ids{1, 2, 3}));
}

// The ack shows that the earlier life came further than the store says.
TEST(DeliveryAccounts, ALateAckRepeatsNothingThatIsInFlight) {
  actors::delivery_options settings;
  settings.events_max = 2;
  delivery_world x{settings};
  x.append(ann, 2, false);
  const auto other = x.append(bob);
  x.socket_room = 1;
  x.connect(1);
  x.publish();
  ASSERT_EQ(x.sent_ids(), ids{1});
  x.restart_written();
  x.connect(1);
  ASSERT_EQ(x.sent_ids(), ids{1});
  x.ack(other); // The earlier life may have sent it.
  x.socket_room = 10;
  x.pass(100ms);
  EXPECT_EQ(x.sent_ids(), (ids{1, 2}));
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
  EXPECT_EQ(x.machine->lanes(), 0u);
}

// The same when the first one is free again because its connection ended.
TEST(DeliveryAccounts, ALateAckRepeatsNothingOfAnotherConnection) {
  delivery_world x;
  x.append(ann, 3, false);
  const auto other = x.append(bob);
  x.options.events_max = 3;
  x.restart_written();
  x.socket_room = 1;
  x.connect(1);
  x.connect(2);
  ASSERT_EQ(x.sent_ids(), (ids{1, 2}));
  ASSERT_NE(x.sent[0].to, x.sent[1].to);
  x.full_sockets = {1, 2};
  x.disconnect(x.sent[0].to);
  x.ack(other, x.sent[1].to);
  x.full_sockets = {};
  x.socket_room = 10;
  x.pass(1s);
  EXPECT_EQ(x.times_sent(2), 1u);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, AnAccountThatIsBackWithoutAFactIsNotForgotten) {
  delivery_world x;
  x.append(ann, 3);
  x.append_account(ann, false);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.set_active(ann, true);
  x.pass(61s);
  x.ack_all();
  EXPECT_EQ(x.written_position(), x.last());
}

TEST(DeliveryAccounts, MoreThanCanWaitBecomeDeadLetters) {
  actors::delivery_options settings;
  settings.parked_max = 10;
  delivery_world x{settings};
  for (size_t i = 0; i < 30; ++i) {
    x.append(did_number(i), 2);
    x.append_account(did_number(i), false);
  }
  x.append(did_number(99));
  x.publish();
  x.connect(1);
  x.ack_all();
  EXPECT_EQ(x.sent.size(), 31u);
  EXPECT_GT(x.letters.size(), 0u);
  EXPECT_EQ(x.letters.size() + x.machine->backlog(), 60u);
  EXPECT_LE(x.machine->remembered(), settings.parked_max);
}

TEST(DeliveryAccounts, AFactWithoutContentIsSettled) {
  delivery_world x;
  x.append(ann, 1, true, std::string{storage::identity_scope});
  x.append(ann);
  x.publish();
  x.connect(1);
  EXPECT_EQ(x.sent_ids(), ids{2});
  x.ack(2);
  EXPECT_EQ(x.written_position(), x.last());
}

} // namespace weir::tests
