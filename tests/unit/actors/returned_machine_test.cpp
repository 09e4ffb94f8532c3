#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/returned_machine.hpp"
#include "net/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

} // namespace

TEST(returned_machine, each_host_is_asked_about_one_account_after_the_other) {
  returned_machine x;
  ASSERT_THAT(x.on_active(1, account(0), noon).ask, SizeIs(1));
  EXPECT_THAT(x.on_active(1, account(0), noon).ask, IsEmpty());
  EXPECT_THAT(x.on_active(1, account(1), noon).ask, IsEmpty());
  EXPECT_THAT(x.on_active(2, account(0), noon).ask, SizeIs(1)) << "another host";
  EXPECT_EQ(x.on_answer(1, noon).timer, noon + limits::returned_pause);
  auto now = noon + limits::returned_pause;
  EXPECT_THAT(x.on_timer(now + -1us).ask, IsEmpty());
  const auto next = x.on_timer(now);
  ASSERT_THAT(next.ask, SizeIs(1));
  EXPECT_EQ(next.ask[0].upstream, 1u);
  EXPECT_EQ(next.ask[0].repo, account(1));
  EXPECT_THAT(x.on_answer(1, now).ask, IsEmpty()) << "all are asked about";
  EXPECT_THAT(x.on_answer(1, now).ask, IsEmpty()) << "nobody waits";
  now = now + limits::returned_pause;
  EXPECT_THAT(x.on_active(1, account(0), now).ask, SizeIs(1)) << "it is back";
}

// limits::returned_accounts_max
TEST(returned_machine, so_many_of_a_host_wait_and_not_one_more) {
  for (const auto more : {0u, 1u}) {
    returned_machine x;
    auto asked = x.on_active(1, account(0), noon).ask.size();
    for (size_t i = 1; i < limits::returned_accounts_max + more; ++i)
      x.on_active(1, account(i), noon);
    for (auto now = noon;; ++asked) {
      x.on_answer(1, now);
      now = now + limits::returned_pause;
      if (x.on_timer(now).ask.empty())
        break;
    }
    EXPECT_EQ(asked, limits::returned_accounts_max);
  }
}

// limits::returned_tries_max, limits::claim_retry
TEST(returned_machine, a_host_that_fails_is_left_for_a_while) {
  returned_machine x;
  auto now = noon;
  x.on_active(1, account(0), now);
  x.on_active(1, account(1), now);
  for (size_t i = 1; i < limits::returned_tries_max; ++i) {
    const auto rest = x.on_failed(1, 0s, now);
    EXPECT_THAT(rest.ask, IsEmpty());
    EXPECT_EQ(rest.timer, now + limits::claim_retry);
    EXPECT_THAT(x.on_active(1, account(2), now).ask, IsEmpty());
    now = now + limits::claim_retry;
    const auto again = x.on_timer(now);
    ASSERT_THAT(again.ask, SizeIs(1));
    EXPECT_EQ(again.ask[0].repo, account(0)) << i;
  }
  EXPECT_THAT(x.on_failed(1, 0s, now).ask, IsEmpty());
  now = now + limits::returned_pause;
  EXPECT_EQ(x.on_timer(now).ask.at(0).repo, account(1)) << "the next one";
  for (size_t i = 0; i < 2; ++i) {
    x.on_answer(1, now);
    now = now + limits::returned_pause;
    x.on_timer(now);
  }
  x.on_active(1, account(3), now);
  for (size_t i = 1; i < limits::returned_tries_max; ++i) {
    x.on_failed(1, 0s, now);
    now = now + limits::claim_retry;
    x.on_timer(now);
  }
  x.on_failed(1, 0s, now);
  EXPECT_THAT(x.on_active(1, account(4), now).ask, IsEmpty()) << "it rests";
}

TEST(returned_machine, it_waits_as_its_host_asks_but_not_for_ever) {
  for (const auto& [asked, rest] :
       {std::pair<std::chrono::seconds, std::chrono::seconds>{90s, 90s},
        {limits::retry_wait_max + 1s, limits::retry_wait_max}}) {
    returned_machine x;
    x.on_active(1, account(0), noon);
    EXPECT_EQ(x.on_failed(1, asked, noon).timer, noon + rest);
    EXPECT_THAT(x.on_timer(noon + (rest - 1us)).ask, IsEmpty());
    EXPECT_THAT(x.on_timer(noon + rest).ask, SizeIs(1));
  }
}

TEST(returned_machine, words_that_nobody_asked_for_mean_nothing) {
  returned_machine x;
  EXPECT_THAT(x.on_answer(1, noon).ask, IsEmpty());
  EXPECT_THAT(x.on_failed(1, 0s, noon).ask, IsEmpty());
  x.on_active(1, account(0), noon);
  x.on_failed(1, 0s, noon);
  EXPECT_THAT(x.on_answer(1, noon).ask, IsEmpty());
  EXPECT_THAT(x.on_timer(noon + limits::claim_retry).ask, SizeIs(1));
}

} // namespace weir::tests::returns
