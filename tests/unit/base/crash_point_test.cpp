#include "base/crash_point.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

// testing.md, Kills: named crash points.

namespace weir {

TEST(CrashPointTest, APlanIsANameAPassageAndPerhapsAMark) {
  const auto plain = parse_crash_plan("journal.written:3");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->at, crash_point::journal_written);
  EXPECT_EQ(plain->passage, 3u);
  EXPECT_EQ(plain->mark, "");
  const auto marked = parse_crash_plan("frame.taken:1:did:plc:abc");
  ASSERT_TRUE(marked);
  EXPECT_EQ(marked->at, crash_point::frame_taken);
  EXPECT_EQ(marked->passage, 1u);
  EXPECT_EQ(marked->mark, "did:plc:abc");
}

TEST(CrashPointTest, AnythingElseIsNoPlan) {
  for (const auto* x :
       {"", ":", "journal.written", "journal.written:", "journal.written:0",
        "journal.written:-1", "journal.written:1x",
        "journal.written:1:", "journal:1", "Journal.Written:1",
        "journal.written:1 ", "journal.written:99999999999999999999"})
    EXPECT_FALSE(parse_crash_plan(x)) << x;
}

TEST(CrashPointTest, EachNameIsItsOwnAndReadsBackAsItsPoint) {
  const std::set<std::string_view> names(crash_point_names.begin(),
                                         crash_point_names.end());
  EXPECT_EQ(names.size(), crash_point_names.size());
  for (size_t i = 0; i < crash_point_names.size(); ++i) {
    const auto x = parse_crash_plan(std::string{crash_point_names[i]} + ":1");
    ASSERT_TRUE(x) << crash_point_names[i];
    EXPECT_EQ(static_cast<size_t>(x->at), i);
  }
}

TEST(CrashPointTest, WithoutAPlanNothingHappens) {
  ASSERT_EQ(std::getenv("WEIR_CRASH_AT"), nullptr);
  bool asked = false;
  for (size_t i = 0; i < crash_point_names.size(); ++i) {
    pass(static_cast<crash_point>(i), "mark");
    pass_if(static_cast<crash_point>(i), [&] {
      return asked = true;
    });
  }
  EXPECT_FALSE(asked);
}

} // namespace weir
