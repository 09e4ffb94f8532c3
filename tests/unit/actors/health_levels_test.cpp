#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/health_world.hpp"

// architecture.md, Health: whether the node is ready nevertheless.
namespace weir::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HealthLevelTest : public health_world {};

atproto::did known_account(const char* name) {
  return atproto::did::parse(name).value();
}

} // namespace

// limits::health_memory: such work is neither failing nor well
TEST_F(HealthLevelTest, WhatIsNotTriedAnyMoreIsUnproved) {
  fetch("https://bad.test", 0, enough, false);
  pass(limits::health_memory);
  EXPECT_EQ(level(), health_level::failing);
  pass(1us);
  EXPECT_EQ(level(), health_level::unproved);
  EXPECT_THAT(ended, IsEmpty());
  fetch("https://bad.test", 0, 1, false);
  look();
  EXPECT_EQ(level(), health_level::failing) << "it was tried again";
  fetch("https://bad.test", 0, enough, true);
  look();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].level, health_level::failing) << "somebody saw it end";
  EXPECT_STREQ(reason_of_end(ended[0]), "the cause has ended");
  fetch("https://bad.test", 0, enough, false);
  look();
  pass(limits::health_memory + 1us);
  pass(limits::health_memory_failing);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].level, health_level::unproved) << "nobody did";
  EXPECT_THAT(reason_of_end(ended[0]), HasSubstr("not tried again"));
}

TEST_F(HealthLevelTest, CommitsThatComeNoMoreAreUnprovedToo) {
  for (uint64_t i = 0; i < enough; ++i)
    machine.on_commit(1, i, 3, "bad_signature", now);
  look();
  pass(limits::health_memory + 1us);
  EXPECT_EQ(level(), health_level::unproved);
}

// limits::health_write_max
TEST_F(HealthLevelTest, AWriteThatDoesNotReturnIsReportedUntilItDoes) {
  const auto began = now;
  machine.on_write("the store", began);
  pass(limits::health_write_max - 1us);
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_FALSE(machine.write_hangs());
  pass(1us);
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::write);
  EXPECT_EQ(begun[0].where, "the store");
  EXPECT_THAT(begun[0].error, HasSubstr("has not returned for 15 seconds"));
  EXPECT_EQ(level(), health_level::failing);
  EXPECT_TRUE(machine.write_hangs());
  pass(1min);
  EXPECT_THAT(begun, IsEmpty()) << "it is the same cause";
  EXPECT_THAT(machine.findings()[0].error, HasSubstr("75 seconds"));
  machine.on_write("the store", now);
  look();
  ASSERT_THAT(ended, SizeIs(1)) << "the next write has only begun";
  EXPECT_FALSE(machine.write_hangs());
  machine.on_write({}, std::nullopt);
  pass(1h);
  EXPECT_THAT(begun, IsEmpty());
}

// limits::health_probe_interval
TEST_F(HealthLevelTest, TheDirectoryIsAskedNowAndThenWhileItFails) {
  machine.remember(known_account("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"), false);
  machine.remember(known_account("did:plc:ewvi7nxzyoun6zhxrhs64oiz"), true);
  machine.remember(known_account("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"), false);
  machine.remember(known_account("did:web:not-there.test"), true);
  look();
  EXPECT_FALSE(probe);
  look_up(0, enough, look_up_fault::unreachable);
  look();
  EXPECT_EQ(probe, known_account("did:plc:ewvi7nxzyoun6zhxrhs64oiz"));
  pass(limits::health_probe_interval - 1us);
  EXPECT_FALSE(probe);
  pass(1us);
  EXPECT_TRUE(probe);
}

// Its date shows the time
TEST_F(HealthLevelTest, SoItIsWhileTheClockIsInDoubt) {
  clock.suspect = true;
  look();
  EXPECT_FALSE(probe) << "nobody to ask about is known";
  machine.remember(known_account("did:plc:ewvi7nxzyoun6zhxrhs64oiz"), false);
  look();
  EXPECT_TRUE(probe);
}

// limits::health_calm, limits::health_successes_min
TEST_F(HealthLevelTest, AfterAMinuteInWhichItAnsweredTheDirectoryIsWell) {
  look_up(0, 20, look_up_fault::unreachable);
  look();
  for (size_t i = 1; i < limits::health_successes_min; ++i)
    look_up(0, 1, look_up_fault::none);
  pass(limits::health_calm);
  EXPECT_THAT(ended, IsEmpty());
  look_up(0, 1, look_up_fault::none);
  look();
  ASSERT_THAT(ended, SizeIs(1));
  look_up(0, 20, look_up_fault::unreachable);
  look();
  for (size_t i = 0; i < limits::health_successes_min; ++i)
    look_up(0, 1, look_up_fault::none);
  pass(limits::health_calm - 1us);
  EXPECT_THAT(ended, IsEmpty());
  pass(1us);
  EXPECT_THAT(ended, SizeIs(1));
}

// One of many streams is reported, and the node still works
TEST_F(HealthLevelTest, AStreamOfManyThatIsAwayStopsNobody) {
  stream.relay = true;
  add_streams(2);
  add_streams(1, false);
  miss();
  ASSERT_THAT(machine.findings(), SizeIs(1));
  EXPECT_EQ(level(), health_level::degraded);
  others[1].connected = false;
  miss();
  EXPECT_EQ(level(), health_level::degraded) << "two of four";
  others[0].connected = false;
  miss();
  EXPECT_THAT(machine.findings(), SizeIs(3));
  EXPECT_EQ(level(), health_level::failing);
  EXPECT_THAT(ended, IsEmpty());
}

// Accounts of hosts without a stream of their own come by a relay
TEST_F(HealthLevelTest, WithoutAnyRelayItFails) {
  stream.relay = true;
  stream.connected = false;
  add_streams(4);
  miss();
  EXPECT_EQ(level(), health_level::failing);
  others[0].relay = true;
  look();
  EXPECT_EQ(level(), health_level::degraded);
}

// limits::health_failures_min for each, and for all
TEST_F(HealthLevelTest, ManySmallHostsAreSummedUp) {
  add_streams(enough);
  for (uint64_t i = 0; i + 1 < enough; ++i)
    machine.on_commit(others[i].id, i, 3, "bad_signature", now);
  look();
  EXPECT_THAT(begun, IsEmpty());
  machine.on_commit(others[enough - 1].id, enough, 3, "bad_signature", now);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::commits);
  EXPECT_EQ(begun[0].where, others[enough - 1].origin);
  EXPECT_THAT(begun[0].error, HasSubstr("bad_signature"));
  EXPECT_EQ(level(), health_level::failing) << "five of six streams";
  add_streams(enough);
  look();
  EXPECT_EQ(level(), health_level::degraded) << "five of eleven";
  for (uint64_t i = 0; i <= enough; ++i)
    machine.on_commit(others[i].id, i, 0, "", now);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST_F(HealthLevelTest, OneBadHostOfManyIsNoSum) {
  add_streams(4);
  for (uint64_t i = 0; i < 10 * enough; ++i)
    machine.on_commit(others[0].id, i, 3, "bad_signature", now);
  for (size_t i = 1; i < 4; ++i)
    machine.on_commit(others[i].id, 1'000 + i, 0, "", now);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::upstream);
  EXPECT_EQ(level(), health_level::degraded);
}

// It is not known which repos are stale; everything else continues
TEST_F(HealthLevelTest, AnUpstreamThatOwesItsListingIsNamed) {
  machine.on_listing(1, "a listing fails");
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::upstream);
  EXPECT_EQ(begun[0].where, "https://relay.test");
  EXPECT_EQ(begun[0].error, "a listing fails");
  EXPECT_EQ(level(), health_level::degraded) << "though it is the only one";
  pass(24h);
  EXPECT_THAT(ended, IsEmpty());
  machine.on_listing(1, "");
  look();
  EXPECT_THAT(ended, SizeIs(1));
}

// None of its events is accepted, and this needs a remedy of its own
TEST_F(HealthLevelTest, AnUpstreamThatNoDocumentNamesIsNamedWithItsRemedy) {
  for (uint64_t i = 0; i < enough; ++i)
    machine.on_commit(1, i, 3, "wrong_host", now);
  machine.on_origin(1, "documents name another one", "name that one");
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::upstream);
  EXPECT_EQ(begun[0].where, "https://relay.test");
  EXPECT_EQ(begun[0].error, "documents name another one") << "not its commits";
  EXPECT_EQ(begun[0].remedy(), "name that one");
  EXPECT_EQ(level(), health_level::failing);
  add_streams(3);
  look();
  EXPECT_EQ(level(), health_level::degraded) << "the others are well";
  machine.on_origin(1, "", "");
  for (uint64_t i = 0; i < enough; ++i)
    machine.on_commit(1, i, 0, "", now);
  machine.on_listing(1, "a listing fails");
  look();
  ASSERT_THAT(machine.findings(), SizeIs(1));
  EXPECT_EQ(machine.findings()[0].remedy(), remedy_of(health_cause::upstream));
}

TEST_F(HealthLevelTest, AStreamThatStallsAgainAndAgainIsNamed) {
  stream.last_error = "not read";
  look();
  EXPECT_THAT(begun, IsEmpty());
  stream.stalls = true;
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].error, "not read");
  EXPECT_EQ(level(), health_level::degraded);
  stream.stalls = false;
  look();
  EXPECT_THAT(ended, SizeIs(1));
}

TEST_F(HealthLevelTest, AStreamThatCannotBeReadIsAsGoodAsNone) {
  stream.last_error = "its frames cannot be read";
  stream.stalls = stream.unreadable = true;
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].error, stream.last_error);
  EXPECT_EQ(level(), health_level::failing);
}

} // namespace weir::tests
