#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// A repo whose host serves an older copy than the one it named.
namespace weir::tests {
namespace {

struct lacking_repo : repo_world {
  /// @param next The rev is hardly newer than that of the copy.
  explicit lacking_repo(bool next = false) {
    board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
    sync();
    named = next ? atproto::tid{account.rev().value() + 1}
                 : atproto::tid::from_time(now.wall, 1);
    list(named, account_status::active, pds_id);
    pass(settings->listing_grace);
    fetch_in_vain();
    clear();
  }

  /// The first try is refused, as it lacks the rev; the second is accepted.
  void fetch_in_vain() {
    settle();
    start_fetch(++job);
    EXPECT_EQ(orders.back().least, named);
    fail_fetch(job, fail(ec::unreachable, "older"));
    settle();
    learn(identity());
    run_fetch(++job);
    ASSERT_EQ(row->status, repo_status::synced);
  }

  bool is_whole() const {
    return completeness::explain(*row, chain.get(),
                                 board.accounting_for(pds_origin),
                                 row->filter_generation)
      .indexed_past_first_rev;
  }

  atproto::tid named;
  uint64_t job = 100;
};

// ADR 20
TEST(repo_lacked, a_copy_older_than_what_its_host_named_is_not_called_whole) {
  lacking_repo x;
  EXPECT_EQ(x.row->first_rev, x.named);
  EXPECT_FALSE(x.is_whole());
}

// CONS-27. limits::lacked_rev_pause, and a second less
TEST(repo_lacked, it_is_fetched_again_when_the_pause_is_over) {
  constexpr std::chrono::seconds pause = limits::lacked_rev_pause;
  lacking_repo x;
  x.pass(pause - 1s);
  x.look();
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  x.pass(1s);
  x.look();
  x.settle();
  ASSERT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->listed_rev, x.named);
  x.fetch_in_vain();
  x.pass(pause);
  x.look();
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced) << "the pauses grow";
}

TEST(repo_lacked, a_restart_does_not_end_the_pause) {
  lacking_repo x;
  x.restart();
  EXPECT_TRUE(x.machine->idle());
  x.look();
  EXPECT_THAT(x.wishes, testing::IsEmpty());
  EXPECT_FALSE(x.in_flight);
}

TEST(repo_lacked, a_commit_that_follows_makes_it_whole) {
  lacking_repo x{true};
  EXPECT_FALSE(x.is_whole());
  x.take(x.make_commit(), pds_id);
  x.settle();
  ASSERT_EQ(x.row->status, repo_status::synced);
  ASSERT_GT(x.account.rev(), x.named);
  EXPECT_TRUE(x.is_whole());
}

// CONS-25: the host takes back what it named
TEST(repo_lacked, a_later_listing_of_the_rev_of_the_copy_makes_it_whole) {
  lacking_repo x;
  x.list(x.account.rev(), account_status::active, pds_id);
  x.settle();
  EXPECT_FALSE(x.is_whole()) << "the listing may be behind, too";
  x.pass(std::chrono::seconds{limits::lacked_rev_pause});
  x.list(x.account.rev(), account_status::active, pds_id);
  x.settle();
  EXPECT_TRUE(x.is_whole());
}

// A listing may name any rev, and no fetch would ever bring this one.
TEST(repo_lacked, a_listed_rev_beyond_the_clock_is_not_believed) {
  repo_world x;
  x.board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
  x.sync();
  x.row->first_rev = {};
  x.restart();
  const auto ahead = x.now.wall + limits::rev_future_max;
  x.list(atproto::tid::from_time(ahead + 1s, 1), account_status::active, pds_id);
  x.settle();
  EXPECT_FALSE(x.row->first_rev.defined());
  const auto just_not = atproto::tid::from_time(ahead, 1);
  x.list(just_not, account_status::active, pds_id);
  x.settle();
  EXPECT_EQ(x.row->first_rev, just_not);
}

} // namespace
} // namespace weir::tests
