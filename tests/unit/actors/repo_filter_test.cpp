#include "tests/unit/actors/repo_world.hpp"

/// Which collections of a repo are kept (SYNC-20 to SYNC-23), and which
/// upstream accounts for it (completeness.md, The terms).
namespace weir::tests {
namespace {

using testing::IsEmpty;

repo_settings next_filter(const repo_world& x) {
  auto out = *x.settings;
  out.filter = wire::collection_filter::parse({"app.other.*"}).value();
  ++out.filter_generation;
  return out;
}

// SYNC-29: the collections of one repo override the node's
TEST(repo_filter, a_repo_with_collections_of_its_own_keeps_those) {
  for (const auto woken : {false, true}) {
    repo_world x{{"app.test.*"}};
    x.add({"app.other.*"});
    x.learn(x.identity());
    x.settle();
    x.run_fetch(1);
    ASSERT_EQ(x.orders.size(), 1u);
    EXPECT_TRUE(x.orders[0].filter.matches("app.other.note"));
    EXPECT_FALSE(x.orders[0].filter.matches("app.test.note"));
    if (woken) {
      x.restart();
      x.learn(x.identity());
    }
    x.take(x.make_commit("app.test.note/a"));
    EXPECT_TRUE(x.write().transactions.empty());
    x.take(x.make_commit("app.other.note/b"));
    EXPECT_EQ(x.write().transactions.at(0).ops.size(), 2u);
  }
}

// A second addition changes which collections are kept, and counts for that.
TEST(repo_filter, another_addition_changes_the_collections_of_a_repo) {
  repo_world x{{"app.test.*"}};
  x.sync();
  EXPECT_FALSE(x.add({})) << "it names none";
  EXPECT_TRUE(x.add({"app.other.*"}));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->error, "its collections changed");
  x.run_fetch(2);
  EXPECT_TRUE(x.orders.back().filter.matches("app.other.note"));
  EXPECT_FALSE(x.orders.back().filter.matches("app.test.note"));
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.add({"app.other.*"})) << "it has those";
  EXPECT_FALSE(x.add({}));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  x.restart();
  x.learn(x.identity());
  x.take(x.make_commit("app.other.note/b"));
  EXPECT_EQ(x.write().transactions.at(0).ops.size(), 2u) << "they are durable";
}

// completeness.md, The terms: a copy that was indexed under another filter is
// not complete
TEST(repo_filter, a_repo_indexed_under_another_filter_is_fetched_again) {
  repo_world x;
  x.sync();
  x.set(next_filter(x));
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->error, "the filter changed");
  ASSERT_EQ(x.wishes.size(), 1u);
  x.run_fetch(2);
  EXPECT_TRUE(x.orders.back().filter.matches("app.other.note"));
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->filter_generation, 2u);
  x.restart();
  EXPECT_FALSE(x.in_flight);
}

// completeness.md, The terms: the node's filter changes, the repo's own does
// not
TEST(repo_filter, a_repo_with_its_own_filter_takes_note_and_stays_synced) {
  repo_world x;
  x.add({"app.test.*"});
  x.learn(x.identity());
  x.settle();
  x.run_fetch(1);
  x.clear();
  x.set(next_filter(x));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->filter_generation, 2u);
  EXPECT_THAT(x.wishes, IsEmpty());
}

// -- positions ----------------------------------------------------------------

// CONS-19, CONS-20: the first event after a reset, and only that one
TEST(repo_position, it_is_written_once_per_reset) {
  repo_world x;
  x.sync();
  x.board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
  x.take(x.make_commit(), pds_id);
  EXPECT_TRUE(x.write().row);
  EXPECT_EQ(x.row->fcsr, (position{pds_id, 2, 500}));
  EXPECT_EQ(x.row->first_rev, x.account.rev());
  x.take(x.make_commit(), pds_id);
  EXPECT_FALSE(x.write().row);
}

// CONS-21: also without a reset, and nothing older than the commit makes the
// repo complete
TEST(repo_position, a_commit_too_big_for_the_stream_renews_it_always) {
  repo_world x;
  x.sync();
  x.take(x.make_commit(), pds_id);
  x.settle();
  const auto before = *x.row;
  const auto applied = x.chain->rev;
  x.clear();
  x.account.put("app.test.note/large", make_record("large"));
  auto draft = x.account.draft();
  draft.too_big = true;
  draft.ops.clear();
  x.take(draft.encode(draft.sign(x.account.key())), pds_id);
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::unverifiable), 1u);
  EXPECT_EQ(x.row->first_rev, draft.object.rev);
  EXPECT_EQ(x.row->fcsr, before.fcsr) << "there was no reset";
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->missed_rev, draft.object.rev);
  EXPECT_EQ(x.chain->rev, applied) << "nothing of it was applied";
  ASSERT_EQ(x.wishes.size(), 1u);
  x.run_fetch(2);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->last_indexed_rev, draft.object.rev);
}

// completeness.md, The terms: events of other upstreams are applied and nothing
// more
TEST(repo_position, one_upstream_accounts_for_a_repo) {
  repo_world x;
  x.sync();
  const auto before = x.row->fcsr;
  x.board.put(quiet_upstream(relay_id, "https://relay.test", 2, 500));
  x.take(x.make_commit(), relay_id);
  EXPECT_FALSE(x.write().row);
  EXPECT_EQ(x.chain->rev, x.account.rev());
  x.account.draft(); // Only the rev changes.
  x.take(x.account.sync_frame(2), relay_id);
  EXPECT_FALSE(x.write().row);
  x.list(x.account.rev(), account_status::active, relay_id);
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.row->fcsr, before);
  x.list(x.account.rev(), account_status::active, pds_id);
  x.settle();
  EXPECT_EQ(x.row->fcsr, (position{pds_id, 1, 1}));
}

// CONS-20; completeness.md, The terms: if a relay is always faster, a host must
// still prove the copy by its own stream
TEST(repo_position, what_another_upstream_brought_first_is_proved_by_its_own) {
  repo_world x;
  x.sync();
  x.board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
  x.board.put(quiet_upstream(relay_id, "https://relay.test", 2, 500));
  const auto commit = x.make_commit();
  x.take(commit, relay_id);
  EXPECT_FALSE(x.write().row);
  x.take(commit, pds_id);
  EXPECT_TRUE(x.write().row);
  EXPECT_EQ(x.row->fcsr, (position{pds_id, 2, 500}));
  EXPECT_EQ(x.row->first_rev, x.account.rev());
  EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
}

// CONS-20: a frame without the account's signature proves nothing
TEST(repo_position, a_forged_word_of_our_rev_proves_nothing) {
  repo_world x;
  x.sync();
  const auto before = x.row->fcsr;
  x.board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
  x.board.put(quiet_upstream(relay_id, "https://relay.test", 2, 500));
  x.account.put("app.test.note/here", make_record("here"));
  const auto draft = x.account.draft();
  x.take(draft.encode(draft.sign(x.account.key())), relay_id);
  x.settle();
  EXPECT_EQ(x.chain->rev, draft.object.rev);
  x.take(draft.encode(draft.sign(test_repo{99}.key())), pds_id);
  EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.row->fcsr, before);
}

// completeness.md, The terms: the relay accounts for hosts without a stream
TEST(repo_position, the_relay_accounts_for_a_host_without_a_stream) {
  repo_world x;
  x.sync();
  auto fact = x.identity();
  fact.pds = "https://elsewhere.test";
  x.learn(fact);
  x.settle();
  x.board.put(quiet_upstream(relay_id, "https://relay.test", 2, 500));
  x.take(x.make_commit(), relay_id);
  EXPECT_TRUE(x.write().row);
  EXPECT_EQ(x.row->fcsr, (position{relay_id, 2, 500}));
}

} // namespace
} // namespace weir::tests
