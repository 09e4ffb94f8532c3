#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/health_world.hpp"

// architecture.md, Health: options that name a server which is not a directory
// or resolver are reported at the first answer.
namespace weir::tests {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class HealthAnswersTest : public health_world {
protected:
  HealthAnswersTest() {
    machine.begin("https://plc.test", "https://resolver.test");
  }

  void handle(const std::string& failure) { machine.on_handle(failure, now); }
};

} // namespace

TEST_F(HealthAnswersTest, ADirectoryThatNeverAnsweredIsNamedByOneLookUp) {
  look_up(0, 1, look_up_fault::unreachable);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::directory);
  EXPECT_EQ(begun[0].where, "https://plc.test");
  EXPECT_EQ(begun[0].error, "HTTP 502");
  EXPECT_EQ(begun[0].level, health_level::degraded);
  pass(24h);
  EXPECT_THAT(machine.findings(), SizeIs(1)) << "nobody saw it answer";
  look_up(0, enough, look_up_fault::unreachable);
  look();
  EXPECT_THAT(begun, IsEmpty()) << "it was told";
  EXPECT_EQ(level(), health_level::failing);
}

TEST_F(HealthAnswersTest, OneAnswerOfADirectoryEndsThat) {
  for (const auto fault : {look_up_fault::none, look_up_fault::unknown,
                           look_up_fault::unusable}) {
    look_up(0, 1, look_up_fault::unreachable);
    look();
    EXPECT_THAT(machine.findings(), SizeIs(1));
    look_up(1, 1, fault);
    look();
    EXPECT_THAT(ended, SizeIs(1));
    look_up(0, enough - 1, look_up_fault::unreachable);
    look();
    EXPECT_THAT(machine.findings(), IsEmpty()) << "few failures are nothing";
    machine = health_machine{};
  }
}

// limits::health_answer_grace: an address where no server answers
TEST_F(HealthAnswersTest, OneThatIsAskedAndSilentIsNamedBeforeItFails) {
  for (const auto resolver : {false, true}) {
    machine = health_machine{};
    machine.begin("https://plc.test", "https://resolver.test");
    machine.on_asked(resolver, now);
    pass(limits::health_answer_grace - 1us);
    EXPECT_THAT(machine.findings(), IsEmpty());
    machine.on_asked(resolver, now); // This is not the first request.
    pass(1us);
    ASSERT_THAT(machine.findings(), SizeIs(1));
    EXPECT_EQ(machine.findings()[0].cause,
              resolver ? health_cause::resolver : health_cause::directory);
    EXPECT_EQ(machine.findings()[0].error, "it was asked, and does not answer");
    EXPECT_EQ(level(), health_level::degraded);
    if (resolver)
      handle({});
    else
      look_up(0, 1, look_up_fault::none);
    look();
    EXPECT_THAT(machine.findings(), IsEmpty());
    machine.on_asked(resolver, now);
    pass(24h);
    EXPECT_THAT(machine.findings(), IsEmpty()) << "it has answered once";
  }
}

TEST_F(HealthAnswersTest, AHandleThatNobodyHadToAskForDoesNotWait) {
  machine.on_asked(true, now);
  machine.on_resolver_unasked();
  pass(24h);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST_F(HealthAnswersTest, WithoutAResolverNoHandleWaits) {
  machine = health_machine{};
  machine.begin("https://plc.test");
  machine.on_asked(true, now);
  pass(24h);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

// It was down, and limits us since it is back: this needs another remedy.
TEST_F(HealthAnswersTest, OneThatLimitsUsAfterItWasAwayIsNamedAsThat) {
  look_up(0, enough, look_up_fault::unreachable);
  look();
  EXPECT_EQ(level(), health_level::failing);
  look_up(0, enough, look_up_fault::limited);
  look();
  EXPECT_EQ(level(), health_level::degraded);
  EXPECT_THAT(std::string{machine.findings()[0].remedy()},
              testing::HasSubstr("plc_per_second"));
}

// limits::health_rest_min: nothing is requested, so nothing fails
TEST_F(HealthAnswersTest, ALongRestIsACauseWhileItLasts) {
  look_up(0, 1, look_up_fault::none);
  machine.on_directory_rest(now + (limits::health_rest_min - 1s), now);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
  machine.on_directory_rest(now + limits::health_rest_min, now);
  look();
  ASSERT_THAT(machine.findings(), SizeIs(1));
  EXPECT_EQ(level(), health_level::degraded);
  EXPECT_EQ(machine.findings()[0].error,
            "it asked (HTTP 429) not to be asked for 60 seconds");
  pass(limits::health_rest_min);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST_F(HealthAnswersTest, WhatNoDirectorySaysIsNoAnswer) {
  for (const auto fault : {look_up_fault::lost, look_up_fault::foreign}) {
    machine = health_machine{};
    look_up(0, 1, fault);
    look();
    ASSERT_THAT(machine.findings(), SizeIs(1));
    EXPECT_EQ(level(), health_level::degraded);
  }
  machine = health_machine{};
  look_up(0, 1, look_up_fault::unknown);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
}

// A user who waits for the first repo learns at once what to do.
TEST_F(HealthAnswersTest, ADirectoryThatLimitsTheFirstLookUpIsNamed) {
  look_up(0, 1, look_up_fault::limited);
  look();
  ASSERT_THAT(machine.findings(), SizeIs(1));
  EXPECT_EQ(level(), health_level::degraded);
  EXPECT_THAT(std::string{machine.findings()[0].remedy()},
              testing::HasSubstr("lower plc_per_second"));
  look_up(0, 1, look_up_fault::none);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
  look_up(0, 1, look_up_fault::limited);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty()) << "one of many is no matter";
}

// limits::health_probe_interval: the repo's own pauses grow
TEST_F(HealthAnswersTest, OneThatNeverAnsweredIsAskedNowAndThen) {
  const auto account = atproto::did::trusted("did:plc:a");
  machine.remember(account, false);
  look_up(0, 1, look_up_fault::unreachable);
  look();
  EXPECT_FALSE(probe) << "it was asked a moment ago";
  for (int i = 0; i < 3; ++i) {
    pass(limits::health_probe_interval - 1us);
    EXPECT_FALSE(probe);
    pass(1us);
    EXPECT_EQ(probe, account);
    look_up(0, 1, look_up_fault::unreachable);
  }
  look_up(0, 1, look_up_fault::none);
  pass(limits::health_probe_interval);
  EXPECT_FALSE(probe);
}

TEST_F(HealthAnswersTest, ADirectoryThatLimitsMostIsNamedAndTheNodeGoesOn) {
  look_up(0, enough, look_up_fault::limited);
  look();
  ASSERT_THAT(machine.findings(), SizeIs(1));
  EXPECT_EQ(level(), health_level::degraded);
  look_up(0, 3 * enough, look_up_fault::unreachable);
  look();
  EXPECT_EQ(level(), health_level::failing) << "now it is away";
  look_up(0, 3 * enough, look_up_fault::none);
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST_F(HealthAnswersTest, AResolverThatNeverAnsweredIsNamedByOneHandle) {
  handle("refused");
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::resolver);
  EXPECT_EQ(begun[0].where, "https://resolver.test");
  EXPECT_EQ(begun[0].error, "refused");
  EXPECT_EQ(begun[0].level, health_level::degraded);
  pass(24h);
  EXPECT_EQ(level(), health_level::degraded) << "nobody saw it answer";
  handle("");
  look();
  EXPECT_THAT(ended, SizeIs(1));
}

// limits::health_failures_min, limits::health_memory_failing
TEST_F(HealthAnswersTest, OneThatAnsweredIsNamedByAsManyFailuresInARow) {
  const auto fail = [this](size_t n) {
    for (size_t i = 0; i < n; ++i)
      handle("refused");
    look();
  };
  handle("");
  fail(enough - 1);
  EXPECT_THAT(machine.findings(), IsEmpty());
  handle("");
  fail(enough - 1);
  EXPECT_THAT(machine.findings(), IsEmpty()) << "it answered in between";
  fail(1);
  ASSERT_THAT(machine.findings(), SizeIs(1));
  EXPECT_EQ(level(), health_level::degraded);
  pass(limits::health_memory + 1us);
  EXPECT_EQ(level(), health_level::unproved);
  pass(limits::health_memory_failing);
  EXPECT_THAT(machine.findings(), IsEmpty());
}

TEST_F(HealthAnswersTest, WithoutAResolverHandlesAreNobodysHealth) {
  machine.begin("https://plc.test");
  handle("refused");
  look();
  EXPECT_THAT(machine.findings(), IsEmpty());
}

} // namespace weir::tests
