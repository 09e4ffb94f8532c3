#include "tests/unit/actors/repo_world.hpp"

/// How a repo handles #sync (protocol-coverage.md 3).
namespace weir::tests {
namespace {

// protocol-coverage.md 3.2, 3.6
TEST(repo_sync_events, our_own_state_is_a_no_op_and_an_older_one_a_replay) {
  repo_world x;
  x.make_commit();
  const auto old = x.account.sync_frame(1);
  x.make_commit();
  x.sync();
  EXPECT_TRUE(x.finished(x.take(x.account.sync_frame(2))));
  EXPECT_EQ(x.count_of(repo_counter::sync_noop), 1u);
  EXPECT_TRUE(x.finished(x.take(old)));
  EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
  EXPECT_FALSE(x.in_flight);
}

// protocol-coverage.md 3.3: a `$commit` operation of kind sync
// protocol-coverage.md 11.4
TEST(repo_sync_events, a_new_rev_of_the_same_root_is_logged_without_a_fetch) {
  repo_world x;
  x.make_commit();
  x.sync();
  x.account.draft(); // Only the rev changes.
  const auto seq = x.take(x.account.sync_frame(2));
  EXPECT_EQ(x.count_of(repo_counter::sync_applied), 1u);
  EXPECT_FALSE(x.finished(seq));
  const auto update = x.write();
  ASSERT_EQ(update.transactions.size(), 1u);
  EXPECT_EQ(update.transactions[0].ops.at(0).action,
            atproto::op_action::update);
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_TRUE(x.finished(seq));
  x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
}

// protocol-coverage.md 3.4
TEST(repo_sync_events, another_root_desyncs) {
  repo_world x;
  x.sync();
  x.make_commit();
  x.take(x.account.sync_frame(2));
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// protocol-coverage.md 3.2: a fork, or a host that was restored from a backup
TEST(repo_sync_events, another_root_at_our_own_rev_desyncs) {
  repo_world x;
  x.make_commit();
  x.sync();
  const auto ours = x.account.rev();
  auto other = x.account;
  other.put("app.test.note/other", make_record("other"));
  auto draft = other.draft();
  atproto::commit_object object = draft.object;
  object.rev = ours;
  const auto block = atproto::encode_signed_commit(object, other.key());
  const auto car = make_car(atproto::cid::of_dag_cbor(block),
                            {{atproto::cid::of_dag_cbor(block), block}});
  atproto::sync_event event;
  event.seq = 2;
  event.repo = x.account.did();
  event.time = "2026-01-01T00:00:00Z";
  event.rev = ours;
  event.blocks = car;
  x.take(atproto::encode_frame(event));
  EXPECT_EQ(x.count_of(repo_counter::sync_noop), 0u);
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// protocol-coverage.md 3.5: a real host sends this after every migration
TEST(repo_sync_events, a_sync_by_a_past_key_is_refused_and_never_a_desync) {
  repo_world x;
  x.sync();
  test_repo next{2};
  x.rotate_key(next);
  x.settle();
  x.make_commit();
  const auto seq = x.take(x.account.sync_frame(2));
  EXPECT_EQ(x.refreshes, 1u);
  x.rotate_key(next);
  EXPECT_EQ(x.count_of(repo_counter::sync_refused), 1u);
  EXPECT_FALSE(x.finished(seq)) << "the row does not say so yet";
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
}

} // namespace
} // namespace weir::tests
