#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// SYNC-04, SYNC-12: the row with `syncing` is sent before it
TEST(repo_fetch, the_fetch_is_ordered_behind_the_row_that_says_syncing) {
  repo_world x;
  x.add_known();
  x.begin(7);
  ASSERT_TRUE(x.in_flight);
  EXPECT_EQ(x.in_flight->update->row->status, repo_status::syncing);
  EXPECT_EQ(x.in_flight->update->row->resync_id, 7u);
  ASSERT_EQ(x.orders.size(), 1u);
  EXPECT_EQ(x.orders[0].job, 7u);
  EXPECT_EQ(x.orders[0].pds, pds_origin);
  EXPECT_TRUE(x.orders[0].key == x.account.key().public_part());
}

// architecture.md, The stages: chunks have the guard and come one at a time
TEST(repo_fetch, a_chunk_is_one_guarded_update_that_is_not_live) {
  repo_world x;
  x.add_known();
  x.make_commit();
  x.start_fetch(7);
  x.chunk(7, {create_op("a")});
  x.chunk(7, {create_op("b")});
  ASSERT_TRUE(x.in_flight);
  EXPECT_TRUE(x.in_flight->backfill);
  const auto first = x.write();
  EXPECT_EQ(first.resync_id, 7u);
  ASSERT_EQ(first.transactions.size(), 1u);
  EXPECT_FALSE(first.transactions[0].live);
  EXPECT_EQ(first.transactions[0].job, 7u);
  EXPECT_EQ(first.transactions[0].from, storage::provenance::resync);
  EXPECT_EQ(first.transactions[0].ops.at(0).rkey, "a");
  EXPECT_EQ(x.chunks_done, 1u);
  EXPECT_EQ(x.write().transactions.at(0).ops.at(0).rkey, "b");
  EXPECT_EQ(x.chunks_done, 2u);
  EXPECT_EQ(x.row->status, repo_status::syncing);
}

// SYNC-04: it comes after an update in flight
TEST(repo_fetch, the_fetch_is_not_ordered_before_earlier_updates_are_durable) {
  repo_world x;
  x.add_known();
  auto fact = x.identity();
  fact.handle = "alice.test";
  x.learn(fact);
  x.begin(7);
  EXPECT_THAT(x.orders, IsEmpty());
  x.write();
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(x.orders.size(), 1u);
  x.write();
  EXPECT_EQ(x.row->status, repo_status::syncing);
}

// A fetch is compared with the data on disk, so commits that are not there yet
// are not part of it.
TEST(repo_fetch, the_fetch_waits_for_commits_that_its_base_does_not_have) {
  repo_world x;
  x.sync();
  x.take(x.make_commit());
  x.resync();
  x.begin(7);
  EXPECT_THAT(x.orders, IsEmpty());
  x.write();
  ASSERT_EQ(x.orders.size(), 1u);
  EXPECT_EQ(x.orders[0].base->rev, x.account.rev());
}

// SYNC-05, SYNC-08: one batch ends the fetch
TEST(repo_fetch, the_root_follows_the_chunks_and_makes_the_repo_synced) {
  repo_world x;
  x.add_known();
  x.make_commit();
  x.board.put(quiet_upstream(pds_id, pds_origin, 1, 55));
  x.start_fetch(7);
  x.chunk(7, {create_op("a")});
  x.fetched(7);
  EXPECT_THAT(x.job_ends, IsEmpty());
  x.write();
  const auto last = x.write();
  ASSERT_EQ(last.transactions.size(), 1u);
  EXPECT_EQ(last.transactions[0].ops.at(0).scope, storage::commit_scope);
  EXPECT_FALSE(last.transactions[0].live);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->resync_id, 0u);
  EXPECT_EQ(x.row->last_indexed_rev, x.account.rev());
  EXPECT_EQ(x.row->fcsr, (position{pds_id, 1, 55}));
  EXPECT_EQ(x.row->last_sync, x.now.wall.seconds());
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_EQ(x.chain->data, x.account.data());
  EXPECT_THAT(x.job_ends, ElementsAre(ec::none));
  EXPECT_THAT(x.cancelled, IsEmpty());
  EXPECT_TRUE(x.machine->idle());
}

// architecture.md, The stages: records that the copy has are not logged again
// protocol-coverage.md 5.3
TEST(repo_fetch, a_fetch_that_finds_our_own_root_appends_nothing) {
  repo_world x;
  x.make_commit();
  x.sync();
  const auto before = x.log.size();
  x.resync();
  x.run_fetch(8);
  EXPECT_EQ(x.log.size(), before);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// SYNC-06, SYNC-13, SYNC-15
// protocol-coverage.md 5.0
TEST(repo_fetch, back_off_doubles_from_a_minute_to_an_hour) {
  repo_world x;
  x.add_known();
  std::vector<int64_t> waits;
  for (uint64_t job = 1; job <= 8; ++job) {
    x.start_fetch(job);
    x.clear();
    x.fail_fetch(job, fail(ec::unreachable, "no answer"));
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::error);
    EXPECT_EQ(x.row->retry_count, job);
    EXPECT_EQ(x.row->error, "unreachable: no answer");
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.wishes[0].status, repo_status::error);
    EXPECT_EQ(x.wishes[0].not_before, x.row->next_retry);
    EXPECT_THAT(x.job_ends, ElementsAre(ec::unreachable));
    EXPECT_THAT(x.cancelled, ElementsAre(job));
    waits.push_back(x.row->next_retry - x.now.wall.seconds());
  }
  constexpr auto longest = limits::retry_backoff_max_standard.count();
  EXPECT_THAT(waits,
              ElementsAre(60, 120, 240, 480, 960, 1'920, longest, longest));
}

// SYNC-05: success clears the fields of a failure
TEST(repo_fetch, a_fetch_that_succeeds_clears_the_retry_fields) {
  repo_world x;
  x.add_known();
  x.start_fetch(1);
  x.fail_fetch(1, fail(ec::unreachable, "no answer"));
  x.settle();
  x.run_fetch(2);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->error, "");
  EXPECT_EQ(x.row->retry_count, 0u);
  EXPECT_EQ(x.row->next_retry, 0);
}

// SYNC-13: a rate limit does not count as a failure of the repo
TEST(repo_fetch, a_rate_limit_is_no_failure) {
  repo_world x;
  x.add_known();
  x.start_fetch(1);
  x.clear();
  x.fail_fetch(1, fail(ec::rate_limited));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(x.row->retry_count, 0u);
  EXPECT_EQ(x.row->error, "");
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, 0);
}

// architecture.md, When the disk fills up: our full disk is not a failure of
// the repo, but must not lead to endless tries
TEST(repo_fetch, want_of_room_is_no_failure_and_waits) {
  repo_world x;
  x.add_known();
  x.start_fetch(1);
  x.clear();
  x.fail_fetch(1, fail(ec::disk_full));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(x.row->retry_count, 0u);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, x.now.wall.seconds() + 60);
}

// hostile-inputs.md 2.1.8; protocol-coverage.md 8.3: the #identity of a new key
// or host may have been lost, and an unreachable host may be the former one
TEST(repo_fetch, a_copy_by_another_key_or_none_makes_the_identity_anew) {
  for (const auto& [code, anew] :
       {std::pair{ec::verification_failed, 1}, std::pair{ec::not_found, 1},
        std::pair{ec::unreachable, 1}, std::pair{ec::rate_limited, 0}}) {
    repo_world x;
    x.add_known();
    x.start_fetch(1);
    x.clear();
    x.fail_fetch(1, fail(code));
    EXPECT_EQ(static_cast<int>(x.refreshes), anew) << static_cast<int>(code);
    x.settle();
    EXPECT_EQ(x.row->status == repo_status::error, anew == 1);
    x.learn(x.identity());
    x.run_fetch(2);
    EXPECT_EQ(x.row->status, repo_status::synced);
  }
}

// SYNC-13, SYNC-15: a repo that crashes its BACKFILL must not be tried
// endlessly
TEST(repo_fetch, a_fetch_that_crashes_is_a_failure_with_back_off) {
  repo_world x;
  x.add_known();
  x.start_fetch(1);
  x.clear();
  x.fail_fetch(1, fail(ec::cancelled, "the fetch crashed"));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_EQ(x.row->retry_count, 1u);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, x.now.wall.seconds() + 60);
}

// `limits::refetch_burst_max` in `limits::refetch_pause`, and one more
TEST(repo_fetch, a_repo_that_keeps_falling_out_of_sync_rests) {
  const auto pause = limits::refetch_pause;
  for (const auto waited : {0s, pause - 1s, pause}) {
    repo_world x;
    x.sync();
    const auto lose_one = [&x] {
      x.clear();
      x.make_commit(); // This commit is lost.
      x.take(x.make_commit());
      x.settle();
    };
    for (size_t n = 1; n < limits::refetch_burst_max; ++n) {
      lose_one();
      ASSERT_EQ(x.wishes.size(), 1u);
      EXPECT_EQ(x.wishes[0].not_before, 0) << n;
      x.start_fetch(100 + n);
      x.fetched(100 + n);
      x.settle();
      ASSERT_EQ(x.row->status, repo_status::synced);
    }
    x.pass(waited);
    lose_one();
    const auto due
      = waited < pause ? x.now.wall.seconds() + (pause - waited).count() : 0;
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.wishes[0].not_before, due);
    EXPECT_EQ(x.row->next_retry, due);
  }
}

// SYNC-33: a request of an operator does not wait
TEST(repo_fetch, a_resync_that_was_asked_for_does_not_rest) {
  repo_world x;
  x.sync();
  x.resync();
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, 0);
}

// SYNC-10: messages about a job have its number
TEST(repo_fetch, a_permit_that_is_not_wanted_ends_under_its_own_number) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.clear();
  x.begin(8);
  EXPECT_THAT(x.cancelled, ElementsAre(8));
  EXPECT_EQ(x.machine->row().resync_id, 7u);
  x.fetched(7);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// SYNC-13: an indexed repo stays out of sync
TEST(repo_fetch, a_rate_limited_resync_stays_desync) {
  repo_world x;
  x.sync();
  x.resync();
  x.start_fetch(2);
  x.fail_fetch(2, fail(ec::rate_limited));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// SYNC-06: a repo that cannot be fetched at all gets an error with a retry
TEST(repo_fetch, without_a_host_or_key_or_identity_the_repo_backs_off) {
  for (const auto known_before : {true, false}) {
    repo_world x;
    x.add();
    auto fact = x.identity();
    fact.pds.clear();
    if (known_before)
      x.learn(fact);
    x.clear();
    EXPECT_EQ(x.no_host({x.account.did(), fact}).code, ec::not_found);
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.wishes[0].not_before, x.now.wall.seconds() + 60);
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::error);
  }
  repo_world homeless;
  homeless.add();
  auto nowhere = homeless.identity();
  nowhere.pds.clear();
  homeless.learn(nowhere);
  homeless.begin(1, {homeless.account.did(), nowhere});
  homeless.settle();
  EXPECT_THAT(homeless.orders, IsEmpty());
  EXPECT_EQ(homeless.row->status, repo_status::error);
  repo_world keyless;
  keyless.add();
  auto fact = keyless.identity();
  fact.signing_key.clear();
  keyless.learn(fact);
  keyless.begin(1, {keyless.account.did(), fact});
  keyless.settle();
  EXPECT_THAT(keyless.orders, IsEmpty());
  EXPECT_EQ(keyless.row->status, repo_status::error);
  EXPECT_EQ(keyless.row->retry_count, 1u);
}

// SYNC-06: an identity that cannot be resolved
TEST(repo_fetch, a_repo_whose_look_up_fails_backs_off) {
  repo_world x;
  x.add();
  const auto failed = fail(ec::not_found, "no such DID");
  x.learn(failed); // The repo had asked, too. That alone is not a failed fetch.
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(to_string(x.no_host({x.account.did(), failed})),
            "not_found: no such DID");
  x.settle();
  EXPECT_EQ(x.row->retry_count, 1u);
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_EQ(x.row->error, "not_found: no such DID");
  EXPECT_EQ(x.wishes.back().not_before, x.now.wall.seconds() + 60);
}

// SYNC-10: a late permit for a synced repo has no effect
TEST(repo_fetch, a_synced_repo_refuses_a_fetch) {
  repo_world x;
  x.sync();
  EXPECT_EQ(x.no_host({x.account.did(), fail(ec::unreachable)}).code, ec::none);
  x.begin(9);
  EXPECT_THAT(x.job_ends, ElementsAre(ec::cancelled));
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
}

// OPLOG-33: the resync id protects against messages of earlier jobs
TEST(repo_fetch, what_belongs_to_another_job_is_ignored) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.chunk(6, {create_op("a")});
  x.fetched(6);
  x.fail_fetch(6, fail(ec::unreachable));
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.machine->row().status, repo_status::syncing);
}

// SYNC-10: a job that was superseded in the store does not leave its repo
// behind
TEST(repo_fetch, a_stale_chunk_ends_the_job_and_queues_the_repo) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.chunk(7, {create_op("a")});
  x.clear();
  x.write(update_outcome::stale);
  EXPECT_THAT(x.cancelled, ElementsAre(7));
  ASSERT_EQ(x.wishes.size(), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::pending);
}

} // namespace
} // namespace weir::tests
