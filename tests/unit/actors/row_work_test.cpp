#include "actors/support/row_work.hpp"

#include "tests/unit/actors/upstream_views.hpp"

#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using storage::account_status;
using storage::repo_status;

constexpr uint32_t filter = 3;

storage::repo_row synced_row() {
  storage::repo_row out;
  out.status = repo_status::synced;
  out.filter_generation = filter;
  return out;
}

bool has_work(const storage::repo_row& row,
              const upstream_board& followed = {}) {
  return has_quiet_work(row, filter, followed);
}

TEST(RowWorkTest, ARepoInSyncHasQuietWorkForEachOfThreeReasons) {
  EXPECT_FALSE(has_work(synced_row()));
  auto row = synced_row();
  row.identity_due = true;
  EXPECT_TRUE(has_work(row));
  row = synced_row();
  row.gap = true;
  EXPECT_TRUE(has_work(row));
  row = synced_row();
  row.filter_generation = filter - 1;
  EXPECT_TRUE(has_work(row));
}

TEST(RowWorkTest, ARepoThatIsToBeFetchedHasNoQuietWork) {
  for (const auto status : {repo_status::pending, repo_status::syncing,
                            repo_status::desync, repo_status::error}) {
    auto row = synced_row();
    row.status = status;
    row.gap = true;
    EXPECT_FALSE(has_work(row));
    EXPECT_TRUE(asks_for_fetch(row));
  }
  EXPECT_FALSE(asks_for_fetch(synced_row()));
}

TEST(RowWorkTest, AnAccountThatIsAwayIsWokenForItsIdentityOrAnOldRelay) {
  auto row = synced_row();
  row.status = repo_status::desync;
  row.account = account_status::suspended;
  row.gap = true;
  EXPECT_FALSE(has_work(row)) << "nothing is fetched of it";
  EXPECT_FALSE(asks_for_fetch(row));
  row.identity_due = true;
  EXPECT_TRUE(has_work(row));
  row.identity_due = false;
  row.words.relays.push_back(
    {account_status::suspended, position{tests::relay_id, 1, 0}});
  EXPECT_TRUE(has_work(row)) << "nobody follows that relay";
  upstream_board followed;
  followed.put(
    tests::quiet_upstream(tests::relay_id, "https://relay.test", 1, 1));
  EXPECT_FALSE(has_work(row, followed));
}

TEST(RowWorkTest, ALostRepoIsOneThatAKnownHostDidNotFind) {
  auto row = synced_row();
  row.pds = "https://pds.test";
  EXPECT_FALSE(is_lost(row));
  row.not_found_at = 1;
  EXPECT_TRUE(is_lost(row));
  row.pds.clear();
  EXPECT_FALSE(is_lost(row)) << "there is nobody to ask";
}

TEST(RowWorkTest, WhatFailedForARevThatIsAheadIsKnownByItsReason) {
  storage::repo_row row;
  row.error = "HTTP 502";
  EXPECT_FALSE(is_ahead_of_clock(row));
  row.error = "invalid commit: future_rev: rev is in the future: 3kdtoo2bdf222";
  EXPECT_TRUE(is_ahead_of_clock(row));
}

} // namespace
} // namespace weir::actors
