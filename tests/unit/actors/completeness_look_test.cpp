#include "actors/supervisor/completeness_look.hpp"

#include "actors/supervisor/limits_scans.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/upstream_views.hpp"

#include <gmock/gmock.h>

/// A look at all rows: what it counts, and what may help the other repos.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto look_host = "https://pds.test";
constexpr uint32_t look_filter = 2;
constexpr atproto::tid look_rev{7 << 20};

atproto::did look_did(size_t n) {
  return atproto::did::trusted("did:web:a" + std::to_string(100'000 + n)
                               + ".test");
}

/// A node that follows the PDS of the repos, whose listing was compared.
struct looked_at {
  looked_at() { follow(true); }

  void follow(bool live) {
    auto view = quiet_upstream(pds_id, look_host, 3, 7);
    view.live = live;
    view.caught_up = true;
    board.put(view);
  }

  /// A complete repo in sync.
  storage::repo_row& add() {
    auto& [repo, row] = rows.emplace_back(look_did(rows.size()),
                                          storage::repo_row{});
    row.status = storage::repo_status::synced;
    row.pds = look_host;
    row.fcsr = {pds_id, 3, 7};
    row.first_rev = row.last_indexed_rev = look_rev;
    row.filter_generation = look_filter;
    return row;
  }

  completeness_page take() {
    return look.take(rows,
                     {board, listed, steady_time{}, wall,
                      [this](const atproto::did& repo)
                        -> result<std::shared_ptr<const storage::chain_row>> {
                        read.push_back(repo);
                        return chain;
                      }});
  }

  const completeness_count& counted() const { return look.census.all(); }

  completeness_look look{look_filter};
  upstream_board board;
  std::set<uint32_t> listed{pds_id};
  wall_time wall;
  std::vector<std::pair<atproto::did, storage::repo_row>> rows;
  result<std::shared_ptr<const storage::chain_row>> chain
    = std::shared_ptr<const storage::chain_row>{};
  std::vector<atproto::did> read; ///< Repos whose chains were read.
};

TEST(completeness_look, a_complete_repo_needs_nothing) {
  looked_at x;
  x.add();
  const auto page = x.take();
  EXPECT_THAT(page.repos, IsEmpty());
  EXPECT_EQ(page.last, look_did(0));
  EXPECT_TRUE(page.end);
  EXPECT_EQ(x.counted().complete, 1u);
  EXPECT_THAT(x.read, IsEmpty());
}

// limits::repos_page_max: a shorter page is the last one
TEST(completeness_look, a_full_page_is_followed_by_another) {
  looked_at x;
  for (size_t i = 1; i < limits::repos_page_max; ++i)
    x.add();
  EXPECT_TRUE(x.take().end);
  x.add();
  EXPECT_FALSE(x.take().end);
}

// CONS-29: the listing of its upstream did not prove it
TEST(completeness_look, a_copy_of_before_a_loss_is_proved_by_its_host) {
  looked_at x;
  x.add().fcsr = {pds_id, 2, 90};
  auto page = x.take();
  ASSERT_EQ(page.repos.size(), 1u);
  EXPECT_TRUE(page.repos[0].prove);
  EXPECT_EQ(page.repos[0].pds, look_host);
  EXPECT_EQ(page.repos[0].noted, (position{pds_id, 3, 7}));
  x.listed.clear();
  EXPECT_THAT(x.take().repos, IsEmpty()) << "the listing may prove it";
  x.listed.insert(pds_id);
  x.follow(false);
  EXPECT_THAT(x.take().repos, IsEmpty()) << "it is not complete then either";
  EXPECT_EQ(x.counted().active, 3u);
  EXPECT_EQ(x.counted().complete, 0u);
}

// CONS-27, CONS-28
TEST(completeness_look, a_repo_in_sync_that_lacks_something_is_woken) {
  looked_at x;
  x.add().gap = true;
  x.add().last_indexed_rev = {};
  x.add().first_rev = atproto::tid{8 << 20};
  const auto page = x.take();
  ASSERT_EQ(page.repos.size(), 3u);
  for (const auto& each : page.repos)
    EXPECT_FALSE(each.prove) << each.id.str();
}

// limits::lacked_rev_pause, and a second less
TEST(completeness_look, a_repo_is_not_woken_for_a_rev_that_a_fetch_lacked) {
  constexpr std::chrono::seconds pause = limits::lacked_rev_pause;
  looked_at x;
  auto& row = x.add();
  const wall_time made_at{2'000'000'000'000'000};
  row.first_rev = atproto::tid::from_time(made_at, 1);
  row.last_sync = made_at.seconds() + 1;
  x.wall = made_at + pause;
  EXPECT_THAT(x.take().repos, IsEmpty());
  x.wall = x.wall + std::chrono::seconds{1};
  EXPECT_EQ(x.take().repos.size(), 1u);
  EXPECT_EQ(x.counted().complete, 0u);
}

TEST(completeness_look, what_is_fetched_anyway_is_left_alone) {
  looked_at x;
  auto& fetched = x.add();
  fetched.status = storage::repo_status::desync;
  fetched.gap = true;
  auto& filtered = x.add();
  filtered.filter_generation = 1;
  filtered.gap = true;
  x.add().account = storage::account_status::deactivated;
  EXPECT_THAT(x.take().repos, IsEmpty());
  EXPECT_EQ(x.counted().active, 2u);
}

// CONS-28: an event may be past the first rev although no fetch is
TEST(completeness_look, a_chain_is_read_where_the_row_does_not_decide) {
  looked_at x;
  x.add();
  x.add().first_rev = {};
  x.add().first_rev = atproto::tid{8 << 20};
  auto chain = std::make_shared<storage::chain_row>();
  chain->rev = atproto::tid{9 << 20};
  x.chain = std::shared_ptr<const storage::chain_row>{chain};
  x.take();
  EXPECT_THAT(x.read, ElementsAre(look_did(2)));
  EXPECT_EQ(x.counted().complete, 2u);
}

// CONS-10
TEST(completeness_look, a_repo_that_cannot_be_read_counts_as_incomplete) {
  looked_at x;
  x.add().first_rev = atproto::tid{8 << 20};
  x.add();
  x.chain = fail(ec::storage_failure, "damaged");
  const auto page = x.take();
  ASSERT_EQ(page.unread.size(), 1u);
  EXPECT_EQ(page.unread[0].id, look_did(0));
  EXPECT_EQ(page.unread[0].why.code, ec::storage_failure);
  EXPECT_THAT(page.repos, IsEmpty());
  EXPECT_EQ(x.counted().active, 2u);
  EXPECT_EQ(x.counted().complete, 1u);
}

// limits::completeness_due_max
TEST(completeness_look, due_look_ups_leave_room_for_others) {
  looked_at x;
  for (size_t i = 0; i <= limits::completeness_due_max; ++i) {
    auto& row = x.add();
    row.account = storage::account_status::deleted;
    row.identity_due = true;
  }
  x.add().gap = true;
  const auto page = x.take();
  ASSERT_EQ(page.repos.size(), limits::completeness_due_max + 1);
  EXPECT_EQ(page.repos[limits::completeness_due_max - 1].id,
            look_did(limits::completeness_due_max - 1));
  EXPECT_EQ(page.repos.back().id, x.rows.back().first) << "it has a gap";
}

TEST(completeness_look, a_repo_with_a_gap_and_a_due_look_up_is_woken_once) {
  looked_at x;
  auto& row = x.add();
  row.gap = row.identity_due = true;
  EXPECT_EQ(x.take().repos.size(), 1u);
}

} // namespace
} // namespace weir::tests
