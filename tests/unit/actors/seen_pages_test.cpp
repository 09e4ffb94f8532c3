#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_repeats.hpp"

#include <gtest/gtest.h>

/// Listings that go in circles (hostile-inputs.md 2.1.29).
namespace weir::actors {
namespace {

// limits::listing_seen_max, and one more: the oldest is forgotten
TEST(seen_pages, the_last_ones_are_known) {
  constexpr auto most = limits::listing_seen_max;
  seen_pages x;
  for (uint64_t i = 0; i < most; ++i)
    EXPECT_FALSE(x.repeats(i));
  EXPECT_TRUE(x.repeats(0));
  EXPECT_FALSE(x.repeats(most));
  EXPECT_EQ(x.size(), most);
  EXPECT_TRUE(x.repeats(1));
  EXPECT_FALSE(x.repeats(0));
}

// For any length of the circle and of the way into it.
TEST(seen_pages, a_circle_of_cursors_is_noticed_in_constant_memory) {
  for (const uint64_t way : {0u, 1u, 7u, 1'000u})
    for (const uint64_t circle : {1u, 2u, 3u, 255u, 256u, 257u, 5'000u}) {
      seen_pages x;
      uint64_t i = 0;
      const auto cursor = [&] {
        return i < way ? i : way + (i - way) % circle;
      };
      while (i < 4 * (way + circle) + 4 && !x.repeats_cursor(cursor()))
        ++i;
      EXPECT_GE(i, way + circle) << "none came twice";
      EXPECT_LT(i, 4 * (way + circle) + 4) << way << ' ' << circle;
      EXPECT_LE(x.size(), limits::listing_seen_max);
    }
}

} // namespace
} // namespace weir::actors
