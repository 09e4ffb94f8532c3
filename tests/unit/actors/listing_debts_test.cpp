#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_debts.hpp"
#include "actors/support/limits_health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// architecture.md, Health: listings that are due and fail.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

constexpr uint32_t debtor = 7;
constexpr position met{debtor, 1, 10};
constexpr position reset{debtor, 2, 20};
constexpr auto enough_failures = limits::health_listing_failures_min;

/// An upstream whose listing was compared for the position `met`.
listing_debts compared_once() {
  listing_debts out;
  out.on_wanted(debtor, met);
  out.on_page(debtor);
  out.on_ended(debtor, met);
  return out;
}

/// @returns the last report
listing_debts::report fail_pages(listing_debts& x, size_t n, ec why) {
  listing_debts::report out;
  for (size_t i = 0; i < n; ++i)
    out = x.on_failed(debtor, fail(why, "HTTP 500"));
  return out;
}

} // namespace

// limits::health_listing_failures_min
TEST(listing_debts, a_listing_that_is_owed_after_a_loss_and_fails_is_told) {
  auto x = compared_once();
  EXPECT_FALSE(fail_pages(x, enough_failures, ec::unreachable))
    << "nothing was lost";
  x.on_wanted(debtor, reset);
  EXPECT_FALSE(fail_pages(x, enough_failures - 1, ec::unreachable));
  EXPECT_THAT(fail_pages(x, 1, ec::unreachable),
              Optional(std::string{"a listing that has to be compared after a "
                                   "loss fails: unreachable: HTTP 500"}));
  x.on_page(debtor);
  EXPECT_THAT(x.on_ended(debtor, reset), Optional(std::string{}));
  EXPECT_FALSE(fail_pages(x, enough_failures, ec::unreachable))
    << "it was compared";
}

TEST(listing_debts, one_that_is_owed_and_not_trusted_is_told) {
  listing_debts x;
  x.on_wanted(debtor, met);
  EXPECT_THAT(x.on_mistrusted(debtor), Optional(HasSubstr("no document")));
  x.on_page(debtor);
  EXPECT_THAT(x.on_ended(debtor, met), Optional(std::string{}));
  EXPECT_FALSE(x.on_mistrusted(debtor)) << "nothing is owed";
}

TEST(listing_debts, so_is_the_first_one) {
  listing_debts x;
  x.on_wanted(debtor, {debtor, 1, 0});
  EXPECT_THAT(fail_pages(x, enough_failures, ec::unreachable),
              Optional(StartsWith("its listing after the start fails: ")));
}

TEST(listing_debts, a_page_that_comes_begins_the_count_anew) {
  auto x = compared_once();
  x.on_wanted(debtor, reset);
  EXPECT_FALSE(fail_pages(x, enough_failures - 1, ec::unreachable));
  x.on_page(debtor);
  EXPECT_FALSE(fail_pages(x, enough_failures - 1, ec::unreachable));
  EXPECT_TRUE(fail_pages(x, 1, ec::unreachable));
}

// It begins again after such an answer, and fails at the same place
TEST(listing_debts, a_listing_that_never_gets_past_one_page_is_told) {
  auto x = compared_once();
  x.on_wanted(debtor, reset);
  for (size_t i = 1; i < enough_failures; ++i) {
    EXPECT_FALSE(fail_pages(x, 1, ec::malformed));
    x.on_page(debtor);
  }
  EXPECT_TRUE(fail_pages(x, 1, ec::malformed));
}

// Nothing was lost at first contact, and many hosts have no listing
TEST(listing_debts, one_that_is_not_offered_is_told_after_a_loss_only) {
  listing_debts x;
  x.on_wanted(debtor, met);
  EXPECT_FALSE(fail_pages(x, enough_failures, ec::not_found));
  EXPECT_FALSE(x.on_ended(debtor, met));
  x.on_wanted(debtor, reset);
  EXPECT_THAT(fail_pages(x, 1, ec::not_found),
              Optional(HasSubstr("what was lost cannot be found")));
  EXPECT_FALSE(x.on_ended(debtor, reset)) << "nothing was compared";
  x.on_page(debtor);
  EXPECT_THAT(x.on_ended(debtor, reset), Optional(std::string{}));
}

// Applies to full-network mode
TEST(listing_debts, one_by_which_repos_are_found_is_told_at_once) {
  listing_debts x{true};
  x.on_wanted(debtor, met);
  EXPECT_THAT(fail_pages(x, 1, ec::not_found),
              Optional(HasSubstr("by which repos are found: HTTP 500")));
  x.on_page(debtor);
  EXPECT_THAT(x.on_ended(debtor, met), Optional(std::string{}));
  EXPECT_FALSE(fail_pages(x, 1, ec::not_found)) << "it was compared";
}

// limits::health_rest_min
TEST(listing_debts, a_host_that_asks_for_a_long_rest_is_told_at_once) {
  listing_debts x;
  x.on_wanted(debtor, met);
  const auto limited = fail(ec::rate_limited, "HTTP 429");
  EXPECT_FALSE(x.on_failed(debtor, limited,
                           limits::health_rest_min - std::chrono::seconds{1}));
  EXPECT_THAT(x.on_failed(debtor, limited, limits::health_rest_min),
              Optional(HasSubstr("for 60 seconds")));
  // A large listing takes days, and the rest is over.
  EXPECT_THAT(x.on_page(debtor), Optional(std::string{}));
  EXPECT_FALSE(x.on_page(debtor));
}

TEST(listing_debts, an_earlier_start_is_remembered) {
  listing_debts x;
  x.restore(debtor, met, true);
  x.on_wanted(debtor, met);
  EXPECT_FALSE(fail_pages(x, enough_failures, ec::unreachable));
  listing_debts unfinished;
  unfinished.restore(debtor, met, false);
  unfinished.on_wanted(debtor, met);
  EXPECT_TRUE(fail_pages(unfinished, enough_failures, ec::unreachable));
  listing_debts lossy;
  lossy.restore(debtor, met, true);
  lossy.on_wanted(debtor, reset);
  EXPECT_THAT(fail_pages(lossy, enough_failures, ec::unreachable),
              Optional(HasSubstr("after a loss")));
}

} // namespace weir::tests
