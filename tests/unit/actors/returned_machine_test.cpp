#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/returned_machine.hpp"
#include "net/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

// SYNC-18: an account that becomes active again may have records of the
// collection.
namespace weir::tests::returns {

namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using testing::IsEmpty;
using testing::SizeIs;

constexpr steady_time noon{1'000'000'000};

atproto::did account(size_t i) {
  return atproto::did::trusted("did:plc:returned" + std::to_string(i));
}

/// The stream of a PDS calls an account active.
stream_claim back(uint32_t upstream, size_t i) {
  return {upstream, account(i), true};
}

/// The host has no records of the collection for the account.
listing_page answer(uint32_t upstream) {
  listing_page out;
  out.upstream = upstream;
  return out;
}

listing_page failure(uint32_t upstream, std::chrono::seconds wait = 0s) {
  auto out = answer(upstream);
  out.repos = fail(ec::unreachable, "away");
  out.retry_after = wait;
  return out;
}

/// In signal mode, while repos are fetched.
struct signal_machine : returned_machine {
  signal_machine() : returned_machine(true) {
    // nop
  }

  effects on_active(uint32_t upstream, size_t i, steady_time now) {
    return on_claim(back(upstream, i), true, now);
  }
};

} // namespace

TEST(returned_machine, each_host_is_asked_about_one_account_after_the_other) {
  signal_machine x;
  ASSERT_THAT(x.on_active(1, 0, noon).ask, SizeIs(1));
  EXPECT_THAT(x.on_active(1, 0, noon).ask, IsEmpty());
  EXPECT_THAT(x.on_active(1, 1, noon).ask, IsEmpty());
  EXPECT_THAT(x.on_active(2, 0, noon).ask, SizeIs(1)) << "another host";
  EXPECT_EQ(x.on_answer(answer(1), noon).timer, noon + limits::returned_pause);
  auto now = noon + limits::returned_pause;
  EXPECT_THAT(x.on_timer(now + -1us).ask, IsEmpty());
  const auto next = x.on_timer(now);
  ASSERT_THAT(next.ask, SizeIs(1));
  EXPECT_EQ(next.ask[0].upstream, 1u);
  EXPECT_EQ(next.ask[0].repo, account(1));
  EXPECT_THAT(x.on_answer(answer(1), now).ask, IsEmpty())
    << "all are asked about";
  EXPECT_THAT(x.on_answer(answer(1), now).ask, IsEmpty()) << "nobody waits";
  now = now + limits::returned_pause;
  EXPECT_THAT(x.on_active(1, 0, now).ask, SizeIs(1)) << "it is back";
}

// limits::returned_accounts_max
TEST(returned_machine, so_many_of_a_host_wait_and_not_one_more) {
  for (const auto more : {0u, 1u}) {
    signal_machine x;
    auto asked = x.on_active(1, 0, noon).ask.size();
    for (size_t i = 1; i < limits::returned_accounts_max + more; ++i)
      x.on_active(1, i, noon);
    for (auto now = noon;; ++asked) {
      x.on_answer(answer(1), now);
      now = now + limits::returned_pause;
      if (x.on_timer(now).ask.empty())
        break;
    }
    EXPECT_EQ(asked, limits::returned_accounts_max);
  }
}

// limits::returned_tries_max, limits::claim_retry
TEST(returned_machine, a_host_that_fails_is_left_for_a_while) {
  signal_machine x;
  auto now = noon;
  x.on_active(1, 0, now);
  x.on_active(1, 1, now);
  for (size_t i = 1; i < limits::returned_tries_max; ++i) {
    const auto rest = x.on_answer(failure(1), now);
    EXPECT_THAT(rest.ask, IsEmpty());
    EXPECT_EQ(rest.timer, now + limits::claim_retry);
    EXPECT_THAT(x.on_active(1, 2, now).ask, IsEmpty());
    now = now + limits::claim_retry;
    const auto again = x.on_timer(now);
    ASSERT_THAT(again.ask, SizeIs(1));
    EXPECT_EQ(again.ask[0].repo, account(0)) << i;
  }
  EXPECT_THAT(x.on_answer(failure(1), now).ask, IsEmpty());
  now = now + limits::returned_pause;
  EXPECT_EQ(x.on_timer(now).ask.at(0).repo, account(1)) << "the next one";
  for (size_t i = 0; i < 2; ++i) {
    x.on_answer(answer(1), now);
    now = now + limits::returned_pause;
    x.on_timer(now);
  }
  x.on_active(1, 3, now);
  for (size_t i = 1; i < limits::returned_tries_max; ++i) {
    x.on_answer(failure(1), now);
    now = now + limits::claim_retry;
    x.on_timer(now);
  }
  x.on_answer(failure(1), now);
  EXPECT_THAT(x.on_active(1, 4, now).ask, IsEmpty()) << "it rests";
}

TEST(returned_machine, it_waits_as_its_host_asks_but_not_for_ever) {
  for (const auto& [asked, rest] :
       {std::pair<std::chrono::seconds, std::chrono::seconds>{90s, 90s},
        {limits::retry_wait_max + 1s, limits::retry_wait_max}}) {
    signal_machine x;
    x.on_active(1, 0, noon);
    EXPECT_EQ(x.on_answer(failure(1, asked), noon).timer, noon + rest);
    EXPECT_THAT(x.on_timer(noon + (rest - 1us)).ask, IsEmpty());
    EXPECT_THAT(x.on_timer(noon + rest).ask, SizeIs(1));
  }
}

TEST(returned_machine, words_that_nobody_asked_for_mean_nothing) {
  signal_machine x;
  EXPECT_THAT(x.on_answer(answer(1), noon).ask, IsEmpty());
  EXPECT_THAT(x.on_answer(failure(1), noon).ask, IsEmpty());
  x.on_active(1, 0, noon);
  x.on_answer(failure(1), noon);
  EXPECT_THAT(x.on_answer(answer(1), noon).ask, IsEmpty());
  EXPECT_THAT(x.on_timer(noon + limits::claim_retry).ask, SizeIs(1));
}

// SYNC-18: a stream claims by commits, and a commit changes no document
TEST(returned_machine, a_claim_is_of_an_account_that_is_back_in_one_case_only) {
  for (const auto signal_mode : {false, true})
    for (const auto anew : {false, true}) {
      returned_machine x{signal_mode};
      const auto is_back = signal_mode && anew;
      const auto out = x.on_claim({1, account(0), anew}, true, noon);
      EXPECT_EQ(out.ask.size(), is_back ? 1u : 0u);
      ASSERT_EQ(out.claims.size(), is_back ? 0u : 1u);
      EXPECT_THAT(out.returned, IsEmpty());
      if (is_back)
        continue;
      EXPECT_EQ(out.claims[0].upstream, 1u);
      EXPECT_EQ(out.claims[0].repo, account(0));
      EXPECT_EQ(out.claims[0].anew, anew);
    }
}

TEST(returned_machine, while_nothing_is_fetched_it_is_left_to_the_listing) {
  returned_machine x{true};
  const auto out = x.on_claim(back(1, 0), false, noon);
  EXPECT_THAT(out.ask, IsEmpty());
  EXPECT_THAT(out.claims, IsEmpty());
  EXPECT_THAT(x.on_timer(noon).ask, IsEmpty());
  const stream_claim by_commit{1, account(0), false};
  EXPECT_THAT(x.on_claim(by_commit, false, noon).claims, SizeIs(1));
}

TEST(returned_machine, one_with_records_of_the_collection_is_looked_up) {
  signal_machine x;
  x.on_active(1, 0, noon);
  auto page = answer(1);
  page.repos->emplace_back().repo = account(0);
  const auto out = x.on_answer(page, noon);
  ASSERT_THAT(out.returned, SizeIs(1));
  EXPECT_EQ(out.returned[0].upstream, 1u);
  EXPECT_EQ(out.returned[0].repo, account(0));
  EXPECT_TRUE(out.returned[0].anew);
  EXPECT_THAT(out.claims, IsEmpty());
}

// A host need not offer the request.
TEST(returned_machine, a_host_that_does_not_find_it_is_not_asked_again) {
  for (const auto& [code, unanswered, asked] :
       {std::tuple{ec::unreachable, 0u, 1u}, {ec::rate_limited, 0u, 1u},
        {ec::not_found, 0u, 0u}, {ec::not_found, 1u, 1u},
        {ec::none, 1u, 1u}, {ec::none, 0u, 0u}}) {
    signal_machine x;
    x.on_active(1, 0, noon);
    auto page = answer(1);
    if (code != ec::none)
      page.repos = fail(code, "no");
    else
      page.repos->emplace_back().repo = account(0);
    page.unanswered = unanswered;
    const auto out = x.on_answer(page, noon);
    EXPECT_EQ(out.returned.size(), code == ec::none && asked == 0u ? 1u : 0u);
    EXPECT_EQ(x.on_timer(noon + limits::claim_retry).ask.size(), asked);
  }
}

} // namespace weir::tests::returns
