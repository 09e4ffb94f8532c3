#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/question_machine.hpp"
#include "actors/support/limits.hpp"

#include <gtest/gtest.h>

#include <utility>

/// The time of the second question to a host after RepoNotFound, and the memory
/// that questions use.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using storage::account_status;

const auto repo = atproto::did::trusted("did:web:a.test");
const std::string pds = "https://pds.test";

/// @param age Age of the host's answer in an earlier life; no value: there was
/// none.
question_machine::question asked(std::optional<std::chrono::seconds> age = {}) {
  question_machine::question out{repo, pds, age.has_value()};
  out.age = age;
  return out;
}

// protocol-coverage.md 4.5: the time does not start again after a restart, and
// is not over at once after the clock was set: limits::gone_grace_part
TEST(question_machine, what_an_earlier_life_was_told_counts) {
  question_options options;
  options.gone_grace = 80s;
  constexpr auto least = 80s / limits::gone_grace_part;
  for (const auto& [age, wait] :
       {std::pair{0s, 80s}, {30s, 50s}, {80s - least, least},
        {80s - least + 1s, least}, {80s, least}, {24h * 365, least}}) {
    question_machine x{options};
    steady_time now{1};
    EXPECT_TRUE(x.on_question(asked(age), now).ask.empty());
    EXPECT_TRUE(x.on_timer(now + wait + -1us).ask.empty()) << age.count();
    now = now + wait;
    ASSERT_EQ(x.on_timer(now).ask.size(), 1u) << age.count();
    const auto out
      = x.on_answer({repo, pds, account_answer::kind::not_found}, now);
    ASSERT_EQ(out.answers.size(), 1u);
    EXPECT_EQ(out.answers[0].account, account_status::deleted);
  }
}

// protocol-coverage.md 4.5: the scans after the first may find them, too, but
// then their questions are open
TEST(question_machine, repos_that_were_lost_before_a_start_are_asked_once) {
  question_machine x{question_options{}};
  const wall_time now{1'000'000'000'000'000};
  const auto found = [&](int64_t at, bool end) {
    scan_page page;
    page.lost.push_back({repo, pds, at});
    page.end = end;
    return x.lost_in(page, now);
  };
  const auto first = found(now.seconds() - 30, false);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].repo, repo);
  EXPECT_EQ(first[0].pds, pds);
  EXPECT_TRUE(first[0].not_found);
  EXPECT_TRUE(first[0].left_out) << "it may find no place";
  EXPECT_EQ(first[0].age, 30s);
  const auto last = found(now.seconds() + 30, true);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].age, 0s) << "by another clock";
  EXPECT_TRUE(found(now.seconds(), true).empty());
  EXPECT_TRUE(found(now.seconds(), false).empty());
}

TEST(question_machine, the_shortest_grace_is_no_reason_to_ask_at_once) {
  question_options options;
  options.gone_grace = limits::gone_grace_range.min;
  question_machine x{options};
  const steady_time now{1};
  EXPECT_TRUE(x.on_question(asked(1h), now).ask.empty());
  EXPECT_EQ(x.on_timer(now + options.gone_grace).ask.size(), 1u);
}

// architecture.md, When memory runs short: its size in the ledger
TEST(question_machine, its_memory_is_counted) {
  question_machine x{{}};
  const steady_time now{1};
  EXPECT_EQ(x.bytes(), 0u);
  x.on_question(asked(), now);
  EXPECT_EQ(x.bytes(), limits::account_question_bytes);
  x.on_answer({repo, pds, account_answer::kind::stated, account_status::active},
              now);
  EXPECT_EQ(x.bytes(), limits::account_answer_kept_bytes);
}

} // namespace
} // namespace weir::actors
