#include "atproto/car.hpp"
#include "atproto/commit.hpp"
#include "simnet/faults.hpp"
#include "simnet/network.hpp"
#include "tests/unit/simnet/mirror.hpp"

#include <gtest/gtest.h>

// The effect of each fault on the streams and on the truth (simnet.md, Faults).

namespace weir::tests {

namespace {

using atproto::account_event;
using atproto::commit_event;
using atproto::identity_event;
using atproto::sync_event;
using simnet::fault;
using simnet::fault_kind;
using simnet::standing;

class FaultsTest : public ::testing::Test {
protected:
  FaultsTest() : net(small_network(time)) {
    // nop
  }

  simnet::account_view view(size_t index = 3) {
    return net.truth().view(index);
  }

  fault about(fault_kind kind, size_t index = 3) {
    fault out;
    out.kind = kind;
    out.did = view(index).id.str();
    return out;
  }

  simnet::fault_record inject(const fault& x) {
    const auto out = net.faults().inject(x);
    EXPECT_TRUE(out) << to_string(out.error());
    return out ? *out : simnet::fault_record{};
  }

  /// The events of account 3's host since the start.
  heard listen_to_host() { return listen(net.truth().host_log(view().host)); }

  atproto::public_key key(size_t index = 3) {
    return atproto::public_key::from_multikey(view(index).signing_key).value();
  }

  atproto::verified<atproto::verified_commit> verify(const heard& x, size_t i) {
    return atproto::verify_commit(x.frames[i].frame,
                                  std::get<commit_event>(x.events[i]), key(),
                                  time.wall_now());
  }

  atproto::verified<atproto::verified_sync> verify_sync(const heard& x,
                                                        size_t i) {
    return atproto::verify_sync(x.frames[i].frame,
                                std::get<sync_event>(x.events[i]), key(),
                                time.wall_now());
  }

  manual_clock time;
  simnet::network net;
};

template <class Event>
const Event& as(const heard& x, size_t i) {
  return std::get<Event>(x.events.at(i));
}

} // namespace

TEST_F(FaultsTest, ABadSignatureIsACommitThatNeverWas) {
  const auto before = view();
  inject(about(fault_kind::bad_signature));
  inject(about(fault_kind::early_commit)); // Its rev is in the future.
  const auto heard = listen_to_host();
  EXPECT_EQ(verify(heard, 0).error().why, atproto::verdict::bad_signature);
  const auto tomorrow = time.wall_now() + std::chrono::hours{24};
  EXPECT_EQ(as<commit_event>(heard, 1).rev.time(), tomorrow);
  EXPECT_EQ(view().head, before.head);
  EXPECT_EQ(view().records, before.records);
}

TEST_F(FaultsTest, ABrokenChainSkipsOneCommitOfTheTruth) {
  const auto before = view();
  inject(about(fault_kind::broken_chain));
  const auto heard = listen_to_host();
  ASSERT_EQ(heard.events.size(), 1u);
  const auto made = verify(heard, 0);
  ASSERT_TRUE(made);
  EXPECT_NE(made->prev_data, before.data);
  EXPECT_NE(made->since, before.rev);
  EXPECT_EQ(made->data, view().data);
  EXPECT_EQ(view().records, before.records + 2);
}

TEST_F(FaultsTest, ABigCommitIsTrueAndTellsNothing) {
  const auto before = view();
  inject(about(fault_kind::big_commit));
  const auto heard = listen_to_host();
  const auto verified = verify(heard, 0);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().why, atproto::verdict::unverifiable);
  EXPECT_TRUE(as<commit_event>(heard, 0).too_big);
  EXPECT_EQ(view().rev, as<commit_event>(heard, 0).rev);
  EXPECT_EQ(view().records, before.records + 1);
}

TEST_F(FaultsTest, ABadShapeComesWithATrueCommit) {
  inject(about(fault_kind::bad_shape));
  const auto heard = listen_to_host();
  const auto verified = verify(heard, 0);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().why, atproto::verdict::bad_shape);
  EXPECT_EQ(view().rev, as<commit_event>(heard, 0).rev);
}

TEST_F(FaultsTest, AStateIsToldAgain) {
  const auto before = view();
  inject(about(fault_kind::announce_state));
  const auto sync = verify_sync(listen_to_host(), 0);
  EXPECT_TRUE(sync && sync->rev == before.rev && sync->data == before.data);
}

TEST_F(FaultsTest, AWrongPrevDataComesWithATrueCommit) {
  const auto before = view();
  inject(about(fault_kind::wrong_prev_data));
  const auto heard = listen_to_host();
  const auto verified = verify(heard, 0);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().why, atproto::verdict::bad_proof);
  EXPECT_EQ(view().rev, as<commit_event>(heard, 0).rev);
  EXPECT_EQ(view().records, before.records + 1);
}

TEST_F(FaultsTest, KeyRotationSendsIdentityAndASyncThatNoCommitAnnounced) {
  const auto before = view();
  inject(about(fault_kind::rotate_key));
  const auto heard = listen_to_host();
  ASSERT_EQ(heard.events.size(), 2u);
  EXPECT_TRUE(as<identity_event>(heard, 0).handle.empty());
  const auto sync = verify_sync(heard, 1);
  ASSERT_TRUE(sync) << sync.error().reason;
  EXPECT_EQ(sync->data, before.data);
  EXPECT_GT(sync->rev, before.rev);
  EXPECT_EQ(sync->rev, view().rev);
  EXPECT_NE(view().signing_key, before.signing_key);
  net.traffic().post(3);
  EXPECT_TRUE(verify(listen_to_host(), 2));
}

TEST_F(FaultsTest, AHandleChangeMovesTheNameAndSendsIdentityAlone) {
  const auto before = view();
  auto change = about(fault_kind::change_handle);
  change.handle = "somebody-else.test";
  inject(change);
  const auto heard = listen_to_host();
  ASSERT_EQ(heard.events.size(), 1u);
  EXPECT_EQ(as<identity_event>(heard, 0).handle, "somebody-else.test");
  EXPECT_EQ(net.truth().find_handle("somebody-else.test"), 3u);
  EXPECT_EQ(net.truth().find_handle(before.handle), std::nullopt);
}

TEST_F(FaultsTest, TakedownAndRestoreAreOneAccountEventEach) {
  inject(about(fault_kind::take_down));
  EXPECT_EQ(view().status, standing::takendown);
  inject(about(fault_kind::restore));
  EXPECT_EQ(view().status, standing::active);
  const auto heard = listen_to_host();
  ASSERT_EQ(heard.events.size(), 2u);
  EXPECT_FALSE(as<account_event>(heard, 0).active);
  EXPECT_EQ(as<account_event>(heard, 0).status, "takendown");
  EXPECT_TRUE(as<account_event>(heard, 1).active);
  EXPECT_TRUE(as<account_event>(heard, 1).status.empty());
}

TEST_F(FaultsTest, ReactivationSendsAccountIdentityAndTheSameRevision) {
  const auto before = view();
  inject(about(fault_kind::deactivate));
  inject(about(fault_kind::reactivate));
  const auto heard = listen_to_host();
  ASSERT_EQ(heard.events.size(), 4u);
  EXPECT_EQ(as<account_event>(heard, 0).status, "deactivated");
  EXPECT_TRUE(as<account_event>(heard, 1).active);
  EXPECT_EQ(as<identity_event>(heard, 2).handle, before.handle);
  const auto sync = verify_sync(heard, 3);
  ASSERT_TRUE(sync) << sync.error().reason;
  EXPECT_EQ(sync->rev, before.rev);
}

TEST_F(FaultsTest, InactiveAccountsStayQuiet) {
  for (size_t i = 0; i < net.truth().accounts(); ++i)
    if (i != 3)
      inject(about(fault_kind::suspend, i));
  net.traffic().make(50);
  for (const auto& event : listen(*net.truth().relay_log()).events)
    if (const auto* commit = std::get_if<commit_event>(&event)) {
      EXPECT_EQ(commit->repo, view().id);
    }
}

TEST_F(FaultsTest, ADeletionErasesTheEarlierEventsOfTheHost) {
  net.traffic().post(3);
  const auto host = view().host;
  inject(about(fault_kind::remove));
  const auto heard = listen(net.truth().host_log(host));
  ASSERT_EQ(heard.events.size(), 1u);
  EXPECT_EQ(heard.frames[0].seq, 2);
  EXPECT_EQ(as<account_event>(heard, 0).status, "deleted");
  EXPECT_FALSE(seen_from(view(), host).has_value());
}

TEST_F(FaultsTest, ATombstoneIsTheDirectorysAlone) {
  inject(about(fault_kind::tombstone));
  EXPECT_EQ(view().status, standing::tombstoned);
  EXPECT_TRUE(view().served());
  EXPECT_TRUE(listen_to_host().events.empty());
}

TEST_F(FaultsTest, ATakedownOfTheRelayIsTheRelaysAlone) {
  inject(about(fault_kind::relay_take_down));
  EXPECT_FALSE(net.faults().inject(about(fault_kind::relay_take_down)));
  EXPECT_TRUE(listen_to_host().events.empty());
  EXPECT_EQ(seen_from(view(), view().host)->status, standing::active);
  EXPECT_EQ(seen_from_relay(view())->status, standing::takendown);
  inject(about(fault_kind::relay_restore));
  EXPECT_EQ(seen_from_relay(view())->status, standing::active);
  const auto heard = listen(*net.truth().relay_log());
  ASSERT_EQ(heard.events.size(), 2u);
  EXPECT_EQ(as<account_event>(heard, 0).status, "takendown");
  EXPECT_TRUE(as<account_event>(heard, 1).active);
}

TEST_F(FaultsTest, WhatHappensSilentlyIsToldByNoStream) {
  auto x = about(fault_kind::remove);
  x.silent = true;
  inject(x);
  EXPECT_EQ(view().status, standing::deleted);
  EXPECT_TRUE(listen_to_host().events.empty());
  EXPECT_TRUE(listen(*net.truth().relay_log()).events.empty());
}

// Strict engines fail in this case.
// protocol-coverage.md 11.3
TEST_F(FaultsTest, AMigrationSendsASyncThatMustBeRefusedAndThenGoesOn) {
  const auto before = view();
  auto move = about(fault_kind::migrate);
  move.target = (before.host + 1) % net.truth().hosts();
  inject(move);
  EXPECT_EQ(view().host, *move.target);
  EXPECT_NE(view().signing_key, before.signing_key);
  EXPECT_EQ(view().rev, before.rev);
  EXPECT_GT(view().listed_rev, before.rev);
  const auto there = listen_to_host();
  ASSERT_EQ(there.events.size(), 4u);
  EXPECT_TRUE(as<identity_event>(there, 0).handle.empty());
  EXPECT_TRUE(as<account_event>(there, 1).active);
  EXPECT_EQ(as<identity_event>(there, 2).handle, before.handle);
  const auto& sync = as<sync_event>(there, 3);
  EXPECT_EQ(sync.rev, view().listed_rev);
  EXPECT_FALSE(verify_sync(there, 3));
  const auto slice = atproto::car_slice::parse(sync.blocks).value();
  const auto inside = atproto::decode_commit(slice.blocks()[0].data).value();
  EXPECT_EQ(inside.rev, before.rev);
  // The old host announces the move, and the relay does not pass that on.
  const auto here = listen(net.truth().host_log(before.host));
  ASSERT_EQ(here.events.size(), 1u);
  EXPECT_EQ(as<account_event>(here, 0).status, "deactivated");
  EXPECT_EQ(listen(*net.truth().relay_log()).events.size(), 4u);
  EXPECT_EQ(seen_from(view(), before.host)->status, standing::deactivated);
  // The next commit follows the state that all have.
  net.traffic().post(3);
  const auto next = listen_to_host();
  const auto made = verify(next, 4);
  ASSERT_TRUE(made) << made.error().reason;
  EXPECT_EQ(made->since, before.rev);
  EXPECT_EQ(made->prev_data, before.data);
  EXPECT_EQ(view().rev, view().listed_rev);
}

TEST_F(FaultsTest, MovingBackForgetsTheFormerHome) {
  const auto home = view().host;
  auto move = about(fault_kind::migrate);
  move.target = (home + 1) % net.truth().hosts();
  inject(move);
  move.target = home;
  inject(move);
  ASSERT_EQ(view().former.size(), 1u);
  EXPECT_NE(view().former[0].host, home);
  EXPECT_FALSE(net.faults().inject(move)); // It already lives there.
}

TEST_F(FaultsTest, ALostWindowTakesCommitsOfOneStreamOnly) {
  fault lose;
  lose.kind = fault_kind::lose_window;
  lose.host = view().host;
  lose.count = 5;
  const auto done = inject(lose);
  EXPECT_EQ(done.count, 5u);
  EXPECT_FALSE(done.dids.empty());
  auto& log = net.truth().host_log(*lose.host);
  EXPECT_TRUE(listen(log).events.empty());
  EXPECT_EQ(log.newest(), 5);
  EXPECT_EQ(log.judge(0), simnet::event_log::cursor_state::outdated);
  EXPECT_EQ(listen(*net.truth().relay_log()).events.size(), 5u);
}

TEST_F(FaultsTest, ASilentLossOfTheRelayIsNotAnnounced) {
  fault lose;
  lose.kind = fault_kind::lose_silently;
  lose.count = 4;
  EXPECT_EQ(inject(lose).count, 4u);
  auto& log = *net.truth().relay_log();
  EXPECT_TRUE(listen(log).events.empty());
  EXPECT_EQ(log.judge(0), simnet::event_log::cursor_state::good);
}

TEST_F(FaultsTest, AGarbledEventIsSentAndCannotBeRead) {
  fault garble;
  garble.kind = fault_kind::garble_events;
  garble.host = view().host;
  garble.count = 2;
  EXPECT_EQ(inject(garble).count, 2u);
  net.traffic().post(3);
  const auto frames
    = net.truth().host_log(view().host).read(0, 10, 1'000'000);
  ASSERT_EQ(frames.size(), 3u);
  for (size_t i = 0; i < frames.size(); ++i)
    EXPECT_EQ(atproto::peek_frame(frames[i].frame.view()).has_value(), i == 2)
      << i;
  EXPECT_EQ(listen(*net.truth().relay_log()).events.size(), 3u);
}

TEST_F(FaultsTest, ARestartedSequenceBeginsAtOne) {
  net.traffic().make(10);
  fault restart;
  restart.kind = fault_kind::restart_sequence;
  inject(restart);
  auto& log = *net.truth().relay_log();
  EXPECT_EQ(log.judge(10), simnet::event_log::cursor_state::future);
  net.traffic().make(1);
  EXPECT_EQ(listen(log).frames[0].seq, 1);
}

TEST_F(FaultsTest, OrdersForRequestsAreUsedUpByThoseTheyFit) {
  fault failing;
  failing.kind = fault_kind::failing_repo;
  failing.host = 1;
  failing.count = 2;
  inject(failing);
  auto& orders = net.requests();
  const auto kind = simnet::fault_kind::failing_repo;
  EXPECT_FALSE(orders.take(kind, 0, "did:plc:x"));
  EXPECT_FALSE(orders.take(simnet::fault_kind::cut_repo, 1, "did:plc:x"));
  EXPECT_TRUE(orders.take(kind, 1, "did:plc:x"));
  EXPECT_TRUE(orders.take(kind, 1, "did:plc:y"));
  EXPECT_FALSE(orders.take(kind, 1, "did:plc:x"));
  EXPECT_EQ(orders.served(kind), 2u);
}

TEST_F(FaultsTest, TheLedgerNamesWhatWasDoneAndNothingThatFailed) {
  inject(about(fault_kind::bad_signature));
  inject(about(fault_kind::bad_signature, 4));
  inject(about(fault_kind::take_down));
  EXPECT_FALSE(net.faults().inject(about(fault_kind::take_down)));
  EXPECT_FALSE(net.faults().inject(about(fault_kind::reactivate)));
  auto nobody = about(fault_kind::take_down);
  nobody.did = "did:plc:zzzzzzzzzzzzzzzzzzzzzzzz";
  EXPECT_FALSE(net.faults().inject(nobody));
  auto nowhere = about(fault_kind::migrate);
  nowhere.host = 99;
  EXPECT_FALSE(net.faults().inject(nowhere));
  const auto counts = net.faults().injected();
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{{"bad_signature", 2},
                                                     {"take_down", 1}}));
  EXPECT_EQ(net.faults().ledger().size(), 3u);
}

TEST_F(FaultsTest, WithoutANameAnyAccountInAFittingStateIsTaken) {
  fault restore;
  restore.kind = fault_kind::restore;
  EXPECT_FALSE(net.faults().inject(restore));
  inject(about(fault_kind::take_down, 7));
  EXPECT_EQ(inject(restore).dids, std::vector{view(7).id.str()});
}

TEST_F(FaultsTest, EveryKindHasAWord) {
  for (size_t i = 0; i < simnet::fault_kinds; ++i) {
    const auto kind = static_cast<fault_kind>(i);
    EXPECT_EQ(simnet::parse_fault_kind(to_string(kind)), kind);
  }
  EXPECT_FALSE(simnet::parse_fault_kind("earthquake"));
}

} // namespace weir::tests
