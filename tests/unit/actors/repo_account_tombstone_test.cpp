#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// The directory reported a tombstone, which only a document withdraws
/// (protocol-coverage.md 4.t7). The report may have been wrong, and nothing
/// announces its correction.
namespace weir::tests {
namespace {

/// A repo that counts as deleted because of the directory's tombstone.
struct tombstoned_repo : repo_world {
  tombstoned_repo() {
    sync();
    identity_event();
    learn_gone();
    settle();
    EXPECT_EQ(row->account, account_status::deleted);
    clear();
  }

  /// Answers every further look-up with the tombstone.
  void use_up_looks() {
    for (uint32_t i = 0; i <= limits::second_looks_max; ++i) {
      pass(24h);
      learn(gone());
    }
    settle();
    EXPECT_TRUE(machine->idle());
    EXPECT_FALSE(row->identity_due);
    clear();
  }

  void list_active(uint32_t upstream = pds_id) {
    list(account.rev(), account_status::active, upstream);
    settle();
  }

  /// Its host has the account, which is inactive.
  void deactivate() {
    account_event(false, "deactivated", pds_id);
    use_up_looks();
  }

  void expect_back() {
    learn(identity());
    settle();
    EXPECT_EQ(row->account, account_status::active);
    EXPECT_EQ(wishes.size(), 1u);
  }
};

// protocol-coverage.md 4.t7; architecture.md I4: the process restarts in
// between
TEST(repo_account_tombstone, the_next_life_goes_on_looking) {
  tombstoned_repo x;
  ASSERT_TRUE(x.row->identity_due);
  x.restart();
  const auto stored = x.gone();
  x.learn(stored);
  ASSERT_EQ(x.refreshes, 1u) << "at once";
  x.learn(stored);
  x.settle();
  EXPECT_TRUE(x.row->identity_due) << "for the life after that";
  auto pause = limits::second_look_pause;
  x.pass(pause);
  EXPECT_EQ(x.refreshes, 2u) << "and again";
  x.learn(x.gone());
  x.pass(pause *= 2);
  EXPECT_EQ(x.refreshes, 3u);
  x.expect_back();
}

// The repo was never fetched
TEST(repo_account_tombstone, an_account_that_is_new_is_looked_at_again) {
  repo_world x;
  x.add();
  x.learn(x.gone());
  x.settle();
  ASSERT_EQ(x.row->account, account_status::deleted);
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
}

// architecture.md, When memory runs short: the look-ups end with the actor, and
// the queue wakes the next one for them
TEST(repo_account_tombstone, a_repo_that_makes_room_asks_to_be_woken) {
  tombstoned_repo x;
  EXPECT_FALSE(x.machine->idle());
  ASSERT_TRUE(x.machine->idle(true));
  x.sleep();
  ASSERT_EQ(x.wishes.size(), 1u) << "only the look at all rows would wake it";
  EXPECT_GE(x.wishes[0].not_before, x.now.wall.seconds() + 60);
  x.restart();
  x.clear();
  x.begin(2, {x.account.did(), x.identity()}); // It brings a document.
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.orders.size(), 1u);
}

TEST(repo_account_tombstone, a_repo_that_used_its_look_ups_just_sleeps) {
  tombstoned_repo x;
  x.use_up_looks();
  x.sleep();
  EXPECT_THAT(x.wishes, testing::IsEmpty());
}

// The expected document has come
TEST(repo_account_tombstone, nobody_looks_again_when_it_is_withdrawn) {
  tombstoned_repo x;
  x.pass(limits::second_look_pause);
  x.expect_back();
  EXPECT_FALSE(x.row->identity_due);
  const auto asked = x.refreshes;
  x.pass(24h);
  EXPECT_EQ(x.refreshes, asked);
}

// protocol-coverage.md 4.t7: when no look-up is left, its host's statements
// count, once a day
TEST(repo_account_tombstone, its_host_has_the_directory_asked_once_a_day) {
  tombstoned_repo x;
  x.use_up_looks();
  x.pass(limits::identity_fresh - 1s);
  x.list_active();
  EXPECT_EQ(x.refreshes, 0u);
  x.pass(1s);
  x.list_active(relay_id);
  EXPECT_EQ(x.refreshes, 0u) << "the host has a stream of its own";
  x.list_active(other_pds_id);
  EXPECT_EQ(x.refreshes, 0u) << "not its host";
  x.list_active();
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.row->account, account_status::deleted) << "it withdraws nothing";
  x.learn(x.gone());
  x.settle();
  for (int i = 0; i < 100; ++i) {
    x.pass(10min);
    x.list_active();
  }
  EXPECT_EQ(x.refreshes, 1u) << "one look, and no second ones";
  EXPECT_TRUE(x.machine->idle());
  x.pass(limits::identity_fresh);
  x.list_active();
  EXPECT_EQ(x.refreshes, 2u);
  x.expect_back();
}

// The cache of documents knows their age, and looks up one that is a day old
TEST(repo_account_tombstone, one_that_is_woken_by_its_host_reads_it_first) {
  tombstoned_repo x;
  x.use_up_looks();
  x.restart();
  ASSERT_EQ(x.loads, 0u);
  x.list_active();
  EXPECT_EQ(x.loads, 1u);
  EXPECT_EQ(x.refreshes, 0u);
  x.expect_back();
}

TEST(repo_account_tombstone, a_relay_is_heard_where_the_host_has_no_stream) {
  tombstoned_repo x;
  x.use_up_looks();
  x.board.put(quiet_upstream(pds_id, "https://elsewhere.test", 1, 1));
  x.pass(limits::identity_fresh);
  x.list_active(relay_id);
  EXPECT_EQ(x.refreshes, 1u);
  x.expect_back();
}

TEST(repo_account_tombstone, what_the_host_answers_counts_as_its_listing_does) {
  tombstoned_repo x;
  x.use_up_looks();
  x.answer(account_status::active);
  EXPECT_EQ(x.refreshes, 0u);
  x.pass(limits::identity_fresh);
  x.answer(account_status::active, other_origin);
  EXPECT_EQ(x.refreshes, 0u);
  x.answer(account_status::active);
  EXPECT_EQ(x.refreshes, 1u);
  x.expect_back();
}

// protocol-coverage.md 4.t7: an inactive account can come back, so `deleted` is
// wrong for it
TEST(repo_account_tombstone, one_that_is_deactivated_is_looked_up_as_well) {
  tombstoned_repo x;
  x.deactivate();
  x.pass(limits::identity_fresh);
  x.list(x.account.rev(), account_status::deleted, pds_id);
  x.settle();
  EXPECT_EQ(x.refreshes, 0u) << "its host denies nothing";
  x.account_event(false, "deactivated", pds_id);
  x.use_up_looks();
  x.pass(limits::identity_fresh);
  x.list(x.account.rev(), account_status::deactivated, pds_id);
  x.settle();
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

TEST(repo_account_tombstone, an_answer_that_it_is_deactivated_costs_one_look) {
  tombstoned_repo x;
  x.deactivate();
  for (int day = 0; day < 3; ++day) {
    x.pass(limits::identity_fresh);
    x.answer(account_status::deactivated);
    x.learn(x.gone());
    x.settle();
    x.pass(12h);
  }
  EXPECT_EQ(x.refreshes, 3u) << "one look each, and no second ones";
  EXPECT_TRUE(x.machine->idle());
}

TEST(repo_account_tombstone, one_that_is_deactivated_meanwhile_is_looked_at) {
  tombstoned_repo x;
  x.use_up_looks();
  x.account_event(false, "deactivated", pds_id);
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// As after a commit: such an account is not quiet
TEST(repo_account_tombstone, an_event_that_denies_it_begins_the_looks_anew) {
  tombstoned_repo x;
  x.use_up_looks();
  x.account_event(true, {}, relay_id);
  EXPECT_EQ(x.refreshes, 0u) << "the host has a stream of its own";
  x.account_event(true, {}, pds_id);
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, 1u);
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  x.expect_back();
}

// -- nothing is erased for one word -------------------------------------------

/// A fetched repo; the directory has reported a tombstone once.
struct doubted_repo : repo_world {
  doubted_repo() {
    sync();
    identity_event();
    learn(gone());
    settle();
    clear();
  }

  bool is_whole() const {
    return row->account == account_status::active && chain != nullptr
           && chain->rev.defined() && row->status == repo_status::synced;
  }
};

// protocol-coverage.md 4.t7
TEST(repo_account_tombstone, the_first_one_changes_nothing) {
  doubted_repo x;
  ASSERT_TRUE(x.is_whole());
  EXPECT_TRUE(x.row->identity_due) << "for the next life";
  const auto seq = x.take(x.make_commit());
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.chain->rev, x.account.rev());
  x.pass(limits::second_look_pause);
  ASSERT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_TRUE(x.is_whole());
  EXPECT_FALSE(x.row->identity_due);
  x.pass(24h);
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_TRUE(x.wishes.empty());
  EXPECT_EQ(x.count_of(repo_counter::account_changed), 0u);
}

// Another asker had already caused the look-up of the newer document.
TEST(repo_account_tombstone, one_with_another_key_is_looked_at_again_as_well) {
  repo_world x;
  x.sync();
  x.identity_event();
  auto fact = x.gone();
  fact.signing_key = test_repo{77}.key().public_part().to_multikey();
  x.learn(fact);
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  const auto before = x.refreshes;
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, before + 1);
}

TEST(repo_account_tombstone, the_second_one_counts_minutes_later) {
  doubted_repo x;
  x.pass(x.settings->gone_grace - 1s);
  x.learn(x.gone());
  x.settle();
  EXPECT_TRUE(x.is_whole());
  x.pass(1h);
  x.learn(x.gone());
  EXPECT_TRUE(x.write().erase);
  EXPECT_EQ(x.row->account, account_status::deleted);
}

TEST(repo_account_tombstone, a_document_between_the_two_begins_anew) {
  doubted_repo x;
  x.pass(limits::second_look_pause);
  x.learn(x.identity());
  x.pass(x.settings->gone_grace);
  x.identity_event();
  x.learn(x.gone());
  x.settle();
  EXPECT_TRUE(x.is_whole());
}

// protocol-coverage.md 2.5.6: a wrong answer of the directory does not say
// which key to use.
TEST(repo_account_tombstone, what_another_key_signs_waits_for_a_document) {
  repo_world x;
  x.sync();
  x.rotate_key(test_repo{2});
  auto gone = x.identity();
  gone.signing_key = test_repo{2}.key().public_part().to_multikey();
  gone.tombstoned = true;
  x.identity_event();
  x.learn(gone);
  x.make_commit();
  const auto seq = x.take(x.account.sync_frame(2));
  x.learn(gone);
  x.settle();
  EXPECT_TRUE(x.row->gap) << "it is not complete";
  EXPECT_TRUE(x.finished(seq)) << "its stream goes on";
  EXPECT_EQ(x.count_of(repo_counter::sync_refused), 0u);
  x.learn(gone);
  x.pass(limits::second_look_pause);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 1u) << "it was judged";
}

// architecture.md I4
TEST(repo_account_tombstone, the_word_of_an_earlier_life_is_the_first) {
  doubted_repo x;
  const auto stored = x.gone();
  x.now.wall = x.now.wall + x.settings->gone_grace;
  x.restart();
  x.learn(stored);
  x.settle();
  EXPECT_TRUE(x.is_whole()) << "the same one";
  ASSERT_EQ(x.refreshes, 1u);
  x.learn(x.gone());
  EXPECT_TRUE(x.write().erase);
}

TEST(repo_account_tombstone, a_clock_that_was_ahead_puts_nothing_off) {
  doubted_repo x;
  x.now.wall = x.now.wall + -24h;
  x.learn(x.gone());
  x.pass(x.settings->gone_grace);
  x.learn(x.gone());
  EXPECT_TRUE(x.write().erase);
}

// The look-ups end before the longest `gone_grace`
TEST(repo_account_tombstone, the_last_look_decides) {
  repo_world x;
  x.sync();
  auto patient = *x.settings;
  patient.gone_grace = limits::gone_grace_range.max;
  x.set(patient);
  x.identity_event();
  x.learn(x.gone());
  auto pause = limits::second_look_pause;
  for (uint32_t i = 0; i < limits::second_looks_max; ++i, pause *= 2) {
    x.settle();
    EXPECT_EQ(x.row->account, account_status::active);
    x.pass(pause);
    x.learn(x.gone());
  }
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deleted);
}

} // namespace
} // namespace weir::tests
