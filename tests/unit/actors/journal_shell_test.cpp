#include "actors/journal/journal.hpp"
#include "actors/journal/limits.hpp"
#include "actors/support/limits.hpp"
#include "messages/consumer.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "storage/tables/repo_table.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// actors.md, One update of a repo: which answers are sent, and when.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

class JournalShellTest : public ShellFixture {
protected:
  void start() {
    ASSERT_TRUE(store.try_open());
    home->subscribers.add(consumer.as<consumer_actor>());
    shared->set_upstream(7, upstream.as<upstream_actor>());
    journal = keep(spawn_journal(sys, shared, home,
                                 {store.writer.get(), &tail,
                                  [this] {
                                    return level0_files;
                                  }},
                                 [this](const error& why) {
                                   failures.push_back(why.context);
                                 }));
  }

  /// A commit of the account, and the frame that it finishes.
  journal_update update(test_account& of, uint64_t seq, bool backfill = false) {
    journal_update out;
    out.update = std::make_shared<storage::repo_update>(
      of.commit({{"app.a.x/" + std::to_string(seq), "body"}}));
    out.marks = {{7, 1, seq}};
    out.backfill = backfill;
    return out;
  }

  /// The update that removes the repo.
  journal_update forgotten(test_account& x) {
    journal_update out;
    out.update = std::make_shared<storage::repo_update>(x.forget());
    return out;
  }

  void submit(journal_update x) {
    tell(journal, std::move(x), repo.as<repo_actor>());
  }

  /// Performs all of SWEEPER's steps except the last.
  void erase(const test_account& x) {
    do
      tell(journal, erase_step{x.repo}, asker.as<sweeper_actor>());
    while (asker.take<erase_stepped>().at(0).more);
  }

  /// Three versions of one record, each in a block of two operations.
  void write_versions() {
    test_account ann{'a'};
    for (int i = 0; i < 3; ++i) {
      submit(update(ann, 1));
      accept(ann);
    }
  }

  /// Gives the account the results of its last commit.
  void accept(test_account& x) {
    for (const auto& each : repo.take<repo_receipt>())
      x.accept(*each.receipt);
  }

  /// Reports that a consumer has settled everything up to an operation.
  void settle(storage::op_id position) {
    auto batch = std::make_shared<storage::journal_batch>();
    storage::consumer_change change;
    change.name = "channel";
    change.row = storage::consumer_row{{position}, 0, false};
    batch->consumers.push_back(std::move(change));
    tell(journal, journal_rows{std::move(batch)}, rows_sink{});
  }

  std::vector<uint64_t> finished() {
    std::vector<uint64_t> out;
    for (const auto& x : upstream.take<frames_done>())
      out.insert(out.end(), x.seqs.begin(), x.seqs.end());
    return out;
  }

  /// Rows whose durability is reported to a probe.
  journal_rows rows(uint64_t token) {
    auto batch = std::make_shared<storage::journal_batch>();
    batch->identities.emplace_back(shell_repo(1), storage::identity_row{});
    return {std::move(batch), token};
  }

  memory_disk memory;
  fault_env disk{memory};
  test_store store{disk, {}};
  storage::tail_cache tail{1};
  store_stats& stats = home->stats;
  int level0_files = 0;
  probe repo{sys};
  probe upstream{sys};
  probe consumer{sys};
  probe asker{sys};
  probe router{sys};
  std::vector<std::string> failures;
  journal_actor journal;
};

} // namespace

// architecture.md, When memory runs short
TEST_F(JournalShellTest, TheNamesOfCollectionsCountAsMemory) {
  start();
  const auto held = [this] { return shared->memory->held(memory_use::names); };
  EXPECT_EQ(held(), 0u);
  test_account alice{'a'};
  submit(update(alice, 1));
  EXPECT_GT(held(), 0u);
  EXPECT_EQ(held(), store.names->bytes());
  accept(alice);
  submit(forgotten(alice));
  accept(alice);
  EXPECT_GT(held(), 0u) << "its rows are still there";
  erase(alice);
  EXPECT_EQ(store.names->size(), 0u);
  EXPECT_EQ(held(), 0u);
}

// An application that removes repos all the time does not fill the board of
// accounts
TEST_F(JournalShellTest, OfARemovedRepoNothingIsKeptInMindInTheEnd) {
  start();
  test_account alice{'a'};
  test_account bob{'b'};
  for (auto* x : {&alice, &bob}) {
    submit(update(*x, 1));
    accept(*x);
  }
  submit(forgotten(alice));
  accept(alice);
  auto deleted = update(bob, 2);
  deleted.update = std::make_shared<storage::repo_update>(bob.erase());
  submit(deleted);
  accept(bob);
  EXPECT_EQ(home->accounts.size(), 2u);
  erase(alice);
  erase(bob);
  EXPECT_EQ(home->accounts.size(), 2u) << "their bytes are still there";
  tell(journal, erase_over{alice.repo, alice.chain->erased_through - 1});
  EXPECT_EQ(home->accounts.size(), 2u) << "of an erasing before";
  for (auto* x : {&alice, &bob})
    tell(journal, erase_over{x->repo, x->chain->erased_through});
  EXPECT_EQ(home->accounts.size(), 2u) << "a consumer may hold its events";
  settle(alice.chain->erased_through - 1);
  EXPECT_EQ(home->accounts.size(), 2u);
  settle(alice.chain->erased_through);
  EXPECT_EQ(home->accounts.size(), 1u);
  EXPECT_NE(home->accounts.of(bob.repo).erased_through, 0u)
    << "it is known, and its row says so";
}

// architecture.md, Health: NODE's health watch sees since when a write lasts
TEST_F(JournalShellTest, WhileItWaitsForTheDiskItSaysSinceWhen) {
  start();
  std::vector<int64_t> seen;
  const auto look = [&] { seen.push_back(stats.writes_since); };
  test_account ann{'a'};
  pass(1min);
  const auto now = time.steady_now().micros;
  const auto wrote = [&](auto&& write) {
    disk.plan({.kinds = kind_bit(io_call::append), .instead = look});
    write();
    EXPECT_TRUE(disk.reached());
    EXPECT_EQ(stats.writes_since, 0) << "it has returned";
  };
  wrote([&] {
    journal_update found;
    found.update = std::make_shared<storage::repo_update>(ann.appear());
    submit(std::move(found));
  });
  accept(ann);
  submit(update(ann, 1));
  accept(ann);
  wrote([&] {
    tell(journal, journal_missed{ann.repo}, router.as<router_actor>());
  });
  submit(forgotten(ann));
  accept(ann);
  wrote([&] {
    tell(journal, erase_step{ann.repo}, asker.as<sweeper_actor>());
  });
  asker.take<erase_stepped>();
  erase(ann);
  wrote([&] {
    tell(journal, erase_over{ann.repo, ann.chain->erased_through});
  });
  EXPECT_THAT(seen, ElementsAre(now, now, now, now));
}

// A first client waits for its turn, also at a store that is only read.
TEST_F(JournalShellTest, AfterAFailureOnlyRowsThatAreNoneAreDurable) {
  start();
  const journal_rows none{std::make_shared<const storage::journal_batch>(), 9};
  tell(journal, none, asker.as<rows_sink>());
  EXPECT_EQ(asker.take<rows_durable>().at(0).token, 9u);
  disk.plan({.sticky = true});
  tell(journal, rows(5), asker.as<rows_sink>());
  EXPECT_THAT(failures, testing::SizeIs(1));
  tell(journal, rows(6), asker.as<rows_sink>());
  EXPECT_EQ(asker.count<rows_durable>(), 0u);
  tell(journal, none, asker.as<rows_sink>());
  EXPECT_EQ(asker.take<rows_durable>().at(0).token, 9u);
}

// ADR 35: what the consumer needs is asked when it is removed, not before
TEST_F(JournalShellTest, WhatTheConsumerNeedsIsNotTrimmed) {
  start();
  write_versions();
  const auto trimmed = [&] {
    tell(journal, trim_log{{1, 3}}, asker.as<sweeper_actor>());
    return asker.take<log_trimmed>().at(0).operations;
  };
  const auto walked = [&] {
    tell(journal, erase_replaced{7}, asker.as<sweeper_actor>());
    return asker.take<replaced_erased>().at(0);
  };
  EXPECT_EQ(walked().contents, 0u);
  EXPECT_EQ(trimmed(), 0u) << "nobody has said yet what is needed";
  home->outbox.uses_log = false;
  EXPECT_EQ(walked().contents, 2u) << "they were kept";
  EXPECT_EQ(trimmed(), 4u);
  EXPECT_EQ(trimmed(), 0u);
}

TEST_F(JournalShellTest, WhatIsDurableIsToldAtOnce) {
  start();
  test_account ann{'a'};
  submit(update(ann, 11));
  tell(journal, rows(5), asker.as<rows_sink>());
  EXPECT_EQ(repo.count<repo_receipt>(), 1u);
  EXPECT_THAT(finished(), ElementsAre(11));
  EXPECT_EQ(asker.count<rows_durable>(), 1u);
  const auto news = consumer.take<log_advanced>();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].id, stats.durable);
  EXPECT_GT(stats.durable, 0u);
}

// architecture.md I4: it is written before the frames of a repo without a REPO
// are given up
TEST_F(JournalShellTest, WhatIsMissedIsNotedBehindEverythingBefore) {
  start();
  test_account ann{'a'};
  auto change = update(ann, 11);
  const auto did = change.update->repo;
  change.update->row.emplace().status = storage::repo_status::synced;
  caf::anon_send(journal, std::move(change), repo.as<repo_actor>());
  tell(journal, journal_missed{did}, router.as<router_actor>());
  EXPECT_EQ(router.count<journal_noted>(), 1u);
  tell(journal, stop_actor{});
  memory.kill();
  store.close();
  memory.power_on();
  ASSERT_TRUE(store.try_open());
  const auto left = storage::repo_table{*store.db, *store.names}.row(did);
  ASSERT_TRUE(left && *left);
  EXPECT_EQ((*left)->status, storage::repo_status::synced);
  EXPECT_TRUE((*left)->gap);
  EXPECT_TRUE((*left)->identity_due);
}

// A repo without a row cannot be incomplete.
TEST_F(JournalShellTest, NothingIsNotedOfARepoWithoutARow) {
  start();
  tell(journal, journal_missed{shell_repo(1)}, router.as<router_actor>());
  EXPECT_EQ(router.count<journal_noted>(), 1u);
  EXPECT_FALSE(*storage::repo_table(*store.db, *store.names).row(shell_repo(1)));
}

// A repo that waits for nothing is not counted as waiting: an account that was
// first seen as deleted is never fetched.
TEST_F(JournalShellTest, ARepoOfAnAccountThatIsAwayIsCountedAsAway) {
  using enum storage::repo_status;
  using storage::account_status;
  start();
  test_account ann{'a'};
  const auto write = [&](storage::repo_status status, account_status account) {
    ann.row.account = account;
    journal_update x;
    x.update = std::make_shared<storage::repo_update>(ann.appear(status));
    submit(std::move(x));
    accept(ann);
  };
  const auto counted = [&](storage::repo_status x) {
    return stats.repos[static_cast<size_t>(x)].load();
  };
  const auto& away = stats.repos[0];
  write(pending, account_status::active);
  EXPECT_EQ(counted(pending), 1u);
  for (const auto x : {account_status::deleted, account_status::deactivated}) {
    write(pending, x);
    EXPECT_EQ(away, 1u);
    EXPECT_EQ(counted(pending), 0u);
  }
  write(pending, account_status::active);
  EXPECT_EQ(away, 0u);
  EXPECT_EQ(counted(pending), 1u);
  write(synced, account_status::active);
  write(synced, account_status::suspended);
  EXPECT_EQ(counted(synced), 1u) << "its records are kept";
  write(desync, account_status::suspended);
  EXPECT_EQ(away, 1u);
  EXPECT_EQ(stats.repo_count(), 1u);
  // /status counts each repo once by its own state and once by its account's.
  const auto is_counted = [&](uint64_t n) {
    EXPECT_EQ(stats.statuses[static_cast<size_t>(desync)], n);
    EXPECT_EQ(stats.accounts[static_cast<size_t>(account_status::suspended)],
              n);
    for (const auto& x :
         {std::ref(stats.statuses[size_t(pending)]),
          std::ref(stats.statuses[size_t(synced)]),
          std::ref(stats.accounts[size_t(account_status::active)]),
          std::ref(stats.accounts[size_t(account_status::deleted)])})
      EXPECT_EQ(x.get(), 0u);
  };
  is_counted(1);
  journal_update gone;
  gone.update = std::make_shared<storage::repo_update>(ann.forget());
  submit(std::move(gone));
  EXPECT_EQ(stats.repo_count(), 0u);
  is_counted(0);
  EXPECT_THAT(failures, IsEmpty());
}

// limits::level0_files_pause, limits::journal_pause
TEST_F(JournalShellTest, BackfillRestsWhileTheStoreHasToMergeAndLooksAgain) {
  start();
  test_account ann{'a'};
  test_account bob{'b'};
  level0_files = limits::level0_files_pause;
  submit(update(ann, 11, true));
  submit(update(bob, 12));
  EXPECT_THAT(finished(), ElementsAre(12)) << "live work goes on";
  level0_files = limits::level0_files_pause - 1;
  pass(limits::journal_pause - 1us);
  EXPECT_THAT(finished(), IsEmpty());
  pass(1us);
  EXPECT_THAT(finished(), ElementsAre(11));
}

TEST_F(JournalShellTest, BackfillGoesOnUpToTheLimit) {
  start();
  test_account ann{'a'};
  level0_files = limits::level0_files_pause - 1;
  submit(update(ann, 11, true));
  EXPECT_THAT(finished(), ElementsAre(11));
}

// OPLOG-34; actors.md, One update of a repo: late updates of a dead REPO are
// rejected
TEST_F(JournalShellTest, AFenceComesAfterWhatWasSentBeforeAndShutsOutTheRest) {
  start();
  test_account ann{'a'};
  // Updates that normally rest are written, too.
  level0_files = limits::level0_files_pause;
  auto first = update(ann, 11, true);
  submit(first);
  tell(journal, journal_fence{ann.repo}, router.as<router_actor>());
  EXPECT_THAT(finished(), ElementsAre(11));
  const auto fenced = router.take<journal_fenced>();
  ASSERT_EQ(fenced.size(), 1u);
  accept(ann);
  submit(update(ann, 12));
  auto late = repo.take<repo_receipt>();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].receipt->outcome, storage::update_outcome::fenced);
  EXPECT_THAT(finished(), IsEmpty()) << "it comes again";
}

} // namespace weir::tests
