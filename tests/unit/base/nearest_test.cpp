#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

TEST(NearestTest, DistanceCountsInsertionsRemovalsChangesAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("bind", "bind"), 0u);
  EXPECT_EQ(edit_distance("bnid", "bind"), 1u);
  EXPECT_EQ(edit_distance("bin", "bind"), 1u);
  EXPECT_EQ(edit_distance("bond", "bind"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestTest, TheNearestNameIsFoundWhateverItsCaseAndDashes) {
  const std::vector<std::string> names{"plc_url", "plc_per_second", "bind"};
  EXPECT_EQ(nearest("plc_ulr", names), "plc_url");
  EXPECT_EQ(nearest("PLC-URL", names), "plc_url");
  EXPECT_EQ(nearest("bnd", names), "bind");
}

TEST(NearestTest, WhatIsFarFromEverythingHasNoSuggestion) {
  const std::vector<std::string> names{"plc_url", "bind"};
  EXPECT_FALSE(nearest("frobnicate", names));
  EXPECT_FALSE(nearest("xyz", names));
  EXPECT_EQ(suggestion("frobnicate", names), "");
  EXPECT_EQ(suggestion("bins", names), "; did you mean \"bind\"?");
}

TEST(NearestTest, WhereNoneIsNearAllAreNamed) {
  EXPECT_EQ(nearest_or_all("bins", {"plc_url", "bind"}),
            "; did you mean \"bind\"?");
  EXPECT_EQ(nearest_or_all("frobnicate", {"plc_url", "bind"}),
            "; it takes plc_url, bind");
  EXPECT_EQ(nearest_or_all("frobnicate", {}), "; it takes none");
}

// A name is cut at 64 letters, so that a hostile one costs little.
TEST(NearestTest, VeryLongWordsAreCompared) {
  EXPECT_FALSE(nearest(std::string(1'000'000, 'x'), {"bind"}));
}

} // namespace weir::tests
