#include "actors/repo/limits.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/buffering_repo.hpp"

namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto bytes_max = limits::repo_waiting_bytes_max;
constexpr auto disk_max = limits::repo_disk_buffer_bytes_max;

// SYNC-26; ADR 2, 2: after a crash the fetch contains the commit
TEST(repo_buffer, a_commit_during_the_fetch_is_kept_and_finished_at_once) {
  buffering x;
  const auto seq = x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::buffered), 1u);
  EXPECT_TRUE(x.finished(seq));
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.machine->waiting(), 1u);
}

// architecture.md I4: but not before `syncing` is on disk
TEST(repo_buffer, a_kept_commit_is_not_finished_before_syncing_is_durable) {
  repo_world x;
  x.add_known();
  x.begin(7);
  const auto seq = x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::buffered), 1u);
  EXPECT_FALSE(x.finished(seq));
  x.write();
  EXPECT_TRUE(x.finished(seq));
}

// SYNC-26: they are applied in order, and the last one makes the repo synced
// protocol-coverage.md 5.6
TEST(repo_buffer, kept_commits_follow_the_root_in_order_and_end_the_fetch) {
  buffering x;
  x.write_commits(3);
  x.answered();
  const auto update = x.write();
  ASSERT_EQ(update.transactions.size(), 4u);
  EXPECT_EQ(update.transactions[0].from, storage::provenance::resync);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(update.transactions[i].from, storage::provenance::buffer);
    EXPECT_TRUE(update.transactions[i].live);
    EXPECT_GT(update.transactions[i].rev, update.transactions[i - 1].rev);
  }
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->last_indexed_rev, x.answer->rev);
  EXPECT_EQ(x.chain->data, x.account.data());
  EXPECT_THAT(x.job_ends, ElementsAre(ec::none));
}

// SYNC-26: commits that the fetch contains are dropped
TEST(repo_buffer, kept_commits_up_to_the_fetched_rev_are_replays) {
  buffering x;
  x.write_commits(2);
  x.answer = x.root();
  x.take(x.account.sync_frame(1));
  x.write_commits(1);
  x.answered();
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::replayed), 2u);
  EXPECT_EQ(x.count_of(repo_counter::sync_noop), 1u);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// SYNC-26: the first kept commit must chain
TEST(repo_buffer, a_kept_commit_that_does_not_chain_desyncs_again) {
  buffering x;
  x.make_commit(); // This commit is lost.
  x.write_commits(2);
  x.answered();
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 1u);
  EXPECT_EQ(x.count_of(repo_counter::out_of_sync), 1u);
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_THAT(x.job_ends, ElementsAre(ec::chain_broken));
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.machine->waiting(), 0u);
}

// actors.md, One update of a repo: there are more commits than one update takes
TEST(repo_buffer, a_long_drain_takes_several_updates_and_stays_syncing) {
  buffering x;
  x.write_commits(limits::repo_coalesced_commits_max + 10);
  x.answered();
  x.write();
  EXPECT_EQ(x.row->status, repo_status::syncing);
  const auto late = x.take(x.make_commit());
  EXPECT_FALSE(x.finished(late));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_TRUE(x.finished(late));
}

// architecture.md, Limits: `limits::repo_waiting_commits_max`, and one more
TEST(repo_buffer, one_commit_more_than_memory_holds_moves_all_to_disk) {
  buffering x;
  x.write_commits(buffering::commits_max);
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.machine->waiting(), buffering::commits_max);
  x.write_commits(1);
  ASSERT_TRUE(x.in_flight);
  EXPECT_EQ(x.in_flight->update->buffer_put.size(), buffering::commits_max + 1);
  EXPECT_EQ(x.machine->waiting(), 0u);
}

// architecture.md, Limits: `limits::repo_waiting_bytes_max`, and one more
TEST(repo_buffer, one_byte_more_than_memory_holds_moves_all_to_disk) {
  buffering x;
  const auto small = x.make_commit();
  const auto large = x.frame_of(bytes_max - small.size());
  const auto larger = x.frame_of(bytes_max - small.size() + 1);
  for (const auto over : {false, true}) {
    buffering y;
    y.take(small);
    y.take(over ? larger : large);
    EXPECT_EQ(y.in_flight.has_value(), over);
    EXPECT_EQ(y.machine->waiting(), over ? 0u : 2u);
  }
}

// SYNC-26: first those on disk, then those in memory, then live ones
TEST(repo_buffer, the_buffer_on_disk_is_drained_in_order_page_by_page) {
  buffering x;
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  EXPECT_EQ(x.buffer.size(), buffering::commits_max + 1);
  x.write_commits(5);
  x.answered();
  EXPECT_EQ(x.reads, 1u);
  const auto live = x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 0u);
  EXPECT_FALSE(x.finished(live));
  x.serve_pages();
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 0u);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied),
            buffering::commits_max + 7);
  EXPECT_TRUE(x.finished(live));
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_THAT(x.buffer, IsEmpty());
  EXPECT_TRUE(x.machine->idle());
}

// SYNC-26: a PDS sends both when an account is created
TEST(repo_buffer, a_commit_and_a_sync_of_one_rev_are_both_kept_on_disk) {
  buffering x;
  for (size_t i = 0; i <= buffering::commits_max / 2; ++i) {
    x.write_commits(1);
    x.take(x.account.sync_frame(1));
  }
  x.settle();
  EXPECT_EQ(x.buffer.size(), buffering::commits_max + 1);
  x.answered();
  x.serve_pages();
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 0u);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied),
            buffering::commits_max / 2 + 1);
  EXPECT_EQ(x.count_of(repo_counter::sync_noop),
            buffering::commits_max / 2 + 1);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// architecture.md, Limits: memory holds one page, not the buffer
TEST(repo_buffer, the_next_page_is_read_when_the_last_one_was_taken) {
  buffering x;
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  x.answered();
  x.page(100, false);
  EXPECT_EQ(x.reads, 1u);
  EXPECT_GT(x.machine->waiting(), 0u);
  x.write();
  EXPECT_EQ(x.reads, 1u);
  x.write();
  EXPECT_EQ(x.reads, 2u);
  EXPECT_EQ(x.machine->waiting(), 0u);
}

// ADR 1, 4: readers of the store see only durable data
TEST(repo_buffer, the_buffer_is_not_read_before_it_is_on_disk) {
  buffering x;
  // They are on their way to the disk.
  x.write_commits(buffering::commits_max + 1);
  x.answered();
  EXPECT_EQ(x.reads, 0u);
  x.write();
  EXPECT_EQ(x.reads, 1u);
  x.serve_pages();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// SYNC-26: commits had to wait for a chunk before they were stored
TEST(repo_buffer, puts_behind_another_update_are_waited_for_too) {
  buffering x;
  storage::new_operation op;
  op.scope = "app.test.note";
  op.rkey = "a";
  op.id = atproto::cid::of_dag_cbor(make_record("a"));
  x.chunk(7, {op});
  x.write_commits(buffering::commits_max + 1);
  x.answered();
  x.write(); // The chunk is written; commits and root are now sent together.
  x.take(x.make_commit());
  EXPECT_EQ(x.reads, 0u);
  x.write();
  EXPECT_EQ(x.reads, 1u);
  x.serve_pages();
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// testing.md, Memory: `limits::repo_disk_buffer_bytes_max`, and one more
// protocol-coverage.md 2.1.4
TEST(repo_buffer, a_full_disk_buffer_is_discarded_and_leaves_a_gap) {
  for (const auto over : {false, true}) {
    buffering x;
    const auto frame = x.frame_of(bytes_max);
    const auto last = over ? x.frame_of(bytes_max + 1) : frame;
    for (uint64_t n = 0; n < disk_max / bytes_max - 1; ++n) {
      x.take(frame);
      if (x.in_flight)
        x.write();
    }
    x.take(last);
    x.settle();
    EXPECT_EQ(x.count_of(repo_counter::buffer_overflow), over ? 1u : 0u);
    EXPECT_EQ(x.row->gap, over);
    EXPECT_EQ(x.row->status, over ? repo_status::desync : repo_status::syncing);
    EXPECT_EQ(x.buffer.empty(), over);
    EXPECT_EQ(x.wishes.size(), over ? 1u : 0u);
    EXPECT_EQ(x.cancelled.size(), over ? 1u : 0u);
  }
}

// SYNC-26: the next fetch closes the gap
TEST(repo_buffer, a_fetch_after_the_overflow_closes_the_gap) {
  buffering x;
  x.row->gap = true;
  x.row->status = repo_status::desync;
  x.restart();
  x.learn(x.identity());
  x.settle();
  x.run_fetch(9);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
}

} // namespace
} // namespace weir::tests
