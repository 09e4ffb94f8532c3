#include "actors/supervisor/left_out_scans.hpp"
#include "atproto/identifiers.hpp"
#include "tests/unit/actors/listing_run.hpp"

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

// Memory is bounded: only a part is watched, a repo that was listed is never
// suspected, and other listings watch the other parts
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

// architecture.md, A wrong clock
TEST(listing_census, a_fetch_in_the_future_excuses_nobody) {
  storage::repo_row row;
  row.pds = "https://pds.test";
  row.last_indexed_rev = *atproto::tid::parse("3jzfcijpj2z2a");
  constexpr int64_t since = 1'000;
  constexpr wall_time now{1'100 * 1'000'000};
  row.last_sync = since - 1;
  EXPECT_TRUE(should_be_listed(row, since, now));
  for (const auto known_better : {since, now.seconds()}) {
    row.last_sync = known_better;
    EXPECT_FALSE(should_be_listed(row, since, now));
  }
  row.last_sync = now.seconds() + 1;
  EXPECT_TRUE(should_be_listed(row, since, now)) << "a clock was ahead";
}

// actors.md, What an account is: a repo that a complete, uninterrupted listing
// leaves out is asked about
TEST(listing_machine, a_listing_is_whole_when_one_life_read_it_to_its_end) {
  listing_run x;
  x.want();
  x.page("c1");
  EXPECT_FALSE(x.last.whole);
  auto other_life = x.restarted();
  EXPECT_TRUE(other_life.want());
  other_life.page("");
  EXPECT_FALSE(other_life.last.whole);
  x.fail_page(ec::unreachable);
  x.pass(24h);
  EXPECT_TRUE(x.tick());
  x.page("");
  EXPECT_TRUE(x.last.whole == x.all);
}

// actors.md, What an account is
TEST(listing_machine, a_listing_that_is_cut_or_wanted_anew_is_not_whole) {
  listing_run anew;
  anew.want();
  anew.want({1, 2, 1});
  anew.page("");
  EXPECT_FALSE(anew.last.whole);
  listing_options few;
  few.pages_max = 1;
  listing_run cut{few};
  cut.want();
  cut.page("c1");
  EXPECT_FALSE(cut.last.whole);
  listing_run not_offered;
  not_offered.want();
  not_offered.fail_page(ec::not_found);
  EXPECT_FALSE(not_offered.last.whole);
}

} // namespace
} // namespace weir::tests
