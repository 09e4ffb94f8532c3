#include "base/limits.hpp"
#include "net/retry_hints.hpp"

#include <gtest/gtest.h>

namespace weir::net {

namespace {

using namespace std::chrono_literals;

/// Sun, 06 Nov 1994 08:49:37 GMT.
constexpr wall_time now{784'111'777'000'000};

std::optional<std::chrono::seconds> wait_of(std::string value) {
  return retry_after({{"retry-after", std::move(value)}}, now);
}

std::optional<std::chrono::seconds> reset_of(std::string value) {
  return rate_limit_reset({{"ratelimit-reset", std::move(value)}},
                          {1'700'000'000'000'000});
}

} // namespace

TEST(RetryHintsTest, RetryAfterIsReadAsSecondsOrDate) {
  EXPECT_EQ(wait_of("0"), 0s);
  EXPECT_EQ(wait_of("120"), 120s);
  EXPECT_EQ(wait_of("Sun, 06 Nov 1994 08:50:37 GMT"), 60s);
  EXPECT_EQ(wait_of("Sun, 06 Nov 1994 08:49:37 GMT"), 0s);
  EXPECT_EQ(wait_of("Sat, 05 Nov 1994 08:49:37 GMT"), 0s);
}

TEST(RetryHintsTest, NoWaitIsLongerThanADay) {
  constexpr auto most = limits::retry_wait_max;
  EXPECT_EQ(wait_of(std::to_string(most.count() - 1)), most - 1s);
  EXPECT_EQ(wait_of(std::to_string(most.count())), most);
  EXPECT_EQ(wait_of(std::to_string(most.count() + 1)), most);
  EXPECT_EQ(wait_of("99999999999999999999999999"), most);
  EXPECT_EQ(wait_of("Sun, 06 Nov 2094 08:49:37 GMT"), most);
}

TEST(RetryHintsTest, NonsenseIsNoHint) {
  for (auto text :
       {"", "-1", "1.5", "soon", "1s", "0x10", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT"})
    EXPECT_FALSE(wait_of(text)) << text;
  EXPECT_FALSE(retry_after({}, now));
}

TEST(RetryHintsTest, RateLimitResetIsReadAsWaitOrPointInTime) {
  EXPECT_EQ(reset_of("30"), 30s);
  EXPECT_EQ(reset_of("1700000300"), 300s);
  EXPECT_EQ(reset_of("1600000000"), 0s);
  EXPECT_EQ(reset_of("1999999999"), 24h);
  EXPECT_FALSE(reset_of("x"));
  EXPECT_FALSE(reset_of("-5"));
}

TEST(RetryHintsTest, HttpDatesAreSecondsSince1970) {
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
  EXPECT_EQ(parse_http_date("Tue, 29 Feb 2000 23:59:59 GMT"), 951'868'799);
}

} // namespace weir::net
