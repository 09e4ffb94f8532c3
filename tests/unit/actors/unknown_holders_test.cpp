#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_debts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// architecture.md, Health: it is not known which accounts have records of a
// signal collection.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

const listing_id asked{7, "signal-1"};
const listing_id other{7, "signal-2"};
const auto no_answer = fail(ec::unreachable, "describeRepo: HTTP 503");
const auto not_offered = fail(ec::not_found, "describeRepo is not offered");

} // namespace

// SYNC-18
TEST(unknown_holders, a_page_of_another_listing_leaves_nothing_open) {
  const auto stay = [](const std::string& listing, ec why) {
    return unknown_holders::stay_unknown(listing, "described",
                                         fail(why, "at the host"));
  };
  EXPECT_TRUE(stay("described", ec::unreachable));
  EXPECT_FALSE(stay("described", ec::rate_limited)) << "it comes later";
  EXPECT_FALSE(stay("app.test.note", ec::unreachable));
  EXPECT_FALSE(stay("", ec::unreachable));
}

TEST(unknown_holders, a_relay_lists_each_collection_and_a_pds_all_at_once) {
  using testing::ElementsAre;
  const std::vector<std::string> signal{"app.one", "app.two"};
  EXPECT_THAT(unknown_holders::wanted(true, signal, "described"),
              ElementsAre("app.one", "app.two"));
  EXPECT_THAT(unknown_holders::wanted(false, signal, "described"),
              ElementsAre("described"));
  EXPECT_THAT(unknown_holders::wanted(false, signal, ""), IsEmpty());
}

// limits::health_listing_failures_min
TEST(unknown_holders, pages_that_fail_are_told_until_one_listing_ends) {
  unknown_holders x;
  for (size_t i = 1; i < limits::health_listing_failures_min; ++i)
    EXPECT_FALSE(x.on_failed(asked, no_answer)) << i;
  EXPECT_THAT(x.on_failed(asked, no_answer),
              Optional(HasSubstr("HTTP 503")));
  x.on_page(asked, 0);
  EXPECT_THAT(x.on_ended(asked), Optional(IsEmpty()));
  EXPECT_FALSE(x.on_failed(asked, no_answer)) << "they are counted anew";
}

TEST(unknown_holders, a_listing_is_known_when_it_told_of_everybody) {
  unknown_holders x;
  EXPECT_FALSE(x.knows(asked)) << "it was not asked for";
  x.on_page(asked, 0);
  x.on_ended(asked);
  EXPECT_TRUE(x.knows(asked));
  EXPECT_FALSE(x.knows(other));
  x.on_page(asked, 1);
  x.on_ended(asked);
  EXPECT_FALSE(x.knows(asked)) << "of one account nobody could say";
  x.on_failed(other, not_offered);
  x.on_ended(other);
  EXPECT_FALSE(x.knows(other));
}

TEST(unknown_holders, pages_that_fail_now_and_then_are_not_told) {
  unknown_holders x;
  for (size_t i = 0; i < 3 * limits::health_listing_failures_min; ++i) {
    EXPECT_FALSE(x.on_failed(asked, no_answer));
    x.on_page(asked, 0);
  }
}

// The host answers at the rate that it requested.
TEST(unknown_holders, a_page_that_goes_on_after_a_wait_is_no_trouble) {
  unknown_holders x;
  const auto limited = fail(ec::rate_limited, "HTTP 429");
  for (size_t i = 0; i < 3 * limits::health_listing_failures_min; ++i)
    EXPECT_FALSE(x.on_failed(asked, limited)) << i;
  for (size_t i = 0; i < 3 * limits::health_listing_failures_min; ++i)
    EXPECT_FALSE(x.on_failed(asked, i % 2 == 0 ? no_answer : limited)) << i;
}

TEST(unknown_holders, a_page_that_is_no_listing_again_and_again_is_told) {
  unknown_holders x;
  const auto bad = fail(ec::malformed, "not a listing of repos");
  unknown_holders::report told;
  for (size_t i = 0; i < limits::health_listing_failures_min; ++i) {
    x.on_page(asked, 0); // This is the first page of the next run.
    told = x.on_failed(asked, bad);
  }
  EXPECT_THAT(told, Optional(HasSubstr("not a listing")));
}

TEST(unknown_holders, what_is_not_offered_is_told_at_once_and_stays) {
  unknown_holders x;
  EXPECT_THAT(x.on_failed(asked, not_offered),
              Optional(HasSubstr("is not offered")));
  EXPECT_FALSE(x.on_ended(asked)) << "it is given up for a while";
  x.on_page(asked, 0);
  EXPECT_THAT(x.on_ended(asked), Optional(IsEmpty()));
}

TEST(unknown_holders, accounts_that_were_passed_over_are_told_at_the_end) {
  unknown_holders x;
  x.on_page(asked, 1);
  x.on_page(asked, 0);
  EXPECT_THAT(x.on_ended(asked), Optional(HasSubstr("of some accounts")));
  x.on_page(asked, 0);
  EXPECT_THAT(x.on_ended(asked), Optional(IsEmpty()));
}

// Each collection has a listing of its own at a relay.
TEST(unknown_holders, one_listing_does_not_end_the_trouble_of_another) {
  unknown_holders x;
  x.on_failed(other, not_offered);
  x.on_page(asked, 0);
  EXPECT_THAT(x.on_ended(asked), Optional(HasSubstr("is not offered")));
}

} // namespace weir::tests
