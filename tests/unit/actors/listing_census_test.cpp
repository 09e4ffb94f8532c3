#include "actors/supervisor/listing_census.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "atproto/identifiers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace actors;

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

// architecture.md 9: an account that a complete, uninterrupted listing leaves
// out is asked about
TEST(listing_machine, a_listing_is_whole_when_one_run_read_it_to_its_end) {
  const listing_id all{1, {}};
  const steady_time now{1'000'000};
  listing_machine first{{}};
  first.on_wanted(all, {1, 1, 5}, now, {});
  EXPECT_FALSE(first.on_page(all, "c1", 10, now, {}).whole);
  first.on_page(all, fail(ec::unreachable), 0, now, {});
  first.on_timer(now + 24h);
  EXPECT_EQ(first.on_page(all, "", 10, now, {}).whole, all);

  listing_machine restored{{}};
  restored.restore({all, {"c1", false, {1, 1, 5}, 0}});
  restored.on_wanted(all, {1, 1, 5}, now, {});
  EXPECT_FALSE(restored.on_page(all, "", 10, now, {}).whole);

  listing_machine wanted_anew{{}};
  wanted_anew.on_wanted(all, {1, 1, 5}, now, {});
  wanted_anew.on_wanted(all, {1, 2, 1}, now, {});
  EXPECT_FALSE(wanted_anew.on_page(all, "", 10, now, {}).whole);

  listing_options few;
  few.pages_max = 1;
  listing_machine cut{few};
  cut.on_wanted(all, {1, 1, 5}, now, {});
  EXPECT_FALSE(cut.on_page(all, "c1", 10, now, {}).whole);

  listing_machine not_offered{{}};
  not_offered.on_wanted(all, {1, 1, 5}, now, {});
  EXPECT_FALSE(
    not_offered.on_page(all, fail(ec::not_found), 0, now, {}).whole);
}

} // namespace
} // namespace weir::tests
