#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// A rev that a listing named before the REPO ended.
namespace weir::tests {
namespace {

/// A repo that no event and no listing has named yet.
struct unnamed_repo : repo_world {
  unnamed_repo() {
    sync();
    board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
    row->first_rev = {};
    restart();
  }
};

// A REPO that ends forgets the line of the listing, but the row keeps the rev.
TEST(repo_awaited, a_rev_that_was_awaited_is_awaited_anew_after_a_restart) {
  unnamed_repo x;
  const auto named = atproto::tid::from_time(x.now.wall + 1s, 1);
  x.list(named, account_status::active, pds_id);
  x.settle();
  ASSERT_EQ(x.row->first_rev, named);
  x.restart();
  EXPECT_FALSE(x.machine->idle());
  x.pass(x.settings->listing_grace);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// limits::rev_future_max, and a microsecond more
TEST(repo_awaited, a_rev_of_the_future_is_not_awaited_after_a_restart) {
  constexpr std::chrono::microseconds most = limits::rev_future_max;
  for (const auto ahead : {most, most + 1us}) {
    unnamed_repo x;
    x.row->first_rev = atproto::tid::from_time(x.now.wall + ahead, 1);
    x.restart();
    EXPECT_EQ(x.machine->idle(), ahead > most) << ahead.count();
  }
}

} // namespace
} // namespace weir::tests
