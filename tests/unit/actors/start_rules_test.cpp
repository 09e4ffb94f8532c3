#include "actors/node/start_rules.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weir::actors {
namespace {

using storage::account_status;
using storage::repo_status;

wire::collection_filter posts() {
  return wire::collection_filter::parse({"app.bsky.feed.post"}).value();
}

TEST(StartRulesTest, AFilterKeepsItsGenerationUntilItChanges) {
  const auto first = next_filter({}, {});
  EXPECT_EQ(first, (storage::filter_row{1, {}}));
  EXPECT_EQ(next_filter(first, {}), first);
  const auto second = next_filter(first, posts());
  EXPECT_EQ(second, (storage::filter_row{2, {"app.bsky.feed.post"}}));
  EXPECT_EQ(next_filter(second, posts()), second);
  // The return to an earlier filter is a change, too: data that was indexed in
  // between lacks records.
  EXPECT_EQ(next_filter(second, {}), (storage::filter_row{3, {}}));
}

TEST(StartRulesTest, ASyncedActiveRepoOfAnotherFilterIsOutdated) {
  storage::repo_row row;
  row.status = repo_status::synced;
  row.account = account_status::active;
  row.filter_generation = 1;
  EXPECT_FALSE(is_outdated(row, false, 1));
  EXPECT_TRUE(is_outdated(row, false, 2));
  EXPECT_FALSE(is_outdated(row, true, 2));
  row.status = repo_status::desync;
  EXPECT_FALSE(is_outdated(row, false, 2));
  row.status = repo_status::synced;
  row.account = account_status::takendown;
  EXPECT_FALSE(is_outdated(row, false, 2));
}

TEST(StartRulesTest, AStreamKeepsItsNumberAndNoOtherGetsIt) {
  const std::vector<storage::upstream_row> known{
    {.id = 7, .url = "https://gone.test"},
    {.id = 4, .url = "https://a.test", .cursor = 99},
    {.id = 5, .url = "https://b.test", .cursor = 70}};
  // A former PDS that is now a relay has other rules and another position.
  const auto rows = rows_of_streams(known, {{.url = "https://new.test"},
                                            {.url = "https://a.test"},
                                            {.url = "https://b.test",
                                             .relay = true}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].id, 8u);
  EXPECT_EQ(rows[0].cursor, 0u);
  EXPECT_EQ(rows[1].id, 4u);
  EXPECT_EQ(rows[1].cursor, 99u);
  EXPECT_EQ(rows[2].id, 9u);
  EXPECT_TRUE(rows[2].relay);
  EXPECT_EQ(rows[2].cursor, 0u);
}

// limits::health_known_max
TEST(StartRulesTest, PlacesForTestAccountsAreDrawnEachOnItsOwn) {
  const auto random = seeded_random(7);
  const auto places = draw_test_places(*random);
  ASSERT_EQ(places.size(), limits::health_known_max + 1);
  std::set<char> firsts;
  for (size_t i = 0; i < limits::health_known_max; ++i) {
    EXPECT_TRUE(atproto::supported_did(places[i].after.str()));
    EXPECT_EQ(places[i].after.str().size(), 32u);
    EXPECT_EQ(places[i].repos, 1u);
    firsts.insert(places[i].after.str()[8]);
  }
  EXPECT_GT(firsts.size(), 2u) << "they are not close together";
  EXPECT_TRUE(places.back().after.str().empty());
  EXPECT_EQ(places.back().repos, limits::health_known_max);
  EXPECT_NE(draw_test_places(*random)[0].after, places[0].after);
}

TEST(StartRulesTest, OnlyActiveAccountsTestTheDirectory) {
  storage::repo_row row;
  row.account = account_status::active;
  EXPECT_TRUE(tests_directory(row));
  row.account = account_status::deactivated;
  EXPECT_FALSE(tests_directory(row));
}

} // namespace
} // namespace weir::actors
