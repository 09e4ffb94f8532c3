#include "actors/repo/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// What a life must know of the one before, which may have been killed
/// (architecture.md I4).
namespace weir::tests {
namespace {

using testing::IsEmpty;

/// A repo that fell out of sync because of a signed event.
struct broken_repo : repo_world {
  broken_repo() {
    sync();
    before = root();
    make_commit(); // This commit is lost.
    seq = take(make_commit());
    missed = account.rev();
  }

  /// @returns the rev that a fetch of the next life must bring
  atproto::tid least_after_restart(uint64_t job) {
    restart();
    begin(job);
    settle();
    return orders.empty() ? atproto::tid{} : orders.back().least;
  }

  std::optional<atproto::verified_root> before;
  uint64_t seq = 0;
  atproto::tid missed;
};

// protocol-coverage.md 5.3: a kill between the event and its fetch
TEST(repo_restart, a_fetch_has_to_bring_the_event_of_an_earlier_life) {
  broken_repo x;
  x.write();
  ASSERT_TRUE(x.finished(x.seq));
  EXPECT_EQ(x.least_after_restart(7), x.missed);
  x.fail_fetch(7, fail(ec::chain_broken, "the host served an older rev"));
  x.settle();
  EXPECT_EQ(x.least_after_restart(8), x.missed) << "and a fetch that failed";
  x.fetched(8);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->missed_rev, atproto::tid{});
}

// Downloads may be behind a stream: the fetch must contain events that came
// while it was awaited, or it is repeated. Events of other hosts do not count,
// because otherwise a host could make the fetches of all others fail.
TEST(repo_restart, a_fetch_has_to_bring_what_was_dropped_before_it) {
  for (const auto from : {pds_id, relay_id, other_pds_id}) {
    repo_world x;
    x.sync();
    x.row->status = repo_status::desync;
    x.restart();
    x.take(x.make_commit(), from);
    ASSERT_EQ(x.count_of(repo_counter::out_of_sync), 1u);
    x.begin(7);
    x.settle();
    ASSERT_EQ(x.orders.size(), 1u);
    EXPECT_EQ(x.orders[0].least == x.account.rev(), from == pds_id);
  }
}

// One batch has both, so the rev is stored before the frame is finished.
TEST(repo_restart, the_frame_and_its_rev_are_one_batch) {
  broken_repo x;
  ASSERT_TRUE(x.in_flight);
  ASSERT_TRUE(x.in_flight->update->row);
  EXPECT_EQ(x.in_flight->update->row->missed_rev, x.missed);
  EXPECT_EQ(x.in_flight->marks.size(), 1u);
}

// A commit with an invalid proof was signed nevertheless.
TEST(repo_restart, a_commit_whose_proof_does_not_hold_is_to_be_brought) {
  repo_world x;
  x.sync();
  x.account.put("app.test.note/w", make_record("w"));
  auto draft = x.account.draft();
  draft.ops.front().path = "app.test.note/v";
  x.take(draft.encode(draft.sign(x.account.key())));
  x.settle();
  ASSERT_EQ(x.count_of(repo_counter::bad_proof), 1u);
  EXPECT_EQ(x.row->missed_rev, x.account.rev());
}

// limits::listed_rev_tries_max: the count survives a restart
TEST(repo_restart, a_listed_rev_is_to_be_brought_as_often_as_without_one) {
  repo_world x;
  x.sync();
  x.make_commit();
  x.list(x.account.rev(), account_status::active, pds_id);
  x.pass(x.settings->listing_grace);
  x.settle();
  ASSERT_EQ(x.row->status, repo_status::desync);
  for (uint32_t i = 0; i <= limits::listed_rev_tries_max; ++i) {
    x.restart();
    x.begin(10 + i);
    x.settle();
    EXPECT_EQ(x.orders.back().least.defined(), i < limits::listed_rev_tries_max)
      << i;
    x.fail_fetch(10 + i, fail(ec::chain_broken));
    x.settle();
  }
}

TEST(repo_restart, what_was_to_be_brought_goes_with_the_account) {
  broken_repo x;
  x.settle();
  x.account_event(false, "deleted");
  x.settle();
  EXPECT_EQ(x.row->missed_rev, atproto::tid{});
}

// -- refused events -----------------------------------------------------------

/// A repo with an event that was refused because the directory was behind and
/// gave an old key.
struct refused_events : repo_world {
  explicit refused_events(uint32_t upstream = relay_id) {
    sync();
    account.put("app.test.note/r", make_record("r"));
    auto draft = account.draft();
    seq = take(draft.encode(draft.sign(next.key())), upstream);
    learn(identity());
  }

  storage::identity_row rotated() const {
    auto out = identity();
    out.signing_key = next.key().public_part().to_multikey();
    return out;
  }

  test_repo next{2};
  uint64_t seq = 0;
};

// protocol-coverage.md 2.5.6; actors.md, A document that may be old: the
// look-ups of the last life continue
TEST(repo_restart, a_document_that_refused_events_is_looked_at_again) {
  refused_events x;
  EXPECT_FALSE(x.finished(x.seq)) << "the row does not say so yet";
  x.settle();
  EXPECT_TRUE(x.finished(x.seq));
  EXPECT_EQ(x.row->status, repo_status::synced);
  x.clear();
  x.restart();
  EXPECT_EQ(x.loads, 1u);
  x.learn(x.identity()); // The stored document.
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity()); // The directory is still behind.
  for (int i = 0; i < 20 && x.refreshes < 2; ++i)
    x.pass(limits::second_look_pause);
  ASSERT_EQ(x.refreshes, 2u);
  x.learn(x.rotated());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.row->refused_by, 0u);
}

// The new document was stored, but its REPO had not received it.
TEST(repo_restart, a_key_that_changed_between_two_lives_is_a_change) {
  for (const auto changed : {false, true}) {
    refused_events x;
    x.settle();
    x.clear();
    x.restart();
    x.learn(changed ? x.rotated() : x.identity());
    x.settle();
    EXPECT_EQ(x.row->status == repo_status::desync, changed);
  }
}

// protocol-coverage.md 2.1.2: the same for a host
TEST(repo_restart, a_host_that_changed_after_a_restart_is_a_change) {
  repo_world x;
  x.sync();
  x.take(x.make_commit(), other_pds_id);
  x.learn(x.identity());
  x.settle();
  ASSERT_EQ(x.count_of(repo_counter::wrong_host), 1u);
  x.restart();
  auto moved = x.identity();
  moved.pds = other_origin;
  x.learn(moved);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// No event of the repo was refused
TEST(repo_restart, another_key_alone_is_no_reason_for_a_fetch) {
  repo_world x;
  x.sync();
  x.restart();
  x.identity_event();
  test_repo next{2};
  x.rotate_key(next);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_THAT(x.wishes, IsEmpty());
}

// limits::second_looks_max: then the answer counts, also in the next life
TEST(repo_restart, refused_events_are_not_looked_up_without_end) {
  refused_events x;
  auto pause = limits::second_look_pause;
  for (uint32_t i = 0; i < limits::second_looks_max; ++i, pause *= 2) {
    EXPECT_TRUE(x.row->identity_due || x.in_flight) << i;
    x.settle();
    x.pass(pause);
    x.learn(x.identity());
  }
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
  EXPECT_NE(x.row->refused_by, 0u) << "another key is still a reason";
  EXPECT_TRUE(x.machine->idle());
}

// The document may be the former one: what it refused stays refused.
TEST(repo_restart, a_fetch_by_the_document_that_refused_them_settles_nothing) {
  repo_world x;
  x.sync();
  x.take(x.make_commit(), other_pds_id);
  x.learn(x.identity());
  x.settle();
  x.resync();
  x.settle();
  x.run_fetch(7);
  ASSERT_EQ(x.row->status, repo_status::synced);
  EXPECT_NE(x.row->refused_by, 0u);
  auto moved = x.identity();
  moved.pds = other_origin;
  for (int i = 0; i < 20 && x.refreshes < 2; ++i)
    x.pass(limits::second_look_pause);
  x.learn(moved);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// -- RepoNotFound -------------------------------------------------------------

/// A repo whose fetch its host answered with RepoNotFound.
struct lost_repo : repo_world {
  lost_repo() {
    sync();
    make_commit(); // This commit is lost.
    take(make_commit());
    start_fetch(7);
    clear();
    fail_fetch(7, fail(ec::account_inactive, "RepoNotFound"),
               account_status::deleted);
    settle();
    first = now.wall.seconds();
  }

  int64_t first = 0;
};

// protocol-coverage.md 4.5: the second one counts some time after this one
TEST(repo_restart, the_time_of_the_first_repo_not_found_is_kept) {
  lost_repo x;
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_EQ(x.row->not_found_at, x.first);
  x.pass(1h);
  x.start_fetch(8);
  x.fail_fetch(8, fail(ec::account_inactive, "RepoNotFound"),
               account_status::deleted);
  x.settle();
  EXPECT_EQ(x.row->not_found_at, x.first) << "not that of the last one";
}

TEST(repo_restart, a_question_that_was_answered_so_is_kept_as_well) {
  repo_world x;
  x.sync();
  x.answer_once(other_origin);
  x.settle();
  EXPECT_EQ(x.row->not_found_at, 0) << "that is not its host";
  x.answer_once(pds_origin);
  x.settle();
  EXPECT_EQ(x.row->not_found_at, x.now.wall.seconds());
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// Any other answer of its host ends it, and so does another host.
TEST(repo_restart, what_its_host_says_instead_ends_it) {
  lost_repo found;
  found.answer(account_status::active);
  found.settle();
  EXPECT_EQ(found.row->not_found_at, 0);
  lost_repo fetched;
  fetched.run_fetch(8);
  EXPECT_EQ(fetched.row->not_found_at, 0);
  lost_repo gone;
  gone.answer(account_status::deleted);
  gone.settle();
  EXPECT_EQ(gone.row->account, account_status::deleted);
  EXPECT_EQ(gone.row->not_found_at, 0);
  lost_repo moved;
  auto fact = moved.identity();
  fact.pds = other_origin;
  moved.identity_event();
  moved.learn(fact);
  moved.settle();
  EXPECT_EQ(moved.row->not_found_at, 0);
}

} // namespace
} // namespace weir::tests
