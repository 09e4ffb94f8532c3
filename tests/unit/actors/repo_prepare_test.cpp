#include "actors/repo/limits.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// A fetch during a look-up of a newer document, and the host on whose behalf
/// that is made (protocol-coverage.md 2.5.6; actors.md, Who is looked up next).
namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The hosts of its fetches, and "" for permits that it returned at once.
std::vector<std::string> hosts_of(const repo_world& x) {
  std::vector<std::string> out(x.job_ends.size());
  for (const auto& order : x.orders)
    out.push_back(order.pds);
  return out;
}

/// A repo whose #identity is being looked up.
struct hinted_repo : repo_world {
  hinted_repo() {
    add_known();
    make_commit();
    identity_event();
    settle();
    clear();
  }

  storage::identity_row moved() const {
    auto out = identity();
    out.pds = other_origin;
    return out;
  }
};

TEST(repo_prepare, a_document_that_may_have_changed_delays_no_fetch) {
  hinted_repo x;
  x.begin(1);
  EXPECT_THAT(hosts_of(x), ElementsAre(pds_origin));
}

// protocol-coverage.md 2.5.6: but the copy is fetched again if the document
// changed
TEST(repo_prepare, a_host_that_changes_after_such_a_fetch_leads_to_another) {
  for (const auto during : {false, true}) {
    hinted_repo x;
    x.start_fetch(1);
    if (!during)
      x.fetched(1);
    x.settle();
    x.clear();
    x.learn(x.moved());
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::desync) << during;
    EXPECT_EQ(x.row->pds, other_origin);
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.job_ends.size(), during ? 1u : 0u);
  }
}

TEST(repo_prepare, a_document_that_did_not_change_leads_to_no_other_fetch) {
  hinted_repo x;
  x.run_fetch(1);
  x.clear();
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 2.1.2, 4.6: the statement may come from its former host
TEST(repo_prepare, a_host_is_not_believed_while_another_one_may_be_named) {
  for (const auto moves : {false, true}) {
    hinted_repo x;
    x.start_fetch(1);
    x.fail_fetch(1, fail(ec::account_inactive), account_status::deactivated);
    x.settle();
    EXPECT_EQ(x.row->account, account_status::active);
    x.clear();
    x.learn(moves ? x.moved() : x.identity());
    // This one was requested after the statement.
    x.learn(moves ? x.moved() : x.identity());
    x.settle();
    EXPECT_EQ(x.row->account, moves ? account_status::active
                                    : account_status::deactivated);
    EXPECT_EQ(x.wishes.empty(), !moves);
  }
}

/// Refused commits wait for a newer document, and the repo is to be fetched.
struct doubting_repo : repo_world {
  doubting_repo() {
    sync();
    test_repo stranger{3};
    account.put("app.test.note/a", make_record("a"));
    auto draft = account.draft();
    take(draft.encode(draft.sign(stranger.key())));
    pass(limits::repo_wait_max);
    settle();
    no_room();
    settle();
    clear();
  }

  /// A foreign host's statement raises the doubt again.
  void doubt_again() {
    account_event(false, "deactivated", other_pds_id);
    pass(limits::repo_wait_max);
    settle();
  }
};

// A doubted document decides nothing
TEST(repo_prepare, a_doubted_document_gives_the_permit_to_others) {
  doubting_repo x;
  x.begin(2);
  EXPECT_THAT(hosts_of(x), ElementsAre(""));
  EXPECT_THAT(x.wishes, IsEmpty());
  x.begin(3);
  EXPECT_THAT(hosts_of(x), ElementsAre("", ""));
  x.learn(x.identity());
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, 0);
  x.settle();
  x.begin(4);
  EXPECT_THAT(hosts_of(x), ElementsAre("", "", pds_origin));
}

TEST(repo_prepare, a_repo_that_was_put_off_backs_off_without_a_directory) {
  doubting_repo x;
  x.begin(2);
  x.learn(fail(ec::unreachable, "no directory"));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::error);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, x.now.wall.seconds() + 60);
  x.clear();
  x.begin(3);
  EXPECT_THAT(hosts_of(x), ElementsAre(pds_origin));
}

// Otherwise repeated doubts could stop all fetches of an account
TEST(repo_prepare, a_fetch_is_put_off_once_however_often_it_is_doubted) {
  doubting_repo x;
  x.begin(2);
  x.learn(x.identity());
  x.settle();
  x.doubt_again();
  x.clear();
  x.begin(3);
  EXPECT_THAT(hosts_of(x), ElementsAre(pds_origin));
  x.settle();
  x.fail_fetch(3, fail(ec::unreachable));
  x.settle();
  x.clear();
  x.begin(4);
  EXPECT_THAT(hosts_of(x), ElementsAre("")) << "the next one is";
}

// architecture.md, When memory runs short: its row records all of that
TEST(repo_prepare, a_repo_that_was_put_off_sleeps_when_memory_is_short) {
  doubting_repo x;
  x.begin(2);
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true));
  EXPECT_THAT(x.wishes, IsEmpty());
  x.sleep();
  ASSERT_EQ(x.wishes.size(), 1u) << "nobody else would wake it";
  EXPECT_GE(x.wishes[0].not_before, x.now.wall.seconds() + 60)
    << "it may be put off again";
}

// A repo that was put to sleep before the second answer would not get the
// handle.
TEST(repo_prepare, a_repo_stays_awake_until_its_handle_is_known) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.learn(x.identity(), false);
  x.settle();
  EXPECT_FALSE(x.machine->idle(true));
  x.learn(x.identity());
  x.settle();
  EXPECT_TRUE(x.machine->idle(true));
}

// architecture.md, When memory runs short: otherwise the directory's answers
// would decide how many REPOs are awake
TEST(repo_prepare, a_new_repo_sleeps_when_memory_is_short_and_asks_again) {
  repo_world x;
  ASSERT_TRUE(x.add());
  EXPECT_FALSE(x.machine->idle(true)) << "nothing is durable";
  x.settle();
  EXPECT_EQ(x.asked, 1u);
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true));
  ASSERT_EQ(x.wishes.size(), 1u) << "the queue wakes it";
  x.sleep();
  x.restart();
  EXPECT_EQ(x.asked, 0u) << "it is not its turn";
  x.begin(1);
  EXPECT_EQ(x.asked, 0u) << "the document came with the permit";
  EXPECT_FALSE(x.machine->idle(true)) << "somebody waits for its end";
  EXPECT_THAT(hosts_of(x), ElementsAre(pds_origin));
}

// architecture.md, When memory runs short: a frame that waits for a document
// is dropped then, and the fetch brings what it had
TEST(repo_prepare, a_repo_that_drops_a_frame_when_it_sleeps_is_fetched) {
  repo_world x;
  x.sync();
  test_repo stranger{3};
  x.account.put("app.test.note/a", make_record("a"));
  auto draft = x.account.draft();
  x.take(draft.encode(draft.sign(stranger.key())));
  x.pass(limits::repo_wait_max);
  x.settle();
  x.clear();
  ASSERT_EQ(x.row->status, repo_status::synced);
  ASSERT_TRUE(x.row->gap);
  ASSERT_TRUE(x.machine->idle(true));
  x.sleep();
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before, 0) << "the scan would not find it";
  x.restart();
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

TEST(repo_prepare, a_repo_without_a_fetch_that_was_put_off_just_sleeps) {
  doubting_repo x;
  x.sleep();
  EXPECT_THAT(x.wishes, IsEmpty());
}

// From then on the queue knows its host
TEST(repo_prepare, a_repo_whose_host_becomes_known_wishes_again) {
  repo_world x;
  x.add();
  x.clear();
  x.learn(x.identity());
  EXPECT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.machine->row().pds, pds_origin);
}

// -- what comes with a permit -------------------------------------------------

/// A permit woke the repo.
struct woken_repo : repo_world {
  woken_repo() {
    add_known();
    restart();
    clear();
  }

  identity_answer old() const {
    identity_answer out{account.did(), identity()};
    out.last = out.settled = false;
    return out;
  }
};

TEST(repo_prepare, what_is_to_follow_the_document_of_a_permit_is_asked_for) {
  woken_repo x;
  x.begin(1, x.old());
  EXPECT_THAT(hosts_of(x), ElementsAre(pds_origin)) << "nothing is awaited";
  EXPECT_EQ(x.loads, 1u);
  auto newer = x.identity();
  newer.pds = other_origin;
  x.learn(newer);
  x.settle();
  EXPECT_EQ(x.row->pds, other_origin);
}

TEST(repo_prepare, the_document_of_a_permit_does_not_undo_a_newer_one) {
  repo_world x;
  x.add_known();
  auto former = x.identity();
  former.pds = other_origin;
  former.fetched_at -= 1;
  x.begin(1, {x.account.did(), former});
  EXPECT_THAT(hosts_of(x), ElementsAre(pds_origin));
}

TEST(repo_prepare, the_document_of_a_permit_replaces_an_older_one) {
  repo_world x;
  x.add_known();
  x.clear();
  auto newer = x.identity();
  newer.pds = other_origin;
  newer.fetched_at += 1;
  x.begin(1, {x.account.did(), newer});
  EXPECT_THAT(hosts_of(x), ElementsAre(other_origin));
  EXPECT_THAT(x.wishes, IsEmpty()) << "here it is";
}

// The repo's own question is still open, and IDENTITY will answer it.
TEST(repo_prepare, a_permit_is_no_answer_to_what_the_repo_asked) {
  repo_world x;
  x.add();
  EXPECT_EQ(x.loads, 1u);
  x.begin(1);
  x.settle();
  x.fetched(1);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.machine->idle());
  x.learn(x.identity());
  x.settle();
  EXPECT_TRUE(x.machine->idle());
}

// -- the cause ----------------------------------------------------------------

struct asking_repo : repo_world {
  asking_repo() { add_known(); }

  repo_effects hint(uint32_t upstream) {
    const auto frame = identity_frame(1, account.did());
    return machine->on_frames(
      {stamp({frame.view().begin(), frame.view().end()}, upstream)}, now);
  }
};

TEST(repo_prepare, a_look_up_is_for_the_stream_that_makes_it_necessary) {
  for (const auto upstream : {pds_id, other_pds_id}) {
    asking_repo x;
    const auto out = x.hint(upstream);
    EXPECT_TRUE(out.refresh_identity);
    EXPECT_EQ(out.identity_cause, upstream);
    EXPECT_FALSE(out.share_identity);
  }
  asking_repo x;
  EXPECT_EQ(x.hint(relay_id).identity_cause, 0u);
}

TEST(repo_prepare, another_stream_that_makes_it_necessary_is_told_once) {
  asking_repo x;
  x.hint(other_pds_id);
  auto out = x.hint(pds_id);
  EXPECT_FALSE(out.refresh_identity) << "it is on its way";
  EXPECT_TRUE(out.share_identity);
  EXPECT_EQ(out.identity_cause, pds_id);
  EXPECT_FALSE(x.hint(pds_id).share_identity);
  out = x.hint(relay_id);
  EXPECT_TRUE(out.share_identity);
  EXPECT_EQ(out.identity_cause, 0u);
}

} // namespace
} // namespace weir::tests
