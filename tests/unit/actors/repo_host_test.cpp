#include "actors/repo/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::IsEmpty;

constexpr auto burst = limits::refresh_burst_max;

storage::identity_row at_host(const repo_world& x, const char* origin) {
  auto out = x.identity();
  out.pds = origin;
  return out;
}

// -- the host rule (protocol-coverage.md 2.1.2) -------------------------------

// protocol-coverage.md 2.1.2
// protocol-coverage.md 3.1
TEST(repo_hosts, frames_of_the_current_host_count) {
  repo_world x;
  x.sync();
  x.take(x.make_commit(), pds_id);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  x.account_event(false, "deactivated", pds_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
  EXPECT_EQ(x.refreshes, 0u);
}

// protocol-coverage.md 2.1.2: one refresh, and no more
TEST(repo_hosts, a_foreign_host_is_asked_about_once_and_then_dropped) {
  repo_world x;
  x.sync();
  const auto seq = x.take(x.make_commit(), other_pds_id);
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_FALSE(x.finished(seq));
  x.learn(x.identity());
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), 1u);
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_FALSE(x.finished(seq)) << "the row does not say so yet";
  x.settle();
  EXPECT_TRUE(x.finished(seq));
}

// architecture.md, Health: the document's host is reported; accounts that moved
// count against no host
TEST(repo_hosts, health_is_told_of_commits_of_another_host) {
  repo_world x;
  x.sync();
  x.take(x.make_commit(), other_pds_id);
  EXPECT_THAT(x.other_hosts, IsEmpty()) << "a document is awaited";
  x.learn(x.identity());
  EXPECT_THAT(x.other_hosts, testing::ElementsAre(x.identity().pds));
  x.account_event(false, "deactivated", other_pds_id);
  x.learn(x.identity());
  EXPECT_EQ(x.other_hosts.size(), 1u) << "that is no commit";
  x.take(x.make_commit(), pds_id);
  EXPECT_EQ(x.other_hosts.size(), 1u);
}

// limits::refused_frame_cost: a host is charged for each check of frames about
// foreign accounts, except while the account's host is not known
// protocol-coverage.md 2.5.9
TEST(repo_hosts, a_foreign_host_pays_for_its_frames) {
  repo_world x;
  x.sync();
  const auto commit = x.take(x.make_commit(), other_pds_id);
  x.learn(x.identity());
  EXPECT_EQ(x.refused, std::vector<uint64_t>{commit});
  x.account_event(false, "deactivated", other_pds_id);
  EXPECT_EQ(x.refused.size(), 1u) << "a document is awaited";
  x.learn(x.identity());
  EXPECT_EQ(x.refused.size(), 2u);
  x.take(x.make_commit(), other_pds_id);
  x.learn(fail(ec::unreachable, "no directory"));
  x.settle();
  EXPECT_EQ(x.refused.size(), 2u) << "it may be its host by now";
}

// It is refused because of its size, before any look-up.
TEST(repo_hosts, an_account_frame_that_is_too_long_is_malformed) {
  repo_world x;
  x.sync();
  x.account_event(false, std::string(limits::notice_frame_bytes_max, 'x'),
                  other_pds_id);
  EXPECT_EQ(x.count_of(repo_counter::bad_shape), 1u);
  EXPECT_EQ(x.refused.size(), 1u);
  EXPECT_EQ(x.refreshes, 0u);
}

// protocol-coverage.md 2.1.2, 4.1: its statement about the account does not
// count either
TEST(repo_hosts, a_former_host_cannot_deactivate_the_account) {
  repo_world x;
  x.sync();
  x.account_event(false, "deactivated", other_pds_id);
  x.learn(x.identity());
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), 1u);
  EXPECT_EQ(x.machine->row().account, account_status::active);
}

// protocol-coverage.md 4: the refresh shows that the account is where the frame
// came from
TEST(repo_hosts, a_frame_of_the_new_host_counts_once_the_document_says_so) {
  repo_world x;
  x.sync();
  x.take(x.make_commit(), other_pds_id);
  x.learn(at_host(x, other_origin));
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  x.settle();
  EXPECT_EQ(x.row->pds, other_origin);
  x.take(x.make_commit(), pds_id); // The old host continues.
  x.learn(at_host(x, other_origin));
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), 1u);
}

// protocol-coverage.md 4.6, migration: #identity at the new host, deactivated
// at the old one
TEST(repo_hosts, after_an_identity_event_the_old_host_waits_for_the_document) {
  repo_world x;
  x.sync();
  x.identity_event(other_pds_id);
  x.account_event(false, "deactivated", pds_id);
  EXPECT_EQ(x.machine->row().account, account_status::active);
  x.learn(at_host(x, other_origin));
  EXPECT_EQ(x.refreshes, 2u); // The old host's frame raised a doubt.
  x.learn(at_host(x, other_origin));
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), 1u);
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.row->pds, other_origin);
}

// testing.md, Memory: `limits::repo_wait_max`, and not longer
TEST(repo_hosts, a_frame_waits_for_the_document_for_the_bound_only) {
  repo_world x;
  x.sync();
  x.identity_event(pds_id);
  const auto seq = x.take(x.make_commit(), pds_id);
  x.pass(limits::repo_wait_max - 1us);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 0u);
  x.pass(1us);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  x.settle();
  EXPECT_TRUE(x.finished(seq));
}

// protocol-coverage.md 2.1.2: through a relay the host is not known
TEST(repo_hosts, a_relay_is_believed_and_its_frames_do_not_wait) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  x.account_event(false, "takendown", relay_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
}

// hostile-inputs.md 2.1.33: foreign frames cannot refresh without end
// protocol-coverage.md 2.5.9
TEST(repo_hosts, foreign_frames_are_dropped_at_once_when_refreshes_are_spent) {
  repo_world x;
  x.sync();
  for (size_t i = 0; i < burst; ++i) {
    x.take(x.make_commit(), other_pds_id);
    x.learn(x.identity());
  }
  EXPECT_EQ(x.refreshes, burst);
  const auto seq = x.take(x.make_commit(), other_pds_id);
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.refreshes, burst);
  EXPECT_EQ(x.count_of(repo_counter::wrong_host), burst + 1);
  EXPECT_TRUE(x.row->gap) << "no document is newer than that frame";
  x.pass(x.settings->refresh_min);
  EXPECT_EQ(x.refreshes, burst + 1);
  x.learn(x.identity());
  x.settle();
  EXPECT_FALSE(x.row->gap);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// protocol-coverage.md 4: a failed refresh keeps the known document
TEST(repo_hosts, when_the_refresh_fails_the_known_document_decides) {
  repo_world x;
  x.sync();
  x.identity_event(pds_id);
  x.take(x.make_commit(), pds_id);
  x.learn(fail(ec::unreachable, "no directory"));
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
}

// -- an identity that does not come -------------------------------------------

// actors.md, A document that may be old; protocol-coverage.md 2.5.6: one bad
// repo never stalls its upstream, and nothing is lost
TEST(repo_hosts, without_an_identity_frames_are_kept_after_the_bound) {
  repo_world x;
  x.sync();
  x.restart();
  const auto a = x.take(x.make_commit());
  const auto b = x.take(x.make_commit());
  EXPECT_EQ(x.loads, 1u);
  x.pass(limits::repo_wait_max - 1us);
  EXPECT_THAT(x.done, IsEmpty());
  x.pass(1us);
  EXPECT_EQ(x.count_of(repo_counter::identity_unresolved), 1u);
  EXPECT_THAT(x.done, IsEmpty()) << "the row does not say so yet";
  x.settle();
  EXPECT_TRUE(x.finished(a));
  EXPECT_TRUE(x.finished(b));
  EXPECT_TRUE(x.row->gap);
  x.learn(x.identity()); // The stored identity.
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 0u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 2u);
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_FALSE(x.row->gap);
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 8.2: the identity does not exist
TEST(repo_hosts, without_any_document_the_repo_is_out_of_sync) {
  repo_world x;
  x.sync();
  x.restart();
  const auto seq = x.take(x.make_commit());
  x.learn(fail(ec::not_found, "no such DID"));
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.count_of(repo_counter::identity_unresolved), 1u);
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_TRUE(x.machine->idle());
}

// actors.md, A document that may be old: a frame that is dropped in any case
// does not wait
TEST(repo_hosts, a_repo_that_takes_no_commits_drops_them_without_an_identity) {
  for (const auto upstream : {relay_id, pds_id}) {
    for (const auto status :
         {repo_status::pending, repo_status::error, repo_status::desync}) {
      repo_world x;
      x.sync();
      x.row->status = status;
      x.restart();
      EXPECT_TRUE(x.finished(x.take(x.make_commit(), upstream)));
      EXPECT_TRUE(x.finished(x.take(x.account.sync_frame(3), upstream)));
      EXPECT_EQ(x.count_of(repo_counter::out_of_sync), 2u);
      EXPECT_EQ(x.loads, 0u);
    }
  }
}

// protocol-coverage.md 4.1: through a relay, an account's status needs no key
TEST(repo_hosts, an_account_event_of_a_relay_needs_no_identity) {
  repo_world x;
  x.sync();
  x.restart();
  x.account_event(false, "suspended", relay_id);
  EXPECT_EQ(x.loads, 0u);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::suspended);
}

} // namespace
} // namespace weir::tests
