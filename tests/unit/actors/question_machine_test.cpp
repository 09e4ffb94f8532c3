#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/question_machine.hpp"
#include "actors/supervisor/supervisor_options.hpp"
#include "actors/support/limits.hpp"
#include "storage/tables/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

/// Questions to hosts about the state of accounts (protocol-coverage.md 2.1.3,
/// 4.5).
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

size_t number_of(const atproto::did& repo) {
  return std::stoul(repo.str().substr(std::string_view{"did:web:a"}.size()));
}

const std::string pds = "https://pds.test";

struct world {
  using said = account_answer::kind;

  explicit world(question_options x = {}) : options(x), machine(x) {}

  void take(const question_machine::effects& x) {
    for (const auto& each : x.ask)
      asked.push_back(each.repo);
    for (const auto& each : x.answers)
      if (each.once)
        lost.push_back(each.repo);
      else
        answers.push_back(each.account);
    for (const auto& each : x.refused)
      refused.push_back(each.repo);
    timer = x.timer;
  }

  void ask(size_t n, const std::string& host = pds, bool at_once = false,
           bool not_found = false) {
    take(machine.on_question({repo_of(n), host, not_found, at_once}, now));
  }

  /// Asks a question for whose answer somebody waits.
  void ask_urgently(size_t n, const std::string& host) {
    take(machine.on_question({repo_of(n), host, false, true, true, false},
                             now));
  }

  /// Asks about a repo that a listing left out.
  void leave_out(size_t n, const std::string& host = pds) {
    take(machine.on_question({repo_of(n), host, false, false, false, true},
                             now));
  }

  void answer(const account_answer& x) { take(machine.on_answer(x, now)); }
  void not_found(size_t n) { answer({repo_of(n), pds, said::not_found}); }

  void fail(size_t n, const std::string& host, std::chrono::seconds pause) {
    answer({repo_of(n), host, said::failed, account_status::active, pause});
  }

  void tell(size_t n, account_status x, const std::string& host = pds) {
    answer({repo_of(n), host, said::stated, x});
  }

  void pass(std::chrono::microseconds x) {
    now = now + x;
    take(machine.on_timer(now));
  }

  question_options options;
  question_machine machine;
  steady_time now{1'000'000'000};
  std::vector<atproto::did> asked;
  std::vector<account_status> answers;
  std::vector<atproto::did> refused;
  std::vector<atproto::did> lost;
  std::optional<steady_time> timer;
};

// protocol-coverage.md 2.1.3: at most once in an interval, unless an operator
// asks for it
TEST(question_machine, an_account_is_asked_about_once_in_an_interval) {
  world x;
  x.ask(1);
  x.ask(1); // The question is already in flight.
  x.ask(1, pds, true);
  EXPECT_EQ(x.asked.size(), 1u);
  x.tell(1, account_status::deactivated);
  EXPECT_THAT(x.answers, ElementsAre(account_status::deactivated));
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

// protocol-coverage.md 4.5: 400 RepoNotFound means that the repo is gone from
// that host. A single such answer proves nothing.
TEST(question_machine, an_account_is_gone_when_it_was_not_found_twice) {
  world x;
  x.ask(1);
  x.not_found(1);
  EXPECT_THAT(x.answers, IsEmpty());
  EXPECT_THAT(x.lost, ElementsAre(repo_of(1)));
  x.pass(x.options.gone_grace - 1us);
  EXPECT_EQ(x.asked.size(), 1u);
  x.pass(1us);
  EXPECT_EQ(x.asked.size(), 2u);
  x.not_found(1);
  EXPECT_THAT(x.answers, ElementsAre(account_status::deleted));
  EXPECT_EQ(x.machine.open(), 0u);
}

TEST(question_machine, an_account_that_is_found_the_second_time_is_there) {
  world x;
  x.ask(1);
  x.not_found(1);
  x.pass(x.options.gone_grace);
  x.tell(1, account_status::active);
  EXPECT_THAT(x.answers, ElementsAre(account_status::active));
}

// A fetch's RepoNotFound counts as the first one.
TEST(question_machine, a_fetch_that_found_nothing_counts_as_asked) {
  world x;
  x.ask(1, pds, false, true);
  EXPECT_THAT(x.asked, IsEmpty());
  x.ask(1, pds, false, true);
  x.pass(x.options.gone_grace);
  EXPECT_EQ(x.asked.size(), 1u);
  x.not_found(1);
  EXPECT_THAT(x.answers, ElementsAre(account_status::deleted));
}

// protocol-coverage.md 4.5: host unreachable: status unchanged
// `limits::account_question_tries_max`
TEST(question_machine, a_host_that_does_not_answer_is_asked_later_and_later) {
  world x;
  x.ask(1);
  auto wait = std::chrono::seconds{limits::account_question_retry};
  for (size_t i = 1; i < limits::account_question_tries_max; ++i) {
    x.answer({repo_of(1), pds, world::said::failed});
    x.pass(wait - 1us);
    EXPECT_EQ(x.asked.size(), i);
    x.pass(1us);
    EXPECT_EQ(x.asked.size(), i + 1);
    wait *= 2;
  }
  x.answer({repo_of(1), pds, world::said::failed});
  EXPECT_EQ(x.machine.open(), 0u);
  EXPECT_THAT(x.answers, IsEmpty());
  EXPECT_THAT(x.refused, IsEmpty()) << "nobody waits for it";
}

// protocol-coverage.md 2.1.3: a question that an operator waits for is not
// dropped silently
// `limits::account_question_tries_max`
TEST(question_machine, a_question_that_somebody_waits_for_comes_again) {
  world x;
  x.ask_urgently(1, pds);
  for (size_t i = 0; i < limits::account_question_tries_max; ++i) {
    EXPECT_THAT(x.refused, IsEmpty()) << "it is asked again by itself";
    x.fail(1, pds, 0s);
    x.pass(limits::account_question_retry * (int64_t{1} << i));
  }
  EXPECT_THAT(x.refused, ElementsAre(repo_of(1)));
  EXPECT_EQ(x.machine.open(), 0u);
  x.ask_urgently(1, pds);
  x.tell(1, account_status::active);
  EXPECT_THAT(x.answers, ElementsAre(account_status::active));
}

// actors.md, What an account is: after Retry-After the host rests, not only the
// account
TEST(question_machine, a_host_that_asks_for_time_gets_it) {
  world x;
  for (size_t i = 0; i < 10; ++i)
    x.ask(i);
  ASSERT_EQ(x.asked.size(), limits::account_questions_per_host_max);
  x.answer({x.asked[0], pds, world::said::failed, account_status::active, 90s});
  x.answer({x.asked[1], pds, world::said::stated, account_status::active});
  EXPECT_EQ(x.asked.size(), limits::account_questions_per_host_max);
  x.ask(50, "https://other.test");
  EXPECT_EQ(x.asked.back(), repo_of(50));
  x.pass(90s);
  EXPECT_EQ(x.asked.size(), 2 * limits::account_questions_per_host_max + 1);
}

// A host rests even if it had only one question.
TEST(question_machine, a_host_with_one_question_rests_when_it_asks_for_time) {
  world x;
  x.ask(1);
  x.fail(1, pds, 24h);
  x.ask(2);
  EXPECT_EQ(x.asked.size(), 1u);
  x.ask(3, "https://other.test");
  EXPECT_EQ(x.asked.size(), 2u);
  ASSERT_TRUE(x.timer);
  x.pass(24h - 1us);
  EXPECT_EQ(x.asked.size(), 2u);
  x.pass(1us);
  EXPECT_EQ(x.asked.size(), 4u) << "this one again, and the other";
}

// `limits::account_questions_running_max`: one host does not get all of them
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
      x.answer({repo, host(i), world::said::stated, account_status::active});
  }
  EXPECT_EQ(all.size(), number);
  EXPECT_EQ(x.machine.open(), 0u);
}

// protocol-coverage.md 4.6: after a migration the new host is asked instead
TEST(question_machine, the_latest_host_counts) {
  world x;
  x.ask(1, pds, false, true);
  x.ask(1, "https://other.test", true);
  EXPECT_THAT(x.asked, ElementsAre(repo_of(1)));
  x.tell(1, account_status::active);
  EXPECT_THAT(x.answers, IsEmpty());
  x.tell(1, account_status::active, "https://other.test");
  EXPECT_THAT(x.answers, ElementsAre(account_status::active));
}

TEST(question_machine, a_host_that_cannot_say_is_left_alone) {
  world x;
  x.ask(1);
  x.answer({repo_of(1), pds, world::said::useless});
  x.ask(1);
  EXPECT_EQ(x.asked.size(), 1u);
  EXPECT_EQ(x.machine.open(), 0u);
}

// `limits::account_questions_max` and `limits::account_answers_kept_max`, and
// one more of each
TEST(question_machine, its_memory_is_bounded) {
  world x;
  for (size_t i = 0; i < limits::account_questions_max; ++i)
    x.ask(i);
  EXPECT_THAT(x.refused, IsEmpty());
  x.ask(limits::account_questions_max);
  EXPECT_EQ(x.machine.open(), limits::account_questions_max);
  EXPECT_THAT(x.refused, ElementsAre(repo_of(limits::account_questions_max)));
  world y;
  for (size_t i = 0; i <= limits::account_answers_kept_max; ++i) {
    y.ask(i);
    y.tell(i, account_status::active);
  }
  EXPECT_EQ(y.machine.kept(), limits::account_answers_kept_max);
  y.pass(limits::account_question_interval);
  y.ask(limits::account_answers_kept_max + 1);
  EXPECT_EQ(y.machine.kept(), 0u);
}

/// This number of places, all taken by one host that never answers.
struct full_world : world {
  explicit full_world(size_t places) : world([&] {
    question_options x;
    x.waiting_max = places;
    return x;
  }()) {
    for (size_t i = 0; i < places; ++i)
      ask(1'000 + i, "https://pds.crowd.test");
    EXPECT_EQ(machine.open(), places);
    asked.clear();
  }
};

TEST(question_machine, a_host_that_has_all_places_gives_them_to_others) {
  full_world x{64};
  for (size_t i = 0; i < 20; ++i)
    x.ask(i);
  EXPECT_EQ(x.asked.size(), limits::account_questions_per_host_max);
  EXPECT_EQ(x.refused.size(), 20u) << "its own, which are told";
  for (const auto& each : x.refused)
    EXPECT_GE(number_of(each), 1'000u);
  EXPECT_EQ(x.machine.open(), 64u);
  // Refused questions are forgotten: they can be asked again, but there is no
  // room now.
  const auto lost = x.refused.back();
  x.refused.clear();
  x.take(x.machine.on_question({lost, "https://pds.crowd.test"}, x.now));
  EXPECT_THAT(x.refused, ElementsAre(lost));
}

// Hosts of one domain are one site, so inventing more of them does not help.
TEST(question_machine, a_thousand_names_of_one_domain_share) {
  question_options options;
  options.waiting_max = 64;
  world x{options};
  for (size_t i = 0; i < 64; ++i)
    x.ask(1'000 + i, "https://h" + std::to_string(i) + ".crowd.test");
  EXPECT_EQ(x.asked.size(), limits::account_questions_per_site_max);
  x.asked.clear();
  x.ask(1);
  EXPECT_THAT(x.asked, ElementsAre(repo_of(1)));
  EXPECT_EQ(x.refused.size(), 1u);
}

// An urgent question takes the place of one that is not urgent.
TEST(question_machine, an_urgent_question_displaces_one_that_is_not) {
  question_options options;
  options.waiting_max = 4;
  world x{options};
  const auto host = [](size_t n) {
    return "https://pds.h" + std::to_string(n) + ".test";
  };
  for (size_t i = 0; i < 4; ++i) {
    x.ask(i, host(i));
    x.fail(i, host(i), 1h); // It waits again and keeps its place.
  }
  x.ask(4, host(4));
  EXPECT_THAT(x.refused, ElementsAre(repo_of(4))) << "all have one";
  for (size_t i = 5; i < 9; ++i) {
    x.ask_urgently(i, host(i));
    EXPECT_EQ(x.refused.size(), i - 3);
    EXPECT_LT(number_of(x.refused.back()), 4u) << "nobody waits for it";
    x.fail(i, host(i), 1h);
  }
  x.ask_urgently(9, host(9));
  EXPECT_EQ(x.refused.back(), repo_of(9)) << "all are urgent";
}

// A site that makes all its questions urgent takes places only from itself.
TEST(question_machine, a_crowd_of_urgent_questions_displaces_no_smaller_site) {
  question_options options;
  options.waiting_max = 8;
  world x{options};
  x.ask(1);
  x.ask(2);
  x.ask(3); // The third waits for its turn.
  for (size_t i = 10; i < 30; ++i)
    x.ask_urgently(i, "https://pds.crowd.test");
  EXPECT_EQ(x.refused.size(), 15u);
  for (const auto& each : x.refused)
    EXPECT_GE(number_of(each), 10u);
}

// Repos that listings leave out come again. Half of all places are for other
// questions, and a site has a share of that half while others need some.
TEST(question_machine, what_listings_leave_out_has_a_share) {
  world x;
  const auto half = x.options.waiting_max / 2;
  const auto share = actors::fair_share(x.options.waiting_max);
  for (size_t i = 0; i < half; ++i)
    x.leave_out(i);
  EXPECT_THAT(x.refused, IsEmpty());
  EXPECT_FALSE(x.machine.has_room(pds));
  const std::string other = "https://other.example";
  EXPECT_TRUE(x.machine.has_room(other));
  x.leave_out(half);
  EXPECT_EQ(x.refused.size(), 1u);
  for (size_t i = 1; i <= share; ++i) {
    EXPECT_EQ(x.machine.has_room(other),
              i - 1 + limits::repos_page_max <= share);
    x.leave_out(half + i, other);
  }
  EXPECT_EQ(x.refused.size(), 1u);
  x.leave_out(half + share + 1, other);
  EXPECT_EQ(x.refused.size(), 2u);
  x.ask(half + share + 2);
  EXPECT_EQ(x.refused.size(), 2u);
}

} // namespace
} // namespace weir::tests
