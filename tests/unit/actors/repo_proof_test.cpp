#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

#include "actors/repo/completeness_machine.hpp"

/// How a repo with a stale position is proved complete without a commit
/// (completeness.md, Acting; CONS-27 to CONS-30).
namespace weir::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A synced repo whose stream was reset afterwards.
struct stale_repo : repo_world {
  stale_repo() {
    sync();
    // This is its row after a fetch at the first position.
    list(account.rev(), account_status::active, pds_id);
    settle();
    board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
    clear();
  }

  bool is_current() const {
    return row->fcsr.covers(board.find(pds_id).since_reset());
  }

  void answer_rev(atproto::tid rev, bool prove = true,
                  const position& noted = {pds_id, 2, 500}) {
    tell({account.did(), pds_origin, account_status::active, false, rev, noted,
          prove});
    settle();
  }
};

} // namespace

TEST(repo_proof, a_host_that_names_our_rev_proves_the_copy) {
  stale_repo x;
  ASSERT_FALSE(x.is_current());
  x.answer_rev(x.account.rev());
  EXPECT_TRUE(x.is_current());
  EXPECT_EQ(x.row->first_rev, x.account.rev());
  EXPECT_THAT(x.wishes, IsEmpty());
}

// The purpose of the question does not matter.
TEST(repo_proof, an_answer_to_another_question_proves_it_as_well) {
  stale_repo x;
  x.answer_rev(x.account.rev(), false);
  EXPECT_TRUE(x.is_current());
}

// completeness.md, The terms: the position is from before the reset, or of
// another stream
TEST(repo_proof, an_answer_at_another_position_proves_nothing) {
  stale_repo x;
  x.answer_rev(x.account.rev(), true, {pds_id, 1, 1});
  EXPECT_FALSE(x.is_current());
  x.answer_rev(x.account.rev(), true, {relay_id, 9, 900});
  EXPECT_FALSE(x.is_current());
  x.answer_rev(x.account.rev(), true, {});
  EXPECT_FALSE(x.is_current());
}

// Its event may be on its way; if it does not come, the repo is fetched.
TEST(repo_proof, a_newer_rev_is_waited_for_and_then_fetched) {
  stale_repo x;
  x.make_commit();
  x.answer_rev(x.account.rev(), false);
  EXPECT_FALSE(x.machine->undecided_line()) << "that was not asked";
  x.answer_rev(x.account.rev());
  EXPECT_TRUE(x.machine->undecided_line());
  EXPECT_THAT(x.wishes, IsEmpty());
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  ASSERT_EQ(x.wishes.size(), 1u);
  x.run_fetch(5);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// A quiet repo costs a fetch only when its host never gives its rev.
TEST(repo_proof, a_host_that_never_says_its_rev_is_fetched_from) {
  stale_repo x;
  x.answer_rev({}, false);
  EXPECT_EQ(x.row->status, repo_status::synced);
  x.answer_rev({});
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_THAT(x.row->error, HasSubstr("its host does not say its rev"));
  x.clear();
  x.list(x.account.rev(), account_status::active, pds_id);
  EXPECT_THAT(x.wishes, IsEmpty()) << "it is fetched already";
}

// The host does not know the question either.
TEST(repo_proof, a_host_that_proves_nothing_is_fetched_from_when_it_has_to) {
  stale_repo x;
  x.look();
  EXPECT_FALSE(x.in_flight) << "it may be proved yet";
  x.look(true);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  repo_world whole;
  whole.sync();
  whole.list(whole.account.rev(), account_status::active, pds_id);
  whole.settle();
  whole.look(true);
  EXPECT_FALSE(whole.in_flight);
}

// #sync: the stream shows that the copy has the present state
TEST(repo_proof, a_sync_that_shows_our_state_proves_the_copy) {
  stale_repo x;
  x.take(x.account.sync_frame(2), pds_id);
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::sync_noop), 1u);
  EXPECT_TRUE(x.is_current());
  x.clear();
  x.take(x.account.sync_frame(3), pds_id);
  EXPECT_FALSE(x.in_flight) << "CONS-19";
}

// CONS-28: a commit that is being written counts
TEST(repo_proof, a_look_while_a_commit_is_written_fetches_nothing) {
  stale_repo x;
  x.take(x.make_commit(), pds_id);
  ASSERT_TRUE(x.in_flight);
  x.look();
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->first_rev, x.account.rev());
  EXPECT_THAT(x.wishes, IsEmpty());
}

// CONS-28; limits::listing_wait_max: a listing shows a rev that a late stream
// has not brought yet
TEST(repo_proof, what_was_told_ahead_of_a_late_stream_is_waited_for) {
  constexpr std::chrono::microseconds longest = limits::listing_wait_max;
  for (const auto sent_all : {false, true})
    for (const auto age : {1us, longest - 1us, longest}) {
      stale_repo x;
      auto row = *x.row;
      x.pass(24h);
      row.first_rev = atproto::tid::from_time(x.now.wall + -age, 1);
      ASSERT_GT(row.first_rev, row.last_indexed_rev);
      x.row = row;
      x.restart();
      x.clear();
      auto view = x.board.accounting_for(x.row->pds);
      ASSERT_NE(view.id, 0u);
      if (!sent_all)
        view.quiet_since.reset();
      x.board.put(view);
      x.look();
      x.settle();
      const auto waits = !sent_all && age < longest;
      EXPECT_EQ(x.row->status,
                waits ? repo_status::synced : repo_status::desync)
        << sent_all << ' ' << age.count();
    }
}

// CONS-27, CONS-28: a row has `synced` although the copy was never complete
TEST(repo_proof, what_was_never_fetched_since_it_was_told_of_is_fetched) {
  for (const auto never : {true, false}) {
    stale_repo x;
    auto row = *x.row;
    (never ? row.last_indexed_rev : row.first_rev)
      = never ? atproto::tid{}
              : atproto::tid::from_time(x.now.wall + limits::rev_future_max, 1);
    x.row = row;
    x.restart();
    x.clear();
    x.look();
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::desync) << never;
    EXPECT_EQ(x.wishes.size(), 1u);
  }
  stale_repo whole;
  whole.look();
  EXPECT_FALSE(whole.in_flight);
}

// ADR 20: the upstream named a rev that the fetch did not bring. CONS-26: that
// of another upstream does not count.
TEST(repo_proof, a_fetch_says_from_where_the_copy_is_whole) {
  for (const auto& noted : {position{}, position{pds_id, 1, 1},
                            position{pds_id, 2, 500}, position{pds_id, 3, 1}}) {
    storage::repo_row row;
    row.first_rev = atproto::tid{900};
    row.fcsr = {pds_id, 2, 500};
    completeness::on_indexed(row, noted, atproto::tid{800}, 1);
    EXPECT_EQ(row.first_rev, atproto::tid{900}) << noted.epoch;
    EXPECT_EQ(row.fcsr.epoch, std::max(noted.epoch, 2u));
  }
  storage::repo_row moved;
  moved.first_rev = atproto::tid{900};
  moved.fcsr = {relay_id, 2, 500};
  completeness::on_indexed(moved, {pds_id, 1, 1}, atproto::tid{800}, 1);
  EXPECT_EQ(moved.first_rev, atproto::tid{800});
}

} // namespace weir::tests
