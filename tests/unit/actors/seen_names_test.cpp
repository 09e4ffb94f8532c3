#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_repeats.hpp"
#include "atproto/identifiers.hpp"

#include <gtest/gtest.h>

#include <string>

/// Listings that repeat the same repos for ever (hostile-inputs.md 2.1.29).
namespace weir::actors {
namespace {

/// The hash of a DID.
uint64_t name(uint64_t n) {
  return atproto::stable_hash("did:plc:" + std::to_string(n));
}

/// Pages that name the repos from `from` to before `to`.
void page(seen_names& x, uint64_t from, uint64_t to) {
  for (auto n = from; n < to; ++n)
    x.add(name(n));
  x.keep_page();
}

// limits::listing_again_max, and one more
TEST(seen_names, one_name_may_come_so_often_and_not_once_more) {
  seen_names x;
  for (size_t i = 0; i < 1 + 1 + limits::listing_again_max; ++i)
    page(x, 0, 1);
  EXPECT_FALSE(x.goes_round());
  page(x, 0, 1);
  EXPECT_TRUE(x.goes_round());
}

// Each new name permits one repetition.
TEST(seen_names, whoever_brings_names_may_repeat_as_many) {
  constexpr uint64_t named = 500;
  seen_names x;
  for (size_t i = 0; i < limits::listing_again_max + named; i += named)
    page(x, 0, named);
  page(x, 0, named);
  EXPECT_FALSE(x.goes_round());
  page(x, 0, 1);
  EXPECT_TRUE(x.goes_round());
}

// limits::listing_names_max: a real host may have any number
TEST(seen_names, a_million_names_are_no_circle_in_constant_memory) {
  seen_names x{7};
  for (uint64_t i = 0; i < 1'000; ++i) {
    // The last repo of each page is the first of the next one, too.
    page(x, i * 1'000, (i + 1) * 1'000 + 1);
    ASSERT_FALSE(x.goes_round()) << i;
    ASSERT_LE(x.size(), limits::listing_names_max);
  }
  EXPECT_GE(x.size(), limits::listing_names_max / 4) << "a fair sample";
}

TEST(seen_names, so_many_are_known_all_and_one_more_halves_them) {
  seen_names x;
  page(x, 0, limits::listing_names_max);
  EXPECT_EQ(x.size(), limits::listing_names_max);
  page(x, limits::listing_names_max, limits::listing_names_max + 1);
  EXPECT_LT(x.size(), limits::listing_names_max * 2 / 3);
}

// For any number of names, in any order.
TEST(seen_names, a_circle_of_any_length_ends_in_its_third_lap) {
  for (const uint64_t length : {1'025u, 20'000u, 300'000u}) {
    seen_names x{length};
    page(x, 0, length);
    EXPECT_FALSE(x.goes_round());
    uint64_t again = 0;
    for (; again < 2 * length + 2 * limits::listing_again_max
           && !x.goes_round();
         again += 100)
      for (uint64_t i = 0; i < 100; ++i)
        page(x, (again + i) * 7'919 % length,
             (again + i) * 7'919 % length + 1);
    EXPECT_TRUE(x.goes_round()) << length;
    EXPECT_GT(again, length / 2) << "what comes twice is no circle";
  }
}

// An attacker who knows the hashes does not know which of them are watched.
TEST(seen_names, what_is_watched_depends_on_the_salt) {
  const auto circles = [](uint64_t salt, const std::vector<uint64_t>& names) {
    seen_names x{salt};
    page(x, 0, 3'000);
    for (size_t lap = 0; lap < 30'000 && !x.goes_round(); ++lap) {
      for (const auto each : names)
        x.add(each);
      x.keep_page();
    }
    return x.goes_round();
  };
  // The names that a sample of a quarter leaves out.
  std::vector<uint64_t> unwatched;
  for (uint64_t n = 0; unwatched.size() < 30; ++n)
    if ((name(n) * 3) >> 62 != 0)
      unwatched.push_back(name(n));
  EXPECT_FALSE(circles(3, unwatched));
  size_t noticed = 0;
  for (const uint64_t salt : {0x5851f42d4c957f2du, 0x14057b7ef767814fu,
                              0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u})
    noticed += circles(salt, unwatched) ? 1 : 0;
  EXPECT_EQ(noticed, 4u);
}

// A page that the node could not take is requested again, which is not the
// host's fault.
TEST(seen_names, a_page_that_is_asked_for_again_counts_once) {
  seen_names x;
  for (int i = 0; i < 100; ++i) {
    for (uint64_t n = 0; n < 1'000; ++n)
      x.add(name(n));
    x.drop_page();
    x.drop_page(); // A failed request brings no page.
  }
  page(x, 0, 1'000);
  for (size_t i = 0; i < limits::listing_again_max / 1'000 + 1; ++i) {
    EXPECT_FALSE(x.goes_round());
    page(x, 0, 1'000);
  }
  EXPECT_FALSE(x.goes_round());
  page(x, 0, 1);
  EXPECT_TRUE(x.goes_round());
}

} // namespace
} // namespace weir::actors
