#include "actors/supervisor/completeness_laps.hpp"
#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/limits.hpp"

#include "actors/supervisor/question_machine.hpp"

#include <gtest/gtest.h>

#include <set>

/// What checks of all rows have done about copies that are not complete.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;

constexpr size_t wakes = limits::completeness_wakes_max;
constexpr size_t asked = limits::uncovered_asked_per_host;
constexpr steady_time noon{1'000'000'000};
const std::string some_host = "https://a.test";

/// DIDs in the order of their numbers.
atproto::did mended(size_t n) {
  return atproto::did::trusted("did:web:a" + std::to_string(100'000 + n)
                               + ".test");
}

} // namespace

// limits::completeness_wakes_max, limits::completeness_wake_interval
TEST(completeness_budget, so_many_are_woken_in_a_time) {
  completeness_budget x;
  x.on_begin();
  constexpr std::chrono::microseconds time = limits::completeness_wake_interval;
  for (size_t i = 0; i < wakes; ++i)
    ASSERT_TRUE(x.may_wake(mended(i), noon)) << i;
  EXPECT_FALSE(x.may_wake(mended(wakes), noon));
  EXPECT_FALSE(x.may_wake(mended(wakes + 1), noon + (time - 1us)));
  EXPECT_TRUE(x.may_wake(mended(wakes + 2), noon + time));
}

// CONS-27: rows at the end do not always come after the others
TEST(completeness_budget, the_next_look_goes_on_with_the_first_that_waited) {
  completeness_budget x;
  constexpr size_t all = 10 * wakes + 1;
  std::set<size_t> woken;
  auto now = noon;
  size_t looks = 0;
  for (; woken.size() < all && looks < 12; ++looks) {
    x.on_begin();
    for (size_t i = 0; i < all; ++i)
      if (x.may_wake(mended(i), now))
        woken.insert(i); // The row stays as it is.
    x.on_end();
    now = now + limits::completeness_pause;
  }
  EXPECT_EQ(woken.size(), all);
  EXPECT_EQ(looks, 11u);
  x.on_begin();
  EXPECT_TRUE(x.may_wake(mended(0), now)) << "and from the start again";
}

// limits::uncovered_asked_per_host
TEST(completeness_budget, a_host_is_asked_about_so_many_in_an_hour) {
  completeness_budget x;
  for (size_t i = 0; i < asked; ++i)
    ASSERT_TRUE(x.may_ask(some_host, noon)) << i;
  EXPECT_FALSE(x.may_ask(some_host, noon));
  EXPECT_TRUE(x.may_ask("https://b.test", noon));
  EXPECT_FALSE(x.may_ask(some_host, noon + (1h - 1us)));
  EXPECT_TRUE(x.may_ask(some_host, noon + 1h));
}

// CONS-29: repos that cannot be proved do not use the budget of others
// limits::completeness_ask_part
TEST(completeness_budget, each_hour_asks_about_another_part_of_a_host) {
  completeness_budget x{7};
  constexpr size_t all = 5 * asked;
  std::set<size_t> done;
  const auto look = [&](steady_time now) {
    x.on_begin();
    for (size_t i = 0; i < all; ++i)
      if (x.has_turn(mended(i), some_host, now) && x.may_ask(some_host, now))
        done.insert(i);
    x.on_end();
  };
  look(noon); // The number of repos is not known yet.
  EXPECT_EQ(done.size(), asked);
  constexpr size_t parts = all * limits::completeness_ask_part / asked;
  for (size_t hour = 1; hour <= parts; ++hour) {
    look(noon + hour * std::chrono::microseconds{1h});
    look(noon + hour * std::chrono::microseconds{1h} + 5s);
  }
  EXPECT_EQ(done.size(), all);
}

// CONS-29: while half of the places for questions are free
TEST(completeness_budget, a_question_is_made_while_it_is_new_and_has_room) {
  question_options options;
  options.waiting_max = 4;
  question_machine open{options};
  completeness_budget x;
  const completeness_page::repo found{mended(1), some_host, true, {7, 1, 10}};
  const auto help = x.help_for(found, open, noon);
  const auto& question = help.ask;
  ASSERT_TRUE(question);
  EXPECT_FALSE(help.wake) << "its host is to prove it";
  EXPECT_TRUE(question->left_out);
  EXPECT_TRUE(question->prove);
  EXPECT_EQ(question->noted, found.noted);
  open.on_question(*question, noon);
  const auto again = x.help_for(found, open, noon);
  EXPECT_FALSE(again.ask) << "it is open";
  EXPECT_FALSE(again.wake);
  const completeness_page::repo other{mended(2), some_host, true, {7, 1, 10}};
  ASSERT_TRUE(x.help_for(other, open, noon).ask);
  open.on_question(*x.help_for(other, open, noon).ask, noon);
  EXPECT_FALSE(
    x.help_for({mended(3), some_host, true, {7, 1, 10}}, open, noon).ask);
}

// CONS-27, CONS-28: no host knows what it lacks
TEST(completeness_budget, a_repo_that_sees_the_reason_is_woken_and_not_asked) {
  const question_machine open{question_options{}};
  completeness_budget x;
  x.on_begin();
  for (size_t i = 0; i <= wakes; ++i) {
    const auto help = x.help_for({mended(i), some_host, false, {}}, open, noon);
    EXPECT_EQ(help.wake, i < wakes) << i;
    EXPECT_FALSE(help.ask) << i;
  }
  const completeness_page::repo unproved{mended(1), some_host, true,
                                         {7, 1, 10}};
  EXPECT_TRUE(x.help_for(unproved, open, noon).ask) << "this wakes nobody";
}

// limits::uncovered_host_slots: it cannot be predicted which hosts share a
// budget
TEST(completeness_budget, whose_budget_is_shared_depends_on_the_salt) {
  const auto shares = [](uint64_t salt) {
    completeness_budget x{salt};
    for (size_t i = 0; i < asked; ++i)
      x.may_ask(some_host, noon);
    std::set<size_t> out;
    for (size_t i = 0; i < 4 * limits::uncovered_host_slots; ++i)
      if (!x.may_ask("https://h" + std::to_string(i) + ".test", noon))
        out.insert(i);
    return out;
  };
  const auto one = shares(1);
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(one, shares(1));
  EXPECT_NE(one, shares(2));
}

namespace {

struct proof_questions {
  question_machine machine{question_options{}};
  question_machine::question what{mended(1), some_host};
  steady_time now = noon;

  proof_questions() {
    what.left_out = what.prove = true;
    what.noted = {7, 1, 10};
  }

  /// @returns whether the host is asked
  bool ask() {
    const auto is_new = machine.is_new(what, now);
    const auto out = machine.on_question(what, now);
    EXPECT_EQ(is_new, !out.ask.empty());
    return is_new;
  }
};

} // namespace

// limits::account_question_interval
TEST(completeness_questions, an_answer_is_asked_for_once_in_an_interval) {
  using account = storage::account_status;
  proof_questions x;
  ASSERT_TRUE(x.ask());
  EXPECT_FALSE(x.ask()) << "it is under way";
  x.machine.on_answer(
    {x.what.repo, some_host, account_answer::kind::stated, account::active},
    x.now);
  EXPECT_FALSE(x.ask());
  x.what.noted.epoch = 2;
  EXPECT_TRUE(x.ask()) << "an answer of before the reset is no proof";
  x.machine.on_answer({x.what.repo, some_host, account_answer::kind::useless},
                      x.now);
  EXPECT_FALSE(x.ask());
  x.now = x.now + (limits::account_question_interval - 1us);
  EXPECT_FALSE(x.ask());
  x.now = x.now + 1us;
  EXPECT_TRUE(x.ask());
}

// Otherwise each check would start the tries anew.
TEST(completeness_questions, a_host_that_fails_is_left_alone_as_long) {
  proof_questions x;
  ASSERT_TRUE(x.ask());
  for (size_t i = 0; i < limits::account_question_tries_max; ++i) {
    const auto out = x.machine.on_answer(
      {x.what.repo, some_host, account_answer::kind::failed}, x.now);
    if (out.timer)
      x.machine.on_timer(x.now = *out.timer);
  }
  ASSERT_EQ(x.machine.open(), 0u);
  EXPECT_FALSE(x.ask());
  x.now = x.now + limits::account_question_interval;
  EXPECT_TRUE(x.ask());
}

// Its stream was reset before the host could be asked again.
TEST(completeness_questions, an_answer_proves_what_was_noted_before_it) {
  proof_questions x;
  ASSERT_TRUE(x.ask());
  x.what.noted.epoch = 2;
  x.machine.on_question(x.what, x.now);
  const auto failed = x.machine.on_answer(
    {x.what.repo, some_host, account_answer::kind::failed}, x.now);
  x.what.noted.epoch = 3;
  x.machine.on_question(x.what, x.now);
  ASSERT_TRUE(failed.timer);
  x.now = *failed.timer;
  ASSERT_EQ(x.machine.on_timer(x.now).ask.size(), 1u);
  x.what.noted.epoch = 4;
  x.machine.on_question(x.what, x.now);
  const auto out
    = x.machine.on_answer({x.what.repo, some_host, account_answer::kind::stated,
                           storage::account_status::active},
                          x.now);
  ASSERT_EQ(out.answers.size(), 1u);
  EXPECT_EQ(out.answers[0].noted.epoch, 3u) << "the fourth began after it";
}

} // namespace weir::actors
