#include "actors/support/backfill_story.hpp"

#include <gtest/gtest.h>

// What the story of the fetches reads of the stores, and sets back there.
namespace weir::actors {
namespace {

using storage::account_status;
using storage::repo_status;

TEST(backfill_counts, what_waits_has_begun_a_story_that_is_not_told_yet) {
  backfill_story x;
  x.look({1, 0, 0}, steady_time{1});
  store_stats store;
  store.waits_since = 1;
  x.set_back(store, {1, 0, 0}, {});
  EXPECT_EQ(store.waits_since, 1);
}

// Such repos were removed, or their accounts are inactive.
TEST(backfill_counts, what_is_outdated_at_the_end_waits_for_nothing) {
  using told = backfill_news::what;
  const backfill_story x;
  store_stats store;
  store.outdated = 3;
  x.set_back(store, {1, 0, 0}, {{told::progress, {}}});
  EXPECT_EQ(store.outdated, 3u);
  x.set_back(store, {1, 0, 0}, {{told::begun, {}}, {told::done, {}}});
  EXPECT_EQ(store.outdated, 0u);
}

TEST(backfill_counts, its_counts_are_those_of_all_stores_together) {
  store_stats a;
  store_stats b;
  backfill_counts none;
  none.add(a);
  EXPECT_FALSE(none.since || none.until) << "no repo has waited";
  for (const auto x : {repo_status::pending, repo_status::synced,
                       repo_status::error, repo_status::desync})
    a.add(x, account_status::active);
  b.add(repo_status::synced, account_status::active);
  a.fallen = 7;
  b.outdated = 2;
  a.waits_since = 20;
  b.waits_since = 10;
  a.waited_until = 40;
  b.waited_until = 30;
  backfill_counts sum;
  for (const auto* x : {&a, &b})
    sum.add(*x);
  EXPECT_EQ(sum.waiting, 2u);
  EXPECT_EQ(sum.synced, 9u) << "as often as repos became synced";
  EXPECT_EQ(sum.synced_now(), 2u);
  EXPECT_EQ(sum.failed, 1u);
  EXPECT_EQ(sum.fallen, 7u);
  EXPECT_EQ(sum.outdated, 2u);
  EXPECT_EQ(sum.since, steady_time{10});
  EXPECT_EQ(sum.until, steady_time{40});
  const store_stats idle;
  sum.add(idle);
  EXPECT_EQ(sum.since, steady_time{10}) << "one where no repo has waited";
}

} // namespace
} // namespace weir::actors
