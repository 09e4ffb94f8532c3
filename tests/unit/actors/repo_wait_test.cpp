#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// The directory is slow or down while keys and hosts change
/// (protocol-coverage.md 2.5.6): an old document must not cause the loss of a
/// valid frame.
namespace weir::tests {
namespace {

using testing::IsEmpty;

constexpr auto wait_max = limits::repo_wait_max;

const auto no_directory = fail(ec::unreachable, "no directory");

/// A synced repo whose account has another key than its document.
struct rotating_repo : repo_world {
  rotating_repo() { sync(); }

  bytes signed_by(const test_repo& who) {
    account.put("app.test.note/r" + std::to_string(++written_),
                make_record("r"));
    auto draft = account.draft();
    return draft.encode(draft.sign(who.key()));
  }

  storage::identity_row document(const test_repo& who,
                                 const char* host = pds_origin) const {
    auto out = identity();
    out.signing_key = who.key().public_part().to_multikey();
    out.pds = host;
    return out;
  }

  /// Reads and writes until no work is left.
  void finish() {
    for (int i = 0; i < 1'000 && (in_flight || reads > pages); ++i) {
      if (in_flight)
        write();
      else
        page(limits::repo_coalesced_commits_max,
             static_cast<size_t>(
               std::distance(buffer.upper_bound(page_after), buffer.end()))
               < limits::repo_coalesced_commits_max);
    }
  }

  test_repo next{2};

private:
  int written_ = 0;
};

// protocol-coverage.md 2.5.6; actors.md, A document that may be old: commits
// are kept, finished, and judged by the next document, in order, with no fetch
TEST(repo_wait, commits_by_a_new_key_outlive_a_directory_that_is_away) {
  for (const auto upstream : {relay_id, pds_id}) {
    rotating_repo x;
    std::vector<uint64_t> seqs;
    for (int i = 0; i < 3; ++i)
      seqs.push_back(x.take(x.signed_by(x.next), upstream));
    EXPECT_EQ(x.refreshes, 1u);
    x.pass(wait_max - 1us);
    EXPECT_THAT(x.done, IsEmpty());
    x.pass(1us);
    EXPECT_THAT(x.done, IsEmpty()) << "the row does not say so yet";
    x.finish();
    for (const auto seq : seqs)
      EXPECT_TRUE(x.finished(seq));
    EXPECT_TRUE(x.row->gap);
    EXPECT_TRUE(x.row->identity_due);
    x.learn(no_directory);
    x.pass(limits::lookup_pause_min);
    EXPECT_EQ(x.refreshes, 2u);
    EXPECT_TRUE(x.refused.empty());
    x.learn(x.document(x.next));
    x.finish();
    EXPECT_EQ(x.count_of(repo_counter::commit_applied), 3u);
    EXPECT_EQ(x.count_of(repo_counter::bad_signature), 0u);
    EXPECT_EQ(x.chain->rev, x.account.rev());
    EXPECT_EQ(x.row->status, repo_status::synced);
    EXPECT_FALSE(x.row->gap);
    EXPECT_FALSE(x.row->identity_due);
    EXPECT_THAT(x.wishes, IsEmpty());
    EXPECT_TRUE(x.machine->idle());
  }
}

// architecture.md, Limits: the same holds for more commits than memory holds
TEST(repo_wait, what_memory_does_not_hold_is_kept_on_disk) {
  rotating_repo x;
  constexpr auto count = limits::repo_waiting_commits_max + 20;
  for (size_t i = 0; i < count; ++i)
    x.take(x.signed_by(x.next));
  x.pass(wait_max);
  x.finish();
  EXPECT_EQ(x.done.size(), count);
  EXPECT_GT(x.buffer.size(), limits::repo_waiting_commits_max);
  x.learn(x.document(x.next));
  const auto late = x.take(x.signed_by(x.next));
  x.finish();
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), count + 1);
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_TRUE(x.finished(late));
  EXPECT_THAT(x.buffer, IsEmpty());
  EXPECT_FALSE(x.row->gap);
}

// limits::refused_frame_cost: it waited for the document, and its stream is
// charged when that comes. Then a PDS's repo is fetched.
TEST(repo_wait, a_kept_commit_that_turns_out_forged_is_charged) {
  rotating_repo x;
  test_repo stranger{3};
  const auto seq = x.take(x.signed_by(stranger), pds_id);
  x.pass(wait_max);
  x.learn(no_directory);
  x.finish();
  EXPECT_THAT(x.refused, IsEmpty());
  x.pass(limits::lookup_pause_min);
  x.learn(x.identity());
  x.finish();
  EXPECT_EQ(x.refused, std::vector<uint64_t>{seq});
}

// architecture.md I4: the node has no room for kept commits, and a fetch brings
// them
TEST(repo_wait, without_room_what_is_kept_is_dropped_and_fetched) {
  for (const auto count : {size_t{3}, limits::repo_waiting_commits_max + 20}) {
    rotating_repo x;
    for (size_t i = 0; i < count; ++i)
      x.take(x.signed_by(x.next), pds_id);
    EXPECT_EQ(x.machine->wait_bytes(), waiting_bytes{});
    x.pass(wait_max);
    x.learn(no_directory);
    x.finish();
    EXPECT_EQ(x.machine->wait_from(), pds_id);
    EXPECT_EQ(x.machine->wait_bytes().memory, x.machine->held_bytes());
    EXPECT_EQ(x.machine->wait_bytes().disk > 0, count > 3);
    x.no_room();
    x.finish();
    EXPECT_EQ(x.machine->wait_bytes(), waiting_bytes{});
    EXPECT_THAT(x.buffer, IsEmpty());
    EXPECT_EQ(x.done.size(), count);
    EXPECT_EQ(x.row->status, repo_status::desync);
    EXPECT_TRUE(x.row->gap);
    EXPECT_TRUE(x.row->identity_due);
    EXPECT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.count_of(repo_counter::buffer_overflow), 1u);
    x.pass(limits::lookup_pause_min);
    x.learn(x.document(x.next));
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::desync) << "until it is fetched";
  }
}

// limits::document_wait_check_interval: each event checks whether there is room
TEST(repo_wait, a_repo_that_keeps_commits_is_looked_at_now_and_then) {
  rotating_repo x;
  x.take(x.signed_by(x.next));
  x.pass(wait_max);
  x.settle();
  for (int i = 0; i < 3; ++i) { // The directory does not answer at all.
    ASSERT_TRUE(x.timer);
    EXPECT_EQ(*x.timer, x.now.steady + limits::document_wait_check_interval);
    x.pass(limits::document_wait_check_interval);
  }
}

TEST(repo_wait, want_of_room_is_nothing_to_a_repo_that_keeps_nothing) {
  rotating_repo x;
  x.clear();
  x.no_room();
  EXPECT_FALSE(x.in_flight);
  EXPECT_THAT(x.wishes, IsEmpty());
}

// protocol-coverage.md 2.5.6: the document has come and has the same key
TEST(repo_wait, forged_commits_are_refused_without_a_fetch) {
  rotating_repo x;
  test_repo stranger{3};
  const auto honest = x.account;
  for (int i = 0; i < 3; ++i)
    x.take(x.signed_by(stranger));
  x.pass(wait_max);
  x.learn(no_directory);
  x.finish();
  EXPECT_EQ(x.done.size(), 3u);
  x.pass(limits::lookup_pause_min);
  x.learn(x.identity());
  for (int i = 0; i < 3; ++i)
    x.pass(0us);
  x.finish();
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 3u);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
  EXPECT_THAT(x.wishes, IsEmpty());
  x.account = honest;
  x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
}

// hostile-inputs.md 2.1.38: a stranger's frames about it delay no valid commit
TEST(repo_wait, true_commits_do_not_wait_behind_forged_ones) {
  rotating_repo x;
  test_repo stranger{3};
  const auto honest = x.account;
  x.take(x.signed_by(stranger));
  x.account = honest;
  x.pass(wait_max);
  x.learn(no_directory);
  x.settle();
  const auto seq = x.take(x.make_commit());
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_TRUE(x.row->gap);
  x.pass(limits::lookup_pause_min);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// protocol-coverage.md 2.5.6: it was signed by a key that the account does not
// have any more
TEST(repo_wait, a_commit_by_the_old_key_that_overtook_is_fetched_over) {
  rotating_repo x;
  const auto before = x.account;
  x.take(x.signed_by(x.next));
  x.pass(wait_max);
  x.account = before;
  x.take(x.make_commit());
  x.settle();
  x.learn(x.document(x.next));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// architecture.md I4: after a kill the next life looks up and fetches
TEST(repo_wait, a_restart_while_commits_are_kept_leads_to_a_fetch) {
  rotating_repo x;
  for (size_t i = 0; i <= limits::repo_waiting_commits_max; ++i)
    x.take(x.signed_by(x.next));
  x.pass(wait_max);
  x.finish();
  EXPECT_FALSE(x.buffer.empty());
  x.clear();
  x.restart();
  x.settle();
  EXPECT_THAT(x.buffer, IsEmpty());
  EXPECT_EQ(x.row->status, repo_status::desync);
  ASSERT_EQ(x.wishes.size(), 1u);
  x.learn(x.identity()); // The stored document.
  EXPECT_EQ(x.refreshes, 1u);
  x.begin(2);
  EXPECT_THAT(x.job_ends, testing::ElementsAre(ec::cancelled))
    << "not by an old document";
  x.clear();
  x.learn(x.document(x.next, other_origin));
  EXPECT_EQ(x.wishes.size(), 1u);
  x.settle();
  x.begin(3);
  ASSERT_EQ(x.orders.size(), 1u);
  EXPECT_EQ(x.orders[0].pds, other_origin);
}

// architecture.md, When memory runs short: as after a crash, a repo in doubt
// gives up its memory
TEST(repo_wait, a_repo_in_doubt_sleeps_only_when_memory_is_short) {
  rotating_repo x;
  x.take(x.signed_by(x.next));
  x.pass(wait_max);
  EXPECT_FALSE(x.machine->idle(true)) << "nothing is durable";
  x.learn(no_directory);
  x.settle();
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true));
}

// protocol-coverage.md 2.5.6: refused because the directory did not have the
// key yet
TEST(repo_wait, a_key_that_changes_after_a_refusal_leads_to_a_fetch) {
  rotating_repo x;
  x.take(x.signed_by(x.next));
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 1u);
  EXPECT_EQ(x.row->status, repo_status::synced);
  x.identity_event();
  x.learn(x.document(x.next));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// protocol-coverage.md 2.5.6: a directory that is behind answers with an old
// document
TEST(repo_wait, a_refusal_by_an_old_document_is_looked_at_again) {
  rotating_repo x;
  x.take(x.signed_by(x.next));
  ASSERT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 1u);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.machine->idle());
  x.pass(limits::second_look_pause);
  ASSERT_EQ(x.refreshes, 2u);
  x.learn(x.identity());
  x.pass(2 * limits::second_look_pause);
  ASSERT_EQ(x.refreshes, 3u);
  x.learn(x.document(x.next));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync) << "it was a true one";
}

// protocol-coverage.md 2.1.2, 4.6: the same for a host
TEST(repo_wait, a_host_that_changes_after_a_refusal_leads_to_a_fetch) {
  rotating_repo x;
  x.take(x.make_commit(), other_pds_id);
  x.learn(x.identity());
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), 1u);
  x.identity_event(other_pds_id);
  x.learn(x.document(x.account, other_origin));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// A key that changes without any refused frame causes no fetch
TEST(repo_wait, a_rotation_that_is_known_in_time_needs_no_fetch) {
  rotating_repo x;
  x.identity_event();
  x.learn(x.document(x.next));
  x.take(x.signed_by(x.next));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// protocol-coverage.md 2.1.2, 4.6: a migration between two followed hosts while
// the directory is down
TEST(repo_wait, a_migration_outlives_a_directory_that_is_away) {
  rotating_repo x;
  x.identity_event(other_pds_id);
  x.account_event(true, {}, other_pds_id);
  x.learn(no_directory);
  for (int i = 0; i < 3; ++i)
    x.take(x.make_commit(), other_pds_id);
  x.account_event(false, "deactivated", pds_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), 0u);
  EXPECT_EQ(x.done.size(), 6u);
  x.pass(limits::lookup_pause_min);
  x.learn(x.document(x.account, other_origin));
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.row->pds, other_origin);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 3u);
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
}

// protocol-coverage.md 4.1: it has not moved, and its host's statement counts
TEST(repo_wait, the_hosts_own_word_is_believed_when_the_document_is_there) {
  rotating_repo x;
  x.identity_event(pds_id);
  x.learn(no_directory);
  x.account_event(false, "deactivated", pds_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  x.pass(limits::lookup_pause_min);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// Messages between actors: the answer is older than the question
TEST(repo_wait, an_answer_to_an_older_question_ends_no_doubt) {
  rotating_repo x;
  x.take(x.signed_by(x.next));
  x.pass(wait_max);
  x.settle();
  x.learn(x.identity(), false, {}, false); // A newer document will follow.
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 0u);
  x.learn(x.document(x.next));
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
}

} // namespace
} // namespace weir::tests
