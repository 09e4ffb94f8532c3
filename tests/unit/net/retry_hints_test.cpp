#include "net/limits.hpp"
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
}

// Our clock is an hour behind the server's.
TEST(RetryHintsTest, APointInTimeIsJudgedByTheClockOfTheServer) {
  const auto waits = [](const std::string& until, const std::string& reset) {
    const http_headers headers{{"date", "Sun, 06 Nov 2033 09:49:37 GMT"},
                               {"retry-after", until},
                               {"ratelimit-reset", reset}};
    constexpr wall_time behind{(2'014'883'377 - 3'600) * int64_t{1'000'000}};
    return std::pair{retry_after(headers, behind),
                     rate_limit_reset(headers, behind)};
  };
  using hints
    = std::pair<std::optional<std::chrono::seconds>,
                std::optional<std::chrono::seconds>>;
  EXPECT_EQ(waits("Sun, 06 Nov 2033 09:49:38 GMT", "2014883378"),
            (hints{1s, 1s}));
  EXPECT_EQ(waits("Sun, 06 Nov 2033 09:49:36 GMT", "2014883376"),
            (hints{0s, 0s}));
  EXPECT_EQ(waits("Sun, 06 Nov 2094 09:49:38 GMT", "99999999999999999999"),
            (hints{limits::retry_wait_max, limits::retry_wait_max}));
  EXPECT_EQ(waits("7200", "7200"), (hints{7200s, 7200s}));
}

// limits::undated_retry_wait_max
TEST(RetryHintsTest, APointInTimeByOurClockIsMinutesAtMost) {
  constexpr auto most = limits::undated_retry_wait_max;
  for (const auto more : {0s, 1s})
    EXPECT_EQ(reset_of(std::to_string(1'700'000'000 + (most + more).count())),
              most);
  EXPECT_EQ(reset_of("1999999999"), most);
  EXPECT_EQ(wait_of("Sun, 06 Nov 1994 08:54:37 GMT"), most);
  EXPECT_EQ(wait_of("Sun, 06 Nov 1994 08:54:38 GMT"), most);
  EXPECT_EQ(retry_after({{"retry-after", "Sun, 06 Nov 2094 08:49:37 GMT"},
                         {"date", "yesterday"}},
                        now),
            most);
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
  EXPECT_FALSE(reset_of("x"));
  EXPECT_FALSE(reset_of("-5"));
}

TEST(RetryHintsTest, HttpDatesAreSecondsSince1970) {
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
  EXPECT_EQ(parse_http_date("Tue, 29 Feb 2000 23:59:59 GMT"), 951'868'799);
}

} // namespace weir::net
