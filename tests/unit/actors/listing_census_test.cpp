#include "actors/supervisor/listing_census.hpp"
#include "atproto/identifiers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::tests {
namespace {

using actors::listing_census;

uint64_t hash_of(uint64_t n) {
  return atproto::stable_hash("did:plc:" + std::to_string(n));
}

TEST(listing_census, names_exactly_those_that_were_left_out) {
  listing_census x{1'000, 1};
  for (uint64_t i = 0; i < 100; ++i)
    if (i % 10 != 0)
      x.add(hash_of(i));
  x.close();
  for (uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(x.left_out(hash_of(i)), i % 10 == 0) << i;
}

// Bounded memory: a part is watched, nobody who was named is ever suspected,
// and other listings watch the other parts
TEST(listing_census, watches_a_part_of_a_listing_that_is_too_long) {
  constexpr size_t most = 1'000;
  constexpr uint64_t listed = 10 * most;
  bool found[100]{};
  for (uint64_t turn = 0; turn < 64; ++turn) {
    listing_census x{most, turn};
    for (uint64_t i = 0; i < listed; ++i)
      x.add(hash_of(i));
    EXPECT_LE(x.size(), most);
    x.close();
    for (uint64_t i = 0; i < listed; ++i)
      EXPECT_FALSE(x.left_out(hash_of(i)));
    for (uint64_t i = 0; i < 100; ++i)
      found[i] |= x.left_out(hash_of(listed + i));
  }
  for (const auto each : found)
    EXPECT_TRUE(each);
}

TEST(listing_census, a_listing_that_repeats_itself_fills_no_memory) {
  listing_census x{100, 1};
  for (uint64_t i = 0; i < 100'000; ++i)
    x.add(hash_of(i % 50));
  EXPECT_LE(x.size(), 100u);
  x.close();
  EXPECT_TRUE(x.left_out(hash_of(50)));
}

} // namespace
} // namespace weir::tests
