#include "actors/supervisor/question_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

/// Asking hosts what accounts are there (protocol.md 2.1.3, 4.5).
namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using actors::question_machine;
using actors::question_options;
using storage::account_status;
using testing::ElementsAre;
using testing::IsEmpty;

atproto::did repo_of(size_t n) {
  return atproto::did::trusted("did:web:a" + std::to_string(n) + ".test");
}

const std::string pds = "https://pds.test";

struct world {
  explicit world(question_options x = {}) : options(x), machine(x) {
    // nop
  }

  void take(const question_machine::effects& x) {
    for (const auto& each : x.ask)
      asked.push_back(each.repo);
    for (const auto& each : x.told)
      told.push_back(each.account);
    timer = x.timer;
  }

  void ask(size_t n, const std::string& host = pds, bool at_once = false,
           bool not_found = false) {
    take(machine.on_question({repo_of(n), host, not_found, at_once}, now));
  }

  void tell(size_t n, account_status x, const std::string& host = pds) {
    take(machine.on_told(repo_of(n), host, x, now));
  }

  void not_found(size_t n) {
    take(machine.on_not_found(repo_of(n), pds, now));
  }

  void pass(std::chrono::microseconds x) {
    now = now + x;
    take(machine.on_timer(now));
  }

  question_options options;
  question_machine machine;
  steady_time now{1'000'000'000};
  std::vector<atproto::did> asked;
  std::vector<account_status> told;
  std::optional<steady_time> timer;
};

// protocol.md 2.1.3: at most once in an interval, unless somebody asks for it
TEST(question_machine, an_account_is_asked_about_once_in_an_interval) {
  world x;
  x.ask(1);
  x.ask(1); // Under way.
  x.ask(1, pds, true);
  EXPECT_EQ(x.asked.size(), 1u);
  x.tell(1, account_status::deactivated);
  EXPECT_THAT(x.told, ElementsAre(account_status::deactivated));
  x.pass(limits::account_question_interval - 1us);
  x.ask(1);
  EXPECT_EQ(x.asked.size(), 1u);
  x.ask(1, pds, true);
  EXPECT_EQ(x.asked.size(), 2u);
  x.tell(1, account_status::active);
  x.pass(limits::account_question_interval);
  x.ask(1);
  EXPECT_EQ(x.asked.size(), 3u);
}

// protocol.md 4.5: 400 RepoNotFound there = gone from that host. Said once it
// proves nothing.
TEST(question_machine, an_account_is_gone_when_it_was_not_found_twice) {
  world x;
  x.ask(1);
  x.not_found(1);
  EXPECT_THAT(x.told, IsEmpty());
  x.pass(x.options.gone_grace - 1us);
  EXPECT_EQ(x.asked.size(), 1u);
  x.pass(1us);
  EXPECT_EQ(x.asked.size(), 2u);
  x.not_found(1);
  EXPECT_THAT(x.told, ElementsAre(account_status::deleted));
  EXPECT_EQ(x.machine.open(), 0u);
}

TEST(question_machine, an_account_that_is_found_the_second_time_is_there) {
  world x;
  x.ask(1);
  x.not_found(1);
  x.pass(x.options.gone_grace);
  x.tell(1, account_status::active);
  EXPECT_THAT(x.told, ElementsAre(account_status::active));
}

// What a fetch was told is the first time.
TEST(question_machine, a_fetch_that_found_nothing_counts_as_asked) {
  world x;
  x.ask(1, pds, false, true);
  EXPECT_THAT(x.asked, IsEmpty());
  x.ask(1, pds, false, true);
  x.pass(x.options.gone_grace);
  EXPECT_EQ(x.asked.size(), 1u);
  x.not_found(1);
  EXPECT_THAT(x.told, ElementsAre(account_status::deleted));
}

// protocol.md 4.5: host unreachable: status unchanged
// `limits::account_question_tries_max`
TEST(question_machine, a_host_that_does_not_answer_is_asked_later_and_later) {
  world x;
  x.ask(1);
  auto wait = std::chrono::seconds{limits::account_question_retry};
  for (size_t i = 1; i < limits::account_question_tries_max; ++i) {
    x.take(x.machine.on_failed(repo_of(1), pds, 0s, x.now));
    x.pass(wait - 1us);
    EXPECT_EQ(x.asked.size(), i);
    x.pass(1us);
    EXPECT_EQ(x.asked.size(), i + 1);
    wait *= 2;
  }
  x.take(x.machine.on_failed(repo_of(1), pds, 0s, x.now));
  EXPECT_EQ(x.machine.open(), 0u);
  EXPECT_THAT(x.told, IsEmpty());
}

// reliability.md 2.1: Retry-After rests the host, not only the account
TEST(question_machine, a_host_that_asks_for_time_gets_it) {
  world x;
  for (size_t i = 0; i < 10; ++i)
    x.ask(i);
  ASSERT_EQ(x.asked.size(), limits::account_questions_per_host_max);
  x.take(x.machine.on_failed(x.asked[0], pds, 90s, x.now));
  x.take(x.machine.on_told(x.asked[1], pds, account_status::active, x.now));
  EXPECT_EQ(x.asked.size(), limits::account_questions_per_host_max);
  x.ask(50, "https://other.test");
  EXPECT_EQ(x.asked.back(), repo_of(50));
  x.pass(90s);
  EXPECT_EQ(x.asked.size(), 2 * limits::account_questions_per_host_max + 1);
}

// `limits::account_questions_running_max`: no host has all of them
TEST(question_machine, hosts_are_asked_in_turn_and_few_at_a_time) {
  world x;
  const auto host = [](size_t n) {
    return "https://h" + std::to_string(n) + ".test";
  };
  size_t number = 0;
  for (size_t i = 0; i < 20; ++i)
    for (size_t j = 0; j < 3; ++j)
      x.ask(number++, host(i));
  EXPECT_EQ(x.asked.size(), limits::account_questions_running_max);
  std::set<atproto::did> all;
  for (size_t done = 0; done < x.asked.size(); ++done) {
    const auto repo = x.asked[done];
    EXPECT_TRUE(all.insert(repo).second);
    for (size_t i = 0; i < 20; ++i)
      x.take(x.machine.on_told(repo, host(i), account_status::active, x.now));
  }
  EXPECT_EQ(all.size(), number);
  EXPECT_EQ(x.machine.open(), 0u);
}

// protocol.md 4.6: after a migration the new host is asked instead
TEST(question_machine, the_latest_host_counts) {
  world x;
  x.ask(1, pds, false, true);
  x.ask(1, "https://other.test", true);
  EXPECT_THAT(x.asked, ElementsAre(repo_of(1)));
  x.tell(1, account_status::active);
  EXPECT_THAT(x.told, IsEmpty());
  x.tell(1, account_status::active, "https://other.test");
  EXPECT_THAT(x.told, ElementsAre(account_status::active));
}

TEST(question_machine, a_host_that_cannot_say_is_left_alone) {
  world x;
  x.ask(1);
  x.take(x.machine.on_useless(repo_of(1), pds, x.now));
  x.ask(1);
  EXPECT_EQ(x.asked.size(), 1u);
  EXPECT_EQ(x.machine.open(), 0u);
}

// `limits::account_questions_max` and `limits::account_answers_kept_max`, and
// one more of each
TEST(question_machine, its_memory_is_bounded) {
  world x;
  EXPECT_EQ(x.options.waiting_max, limits::account_questions_max);
  EXPECT_EQ(x.options.kept_max, limits::account_answers_kept_max);
  for (size_t i = 0; i <= x.options.waiting_max; ++i)
    x.ask(i);
  EXPECT_EQ(x.machine.open(), x.options.waiting_max);
  EXPECT_FALSE(x.machine.has_room());
  question_options few;
  few.kept_max = 3;
  world y{few};
  for (size_t i = 0; i < 4; ++i) {
    y.ask(i);
    y.tell(i, account_status::active);
  }
  EXPECT_EQ(y.machine.kept(), 3u);
  y.pass(y.options.interval);
  y.ask(9);
  EXPECT_EQ(y.machine.kept(), 0u);
}

} // namespace
} // namespace weir::tests
