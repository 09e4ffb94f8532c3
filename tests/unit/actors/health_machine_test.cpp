#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/health_world.hpp"

// architecture.md, Health: the cause for which most of the work fails.
namespace weir::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HealthTest : public health_world {
protected:
  // The directory has answered.
  HealthTest() { look_up(999, 1, look_up_fault::none); }
};

} // namespace

TEST_F(HealthTest, AnIdleNodeIsWell) {
  pass(24h);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

// limits::health_failures_min
TEST_F(HealthTest, FewFailuresAreNobodysHealthAndMoreAreToldOnce) {
  look_up(0, enough - 1, look_up_fault::unreachable);
  look_up(0, 1, look_up_fault::unreachable); // The same account again.
  look();
  EXPECT_THAT(begun, IsEmpty());
  look_up(100, 1, look_up_fault::unreachable);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::directory);
  EXPECT_EQ(begun[0].where, "https://plc.test");
  EXPECT_EQ(begun[0].error, "HTTP 502");
  look_up(200, 20, look_up_fault::unreachable);
  look();
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_THAT(machine.findings(), SizeIs(1));
}

TEST_F(HealthTest, ItEndsWhenMostSucceedAgainAndNotBetween) {
  look_up(0, 20, look_up_fault::unreachable);
  look();
  look_up(0, 14, look_up_fault::none);
  look();
  EXPECT_THAT(ended, IsEmpty()) << "14 of 20";
  look_up(14, 1, look_up_fault::none);
  look();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].cause, health_cause::directory);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

// limits::health_memory
TEST_F(HealthTest, WhatHappenedLongAgoDoesNotCount) {
  look_up(0, enough - 1, look_up_fault::unreachable);
  pass(limits::health_memory);
  look_up(100, 1, look_up_fault::unreachable);
  look();
  EXPECT_THAT(begun, SizeIs(1));
  machine = health_machine{};
  look_up(999, 1, look_up_fault::none);
  look_up(0, enough - 1, look_up_fault::unreachable);
  pass(limits::health_memory + 1us);
  look_up(100, 1, look_up_fault::unreachable);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
}

// limits::health_memory_failing: after a back-off tries are rare, which does
// not mean that all is well
TEST_F(HealthTest, SilenceIsNoRecovery) {
  look_up(0, enough, look_up_fault::unreachable);
  look();
  pass(limits::health_memory_failing);
  EXPECT_THAT(ended, IsEmpty());
  pass(1us);
  EXPECT_THAT(ended, SizeIs(1)) << "nothing fails any more";
}

// limits::health_subjects_max
TEST_F(HealthTest, SoManySubjectsAreRemembered) {
  outcome_tally tally;
  for (uint64_t i = 0; i <= limits::health_subjects_max; ++i) {
    tally.fail(i, 1, "", now);
    now = now + 1s;
    EXPECT_EQ(tally.size(),
              std::min<size_t>(i + 1, limits::health_subjects_max));
  }
  for (uint64_t i = 1; i <= limits::health_subjects_max; ++i)
    tally.succeed(i, now);
  EXPECT_EQ(tally.judge(now), 0) << "the oldest was forgotten";
}

// limits::health_text_bytes_max
TEST_F(HealthTest, TextsOfOthersAreCut) {
  const std::string text(limits::health_text_bytes_max + 1, 'x');
  outcome_tally tally;
  tally.fail(1, 1, std::string_view{text}.substr(1), now);
  EXPECT_EQ(tally.text().size(), limits::health_text_bytes_max);
  tally.fail(1, 1, text, now);
  EXPECT_EQ(tally.text().size(), limits::health_text_bytes_max);
}

TEST_F(HealthTest, OneBadHostIsNotTheNodesHealth) {
  fetch("https://bad.test", 0, 50, false);
  fetch("https://good.test", 100, 1, true);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::fetch);
  EXPECT_EQ(begun[0].where, "https://bad.test");
  EXPECT_EQ(level(), health_level::degraded) << "most that is tried fails";
  fetch("https://worse.test", 200, 1, false);
  look();
  EXPECT_EQ(level(), health_level::failing) << "two of three";
}

// limits::health_memory does not apply to hosts
TEST_F(HealthTest, AHostThatAnsweredWellLongAgoIsWell) {
  for (uint64_t i = 0; i < 3; ++i)
    fetch("https://pds" + std::to_string(i) + ".test", 10 * i, 10, true);
  pass(10 * limits::health_memory_failing);
  fetch("https://pds0.test", 0, 10, false);
  look();
  EXPECT_EQ(level(), health_level::degraded);
  fetch("https://pds1.test", 10, 10, false);
  look();
  EXPECT_EQ(level(), health_level::failing) << "two of three";
}

// limits::health_hosts_max: those with the latest results are kept
TEST_F(HealthTest, SoManyHostsAreRemembered) {
  const auto host = [](size_t i) {
    return "https://pds" + std::to_string(i) + ".test";
  };
  constexpr auto most = limits::health_hosts_max;
  for (size_t i = 0; i < most; ++i)
    fetch(host(i), i, 1, true);
  pass(limits::health_memory + 1s);
  for (size_t i = 0; i < most / 2; ++i)
    fetch(host(i), i, 1, false);
  look();
  EXPECT_EQ(level(), health_level::degraded) << "half of them";
  fetch(host(most), most, 1, false);
  look();
  EXPECT_EQ(level(), health_level::failing) << "a well one was forgotten";
}

// After a start no other host may be asked for a long time.
TEST_F(HealthTest, AHostThatAnsweredWellInAnEarlierLifeIsWell) {
  machine.recall(atproto::did::trusted("did:plc:" + std::string(24, 'a')),
                 "https://good.test", now);
  fetch("https://bad.test", 0, enough, false);
  look();
  EXPECT_EQ(level(), health_level::degraded);
  fetch("https://good.test", 100, 1, false);
  look();
  EXPECT_EQ(level(), health_level::failing);
}

TEST_F(HealthTest, TheOnlyHostIs) {
  fetch("https://bad.test", 0, enough, false);
  look();
  EXPECT_THAT(begun, SizeIs(1));
}

// limits::health_upstream_grace
TEST_F(HealthTest, AStreamThatIsAwayIsNamedWithItsError) {
  look();
  stream.connected = false;
  stream.last_error = "HTTP 403";
  look();
  pass(limits::health_upstream_grace - 1us);
  EXPECT_THAT(begun, IsEmpty());
  pass(1us);
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::upstream);
  EXPECT_EQ(begun[0].where, "https://relay.test");
  EXPECT_EQ(begun[0].error, "HTTP 403");
  stream.connected = true;
  look();
  pass(limits::health_upstream_grace - 1us);
  EXPECT_THAT(ended, IsEmpty());
  pass(1us);
  EXPECT_THAT(ended, SizeIs(1));
}

TEST_F(HealthTest, AStreamThatIsThereForMomentsIsAway) {
  for (int i = 0; i < 20 && begun.empty(); ++i) {
    stream.connected = i % 3 == 0;
    pass(1s);
  }
  EXPECT_THAT(begun, SizeIs(1));
}

TEST_F(HealthTest, AStreamWhoseCommitsAreRefusedIsNamed) {
  for (uint64_t i = 0; i < enough; ++i)
    machine.on_commit(1, i, 3, "bad_signature", now);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_THAT(begun[0].error, HasSubstr("bad_signature"));
  for (uint64_t i = 0; i < enough; ++i)
    machine.on_commit(1, i, 0, "", now);
  look();
  EXPECT_THAT(ended, SizeIs(1));
}

// "for one reason"
TEST_F(HealthTest, ManyReasonsAreNone) {
  for (uint64_t i = 0; i < 20; ++i)
    machine.on_commit(1, i, static_cast<uint8_t>(1 + i % 4), "x", now);
  look();
  EXPECT_THAT(begun, IsEmpty());
}

TEST_F(HealthTest, AClockInDoubtIsACause) {
  clock.suspect = true;
  clock.behind = 1h;
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::clock);
  EXPECT_THAT(begun[0].error, HasSubstr("60 minutes"));
  EXPECT_EQ(begun[0].since.seconds(), 1);
  clock.suspect = false;
  look();
  EXPECT_THAT(ended, SizeIs(1));
}

// One clock is wrong, and the work continues: the directory is reported and
// asked again.
TEST_F(HealthTest, ADirectoryOfAnotherTimeIsNoReasonToStop) {
  for (const auto& [ahead, words] :
       {std::pair{1h, "60 minutes ahead of this machine's clock"},
        std::pair{-1h, "60 minutes behind this machine's clock"}}) {
    clock.directory_ahead = ahead;
    look();
    ASSERT_THAT(begun, SizeIs(1));
    EXPECT_EQ(begun[0].cause, health_cause::clock);
    EXPECT_EQ(level(), health_level::degraded);
    EXPECT_THAT(begun[0].error, HasSubstr(words));
    clock.directory_ahead.reset();
    look();
    EXPECT_THAT(ended, SizeIs(1));
  }
  clock.directory_ahead = 1h;
  clock.suspect = true;
  look();
  EXPECT_EQ(level(), health_level::failing) << "signers outweigh it";
  EXPECT_THAT(machine.findings(), SizeIs(1));
}

TEST_F(HealthTest, EachCauseHasARemedy) {
  for (const auto x : health_causes)
    EXPECT_STRNE(remedy_of(x), "") << to_string(x);
}

} // namespace weir::tests
