#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/identity_world.hpp"

#include <map>

/// Failing identities, and others with them.
namespace weir::tests::identities {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// protocol-coverage.md 8.2, 8.3: a request before the end of the pause gets the
// failure and the time of the next try
TEST(identity_machine, a_look_up_that_failed_is_made_again_after_its_pause) {
  resolver x;
  x.fetch(1);
  x.document(fail(ec::unreachable, "HTTP 500"));
  const auto due = x.now + limits::lookup_pause_min;
  EXPECT_EQ(x.last.answers.at(0).not_before, due);
  for (const auto fresh : {false, true}) {
    x.ask(2, fresh);
    if (!fresh)
      x.loaded(std::nullopt);
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].fact.error().code, ec::unreachable);
    EXPECT_THAT(x.last.answers[0].fact.error().context,
                testing::HasSubstr("failed: unreachable: HTTP 500"));
    EXPECT_EQ(x.last.answers[0].not_before, due);
    EXPECT_TRUE(x.last.answers[0].last);
    EXPECT_THAT(x.last.fetch, IsEmpty());
  }
  x.pass(limits::lookup_pause_min);
  x.fetch(3);
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
  x.document(doc_of());
  EXPECT_TRUE(x.last.answers.at(0).fact);
}

// A directory that limits us (429) may say so in any answer.
TEST(identity_machine, a_directory_that_limits_us_is_asked_for_nothing) {
  resolver x;
  x.last = x.machine.on_document(repo_of(2), fail(ec::unreachable, "HTTP 429"),
                                 false, x.now, x.wall, 60s);
  EXPECT_THAT(x.last.answers, IsEmpty()) << "nobody waited for that one";
  EXPECT_TRUE(x.machine.directory_pace().rests(x.now));
  x.fetch(1);
  EXPECT_THAT(x.last.fetch, IsEmpty());
  EXPECT_EQ(x.last.timer, x.now + 60s);
  x.fetch(2, web_repo(1));
  EXPECT_THAT(x.last.fetch, ElementsAre(web_repo(1)));
  x.last = x.machine.on_document(web_repo(1), fail(ec::unreachable, "HTTP 429"),
                                 false, x.now, x.wall, 90s);
  x.pass(60s);
  EXPECT_FALSE(x.machine.directory_pace().rests(x.now));
  x.last = x.machine.on_timer(x.now);
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
}

// actors.md, Who is looked up next: that is not a failure of the look-up, which
// is repeated after the directory's rest for everyone who asked before or
// meanwhile
TEST(identity_machine, a_look_up_that_is_limited_waits_and_is_made_again) {
  resolver x;
  const auto limit = [&x] {
    x.last = x.machine.on_document(alice, fail(ec::unreachable, "HTTP 429"),
                                   false, x.now, x.wall, 60s);
    EXPECT_THAT(x.last.answers, IsEmpty());
    EXPECT_THAT(x.last.fetch, IsEmpty());
    EXPECT_EQ(x.last.timer, x.now + 60s);
    EXPECT_EQ(x.machine.waiting(), 1u);
  };
  x.fetch(1);
  x.ask(2, true);
  limit();
  for (int i = 0; i < 3; ++i) {
    x.pass(60s);
    x.last = x.machine.on_timer(x.now);
    ASSERT_THAT(x.last.fetch, ElementsAre(alice)) << "and no pause is longer";
    limit();
  }
  x.pass(60s);
  x.last = x.machine.on_timer(x.now);
  x.document(doc_of());
  ASSERT_EQ(x.last.answers.size(), 2u);
  for (const auto& y : x.last.answers)
    EXPECT_TRUE(y.fact && y.last);
  EXPECT_THAT(x.last.fetch, IsEmpty()) << "who asked meanwhile has it, too";
}

TEST(identity_machine, a_probe_is_sent_unless_the_directory_limits_us) {
  resolver x;
  x.fetch(1);
  x.document(fail(ec::unreachable, "refused"));
  EXPECT_THAT(x.machine.on_probe(alice, x.now).fetch, ElementsAre(alice));
  x.machine.rest_directory(0s, x.now);
  x.pass(limits::plc_rest_min - 1us);
  EXPECT_THAT(x.machine.on_probe(alice, x.now).fetch, IsEmpty());
  x.pass(1us);
  EXPECT_THAT(x.machine.on_probe(alice, x.now).fetch, ElementsAre(alice));
}

// plc_per_second: the most documents that are requested, for whatever reason
TEST(identity_machine, one_look_up_less_begins_for_each_probe) {
  identity_options options;
  options.per_second = 20;
  resolver x{options};
  for (int i = 1; i <= 60; ++i)
    x.fetch(1, repo_of(i));
  const auto begun_in_a_second = [&] {
    x.pass(1s);
    return x.machine.on_timer(x.now).fetch.size();
  };
  EXPECT_EQ(begun_in_a_second(), 20u);
  EXPECT_THAT(x.machine.on_probe(alice, x.now).fetch, ElementsAre(alice))
    << "at once, although the budget is spent";
  EXPECT_EQ(begun_in_a_second(), 19u);
}

// At one look-up in ten seconds the probes of a minute would take all of them.
TEST(identity_machine, probes_take_at_most_every_second_look_up) {
  identity_options options;
  options.per_second = 0.1;
  resolver x{options};
  for (int i = 1; i <= 60; ++i)
    x.fetch(1, repo_of(i));
  size_t begun = 0;
  for (int i = 0; i < 200; ++i) {
    x.pass(3s);
    EXPECT_THAT(x.machine.on_probe(alice, x.now).fetch, ElementsAre(alice));
    begun += x.machine.on_timer(x.now).fetch.size();
  }
  EXPECT_GE(begun, 28u) << "600 seconds allow 60 requests";
  EXPECT_LE(begun, 31u);
}

// limits::identity_waiting_max: it takes a place like any other
TEST(identity_machine, look_ups_that_are_limited_hold_no_more_places) {
  identity_options options;
  options.waiting_max = 2;
  resolver x{options};
  x.fetch(1);
  x.last = x.machine.on_document(alice, fail(ec::unreachable, "HTTP 429"),
                                 false, x.now, x.wall, 60s);
  x.fetch(2, repo_of(2));
  EXPECT_THAT(x.last.answers, IsEmpty());
  x.fetch(3, repo_of(3));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
  EXPECT_EQ(x.machine.waiting(), 2u);
}

// A request for a new document during the look-up gets the failure, too
TEST(identity_machine, one_who_asked_anew_hears_of_the_failure_too) {
  resolver x;
  x.fetch(1);
  x.ask(1, true);
  x.ask(2, true);
  x.document(fail(ec::unreachable));
  EXPECT_EQ(x.last.answers.size(), 2u);
  EXPECT_THAT(x.last.fetch, IsEmpty());
  EXPECT_EQ(x.machine.waiting(), 0u);
}

// actors.md, Who is looked up next: PLC look-ups have a budget. 300 identities
// that always fail use at most `limits::retry_share` of it; new ones and
// rotated keys are looked up at once
TEST(identity_machine, identities_that_fail_for_ever_leave_the_budget_to_others) {
  constexpr int failing = 300;
  constexpr auto tick = 100ms;
  identity_options options;
  options.per_second = 20;
  resolver x{options};
  const auto known = repo_of(1'000);
  x.fetch(7, known);
  x.document(doc_of(), false, known);
  std::map<atproto::did, steady_time> due;
  for (int i = 0; i < failing; ++i)
    due.emplace(repo_of(i), x.now);
  size_t made = 0;
  const auto answer = [&](const identity_machine::effects& out) {
    auto fetch = out.fetch;
    while (!fetch.empty()) {
      const auto repo = fetch.back();
      fetch.pop_back();
      if (!due.contains(repo))
        continue;
      ++made;
      x.document(fail(ec::unreachable), false, repo);
      due[repo] = x.last.answers.at(0).not_before;
      fetch.insert(fetch.end(), x.last.fetch.begin(), x.last.fetch.end());
    }
  };
  const auto second = [&] {
    for (int i = 0; i < 10; ++i) {
      x.pass(tick);
      answer(x.machine.on_timer(x.now));
      for (auto& [repo, at] : due)
        if (at <= x.now) {
          at = x.now + 24h; // It waits until it is answered.
          x.ask(1 + at.micros % 7, true, repo);
          if (!x.last.load.empty())
            x.loaded(std::nullopt, repo);
          answer(x.last);
        }
    }
  };
  for (int i = 0; i < 60; ++i) // Each fails once, as a new one does.
    second();
  const auto before = made;
  for (int i = 0; i < 60; ++i)
    second();
  EXPECT_LE(made - before, 60 * 20 * limits::retry_share);
  x.fetch(8, repo_of(2'000));
  EXPECT_THAT(x.last.fetch, testing::Contains(repo_of(2'000)));
  x.ask(9, true, known);
  EXPECT_THAT(x.last.fetch, testing::Contains(known));
}

} // namespace
} // namespace weir::tests::identities
