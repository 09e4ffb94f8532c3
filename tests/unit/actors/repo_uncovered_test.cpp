#include "actors/support/completeness.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// A repo that no upstream covers: only its host's answers show a newer state
/// (actors.md, What no upstream covers).
namespace weir::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A synced repo for which neither its host nor a relay is followed.
struct uncovered_repo : repo_world {
  uncovered_repo() {
    auto relay = quiet_upstream(relay_id, "https://stranger.test", 1, 1);
    relay.relay = false;
    board.put(relay);
    board.put(quiet_upstream(pds_id, "https://another.test", 1, 1));
    EXPECT_EQ(board.accounting_for(pds_origin).id, 0u);
    sync();
  }

  void answer_rev(atproto::tid rev, std::string_view pds = pds_origin) {
    tell({account.did(), std::string{pds}, account_status::active, false, rev});
  }
};

} // namespace

TEST(repo_uncovered, a_newer_rev_at_its_host_is_fetched) {
  uncovered_repo x;
  x.make_commit();
  x.answer_rev(x.account.rev());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_THAT(x.row->error, HasSubstr("no upstream covers it"));
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
  ASSERT_EQ(x.wishes.size(), 1u);
  x.start_fetch(7);
  ASSERT_FALSE(x.orders.empty());
  EXPECT_EQ(x.orders.back().least, x.account.rev()) << "no older one will do";
  x.fetched(7);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

TEST(repo_uncovered, what_is_held_is_no_reason_to_fetch) {
  uncovered_repo x;
  const auto held = x.account.rev();
  x.answer_rev(held);
  x.answer_rev({}); // Some hosts do not give it.
  EXPECT_THAT(x.wishes, IsEmpty());
  x.make_commit();
  x.answer_rev(x.account.rev(), other_origin); // That is not the repo's host.
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// limits::rev_future_max: no commit with that rev would be accepted
TEST(repo_uncovered, a_rev_beyond_our_clock_is_no_reason_to_fetch) {
  uncovered_repo x;
  const auto at = [&x](std::chrono::microseconds ahead) {
    return atproto::tid::from_time(
      x.now.wall + (limits::rev_future_max + ahead), 0);
  };
  x.answer_rev(at(1s));
  EXPECT_THAT(x.wishes, IsEmpty());
  x.answer_rev(at(-1s));
  EXPECT_EQ(x.wishes.size(), 1u);
}

// Its event may be on its way, even while its stream is disconnected.
TEST(repo_uncovered, a_stream_that_covers_it_is_waited_for) {
  repo_world x;
  x.sync();
  x.make_commit();
  x.tell({x.account.did(), pds_origin, account_status::active, false,
          x.account.rev()});
  x.board.put(away_upstream(pds_id, pds_origin));
  x.tell({x.account.did(), pds_origin, account_status::active, false,
          x.account.rev()});
  EXPECT_THAT(x.wishes, IsEmpty());
}

/// A synced repo with a relay whose listings leave it out.
struct left_out_repo : repo_world {
  left_out_repo() {
    board.put(quiet_upstream(pds_id, "https://another.test", 1, 1));
    EXPECT_EQ(board.accounting_for(pds_origin).id, relay_id);
    sync();
    leave_out();
    settle();
  }
};

// actors.md, What no upstream covers: a relay need not carry every host
TEST(repo_uncovered, a_relay_that_leaves_it_out_does_not_cover_it) {
  left_out_repo x;
  EXPECT_EQ(x.row->left_out_by, relay_id);
  EXPECT_FALSE(completeness::explain(*x.row, &*x.chain,
                                     x.board.accounting_for(pds_origin), 0)
                 .covered);
  x.make_commit();
  x.tell({x.account.did(), pds_origin, account_status::active, false,
          x.account.rev()});
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync) << "nobody else will tell";
}

TEST(repo_uncovered, a_relay_that_names_it_after_all_covers_it) {
  left_out_repo listed;
  listed.list(listed.account.rev());
  listed.settle();
  EXPECT_EQ(listed.row->left_out_by, 0u);
  left_out_repo told;
  told.take(told.make_commit());
  told.settle();
  EXPECT_EQ(told.row->left_out_by, 0u);
  EXPECT_EQ(told.row->status, repo_status::synced);
}

TEST(repo_uncovered, only_the_relay_that_accounts_for_it_leaves_it_out) {
  repo_world x; // The stream of its host is followed.
  x.sync();
  x.leave_out();
  x.settle();
  EXPECT_EQ(x.row->left_out_by, 0u);
}

TEST(repo_uncovered, an_account_that_comes_back_is_fetched) {
  uncovered_repo x;
  x.answer(account_status::deactivated);
  x.settle();
  ASSERT_EQ(x.row->account, account_status::deactivated);
  x.make_commit();
  x.answer_rev(x.account.rev());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_FALSE(x.wishes.empty());
}

} // namespace weir::tests
