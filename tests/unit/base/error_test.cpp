#include "base/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weir {

namespace {

result<int> half(int x) {
  if (x % 2 != 0)
    return fail(ec::invalid_argument, "odd");
  return x / 2;
}

} // namespace

TEST(ErrorTest, EveryCodeHasItsOwnName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ec::disk_full); ++code)
    if (code != 12)
      names.insert(to_string(static_cast<ec>(code)));
  EXPECT_EQ(names.size(), static_cast<size_t>(ec::disk_full));
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(ErrorTest, ACodeFromAnotherVersionStillHasAName) {
  EXPECT_STREQ(to_string(static_cast<ec>(255)), "unknown");
  EXPECT_STREQ(to_string(static_cast<ec>(12)), "unknown");
}

// Codes are written to disk and sent between nodes.
TEST(ErrorTest, NumbersOfCodesAreFrozen) {
  EXPECT_EQ(static_cast<int>(ec::none), 0);
  EXPECT_EQ(static_cast<int>(ec::malformed), 1);
  EXPECT_EQ(static_cast<int>(ec::verification_failed), 2);
  EXPECT_EQ(static_cast<int>(ec::chain_broken), 3);
  EXPECT_EQ(static_cast<int>(ec::storage_failure), 4);
  EXPECT_EQ(static_cast<int>(ec::limit_reached), 5);
  EXPECT_EQ(static_cast<int>(ec::not_found), 6);
  EXPECT_EQ(static_cast<int>(ec::unreachable), 7);
  EXPECT_EQ(static_cast<int>(ec::rate_limited), 8);
  EXPECT_EQ(static_cast<int>(ec::account_inactive), 9);
  EXPECT_EQ(static_cast<int>(ec::invalid_argument), 10);
  EXPECT_EQ(static_cast<int>(ec::unverifiable), 11);
  EXPECT_EQ(static_cast<int>(ec::cancelled), 13);
  EXPECT_EQ(static_cast<int>(ec::disk_full), 14);
}

TEST(ErrorTest, TextIsCodeThenContext) {
  EXPECT_EQ(to_string(fail(ec::malformed, "bad varint")),
            "malformed: bad varint");
  EXPECT_EQ(to_string(fail(ec::cancelled)), "cancelled");
}

TEST(ResultTest, HoldsAValueOrAnError) {
  ASSERT_TRUE(half(4));
  EXPECT_EQ(*half(4), 2);
  const auto bad = half(3);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ec::invalid_argument);
  EXPECT_EQ(bad.error().context, "odd");
}

TEST(ResultTest, AskingAnErrorForItsValueIsAProgrammingMistake) {
  EXPECT_THROW(half(3).value(), std::logic_error);
}

} // namespace weir
