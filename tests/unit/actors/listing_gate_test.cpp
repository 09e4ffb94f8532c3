#include "actors/router/limits.hpp"
#include "actors/router/listing_gate.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::actors {
namespace {

using gate = listing_gate<int>;

atproto::did repo(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

constexpr size_t residents = 64;
constexpr auto places = residents / limits::undecided_part;
constexpr auto share = places / limits::listing_upstream_part;

/// Lets lines pass until one must wait. Each line keeps its REPO awake.
size_t fill(gate& x, uint32_t upstream, size_t from) {
  size_t count = 0;
  while (x.next()) {
    x.keep_awake(repo(from + count++), upstream);
    x.answered(upstream);
  }
  return count;
}

gate with_lines(uint32_t upstream, size_t count) {
  gate out{residents};
  for (size_t i = 0; i < count; ++i)
    out.add(upstream, static_cast<int>(i));
  return out;
}

// limits::undecided_part: one listing alone gets half, and not one more
TEST(listing_gate, so_many_repos_doubt_and_not_one_more) {
  auto x = with_lines(1, residents);
  EXPECT_EQ(fill(x, 1, 0), places / 2);
  x.release(repo(0));
  EXPECT_EQ(x.next(), static_cast<int>(places / 2)) << "in order, none is lost";
  EXPECT_EQ(x.next(), std::nullopt);
}

// limits::listing_upstream_part: a stream that never catches up leaves room
TEST(listing_gate, a_listing_without_its_share_passes_one_that_has_more) {
  auto x = with_lines(1, residents);
  fill(x, 1, 0);
  for (size_t i = 0; i < residents; ++i)
    x.add(2, 1000);
  EXPECT_EQ(fill(x, 2, residents), share);
  for (uint32_t upstream = 3; upstream < 8; ++upstream)
    x.add(upstream, 2000);
  size_t others = 0;
  while (x.next())
    ++others;
  EXPECT_EQ(others, 5u);
}

TEST(listing_gate, all_places_together_are_the_bound) {
  gate x{residents};
  for (uint32_t upstream = 0; upstream < 2 * limits::listing_upstream_part;
       ++upstream)
    for (size_t i = 0; i < share; ++i)
      x.add(upstream, 0);
  size_t passed = 0;
  while (x.next())
    ++passed;
  EXPECT_EQ(passed, places);
  x.answered(0);
  EXPECT_NE(x.next(), std::nullopt);
  EXPECT_EQ(x.next(), std::nullopt);
}

TEST(listing_gate, lines_whose_repos_do_not_doubt_hold_nothing) {
  auto x = with_lines(1, 10 * residents);
  for (size_t i = 0; i < 10 * residents; ++i) {
    ASSERT_EQ(x.next(), static_cast<int>(i));
    x.answered(1);
  }
  EXPECT_EQ(x.next(), std::nullopt);
}

// Two listings may name the same repo, which takes one place.
TEST(listing_gate, a_repo_that_doubts_has_one_place) {
  gate x{residents};
  for (uint32_t upstream : {1, 2})
    x.keep_awake(repo(1), upstream);
  x.release(repo(1));
  x.release(repo(1));
  for (size_t i = 0; i < places; ++i)
    x.add(1, 0);
  EXPECT_EQ(fill(x, 1, 10), places / 2);
}

// The first of two lines was decided: its listing pays no longer.
TEST(listing_gate, the_place_goes_to_the_listing_that_is_not_decided) {
  gate x{residents};
  for (size_t i = 0; i < places / 2; ++i)
    x.keep_awake(repo(static_cast<int>(i)), 1);
  x.add(1, 0);
  EXPECT_EQ(x.next(), std::nullopt) << "it has its share";
  for (size_t i = 0; i < places / 2; ++i)
    x.keep_awake(repo(static_cast<int>(i)), 2);
  EXPECT_EQ(x.next(), 0);
}

TEST(listing_gate, the_smallest_shard_has_one_place) {
  gate x{0};
  x.add(1, 1);
  x.add(1, 2);
  EXPECT_EQ(x.next(), 1);
  EXPECT_EQ(x.next(), std::nullopt);
  x.answered(1);
  EXPECT_EQ(x.next(), 2);
}

} // namespace
} // namespace weir::actors
