#include "storage/log/record_history.hpp"
#include "tests/unit/storage/operation_fixture.hpp"

// As-of reads of a record: docs/api.md, `GET
// /v1/repos/:did/records/:collection/:rkey`; OPLOG-14.

namespace weir::storage {
namespace {

using fate = past_record::fate;
using tests::change;
using tests::numbered;

class RecordHistoryTest : public tests::OperationFixture {
protected:
  void SetUp() override { apply(alice, alice.appear()); }

  /// A live commit; returns its rev.
  uint64_t commit(const std::vector<change>& changes) {
    alice.rev += 9; // The next one is 10 higher.
    apply(alice, alice.commit(changes));
    return alice.rev;
  }

  /// A fetch that found these changes; returns its rev.
  uint64_t fetch_changes(const std::vector<change>& changes) {
    apply(alice, alice.appear(repo_status::syncing));
    alice.rev += 9;
    apply(alice, alice.chunk(changes));
    --alice.rev; // The root has the rev of the chunks.
    apply(alice, alice.finish());
    return alice.rev;
  }

  past_record at(uint64_t rev, const std::string& rkey = "1",
                 const read_bounds& bounds = {}) const {
    const record_history history{*store.db, *store.names, 0};
    return history
      .at(alice.repo, "app.a.x", rkey, atproto::tid{rev}, bounds)
      .value();
  }

  std::string body_at(uint64_t rev, const std::string& rkey = "1") const {
    const auto found = at(rev, rkey);
    EXPECT_EQ(found.what, fate::present) << rev;
    return found.operation
             ? std::string{as_text(found.operation->body.view())}
             : "";
  }
};

TEST_F(RecordHistoryTest, AVersionHoldsFromItsRevToTheNextOne) {
  const auto before = commit({{"app.a.x/other", "x"}});
  const auto made = commit({{"app.a.x/1", "one"}});
  const auto quiet = commit({{"app.a.x/other", "y"}});
  const auto changed = commit({{"app.a.x/1", "two"}});
  const auto gone = commit({{"app.a.x/1", ""}});
  const auto again = commit({{"app.a.x/1", "three"}});
  EXPECT_EQ(at(before).what, fate::absent);
  EXPECT_EQ(at(made - 1).what, fate::absent);
  EXPECT_EQ(body_at(made), "one");
  EXPECT_EQ(body_at(quiet), "one");
  EXPECT_EQ(body_at(changed - 1), "one");
  EXPECT_EQ(at(changed - 1).as_of, atproto::tid{quiet});
  EXPECT_EQ(body_at(changed), "two");
  EXPECT_EQ(body_at(gone - 1), "two");
  EXPECT_EQ(at(gone).what, fate::removed);
  EXPECT_EQ(at(gone).operation->in->rev, atproto::tid{gone});
  EXPECT_EQ(at(again - 1).what, fate::removed);
  EXPECT_EQ(body_at(again), "three");
  EXPECT_EQ(body_at(again + 100), "three") << "nothing newer is known";
  EXPECT_EQ(at(again + 100).as_of, atproto::tid{again});
  EXPECT_EQ(at(again, "never").what, fate::absent);
}

TEST_F(RecordHistoryTest, ACommitWithoutAnEntryLeavesEveryRecordAsItWas) {
  const auto made = commit({{"app.a.x/1", "one"}});
  apply(alice, alice.pass());
  apply(alice, alice.pass());
  const auto passed = alice.rev;
  EXPECT_EQ(body_at(passed), "one");
  EXPECT_EQ(at(passed).as_of, atproto::tid{passed});
  EXPECT_EQ(at(passed - 1).as_of, atproto::tid{made});
  const auto changed = commit({{"app.a.x/1", "two"}});
  EXPECT_EQ(body_at(passed), "one");
  EXPECT_EQ(body_at(changed), "two");
}

TEST_F(RecordHistoryTest, BeforeTheFirstCommitNothingIsKnown) {
  EXPECT_EQ(at(5).what, fate::unknown) << "there is no commit at all";
  const auto first = fetch_changes({{"app.a.x/1", "one"}});
  const auto early = at(first - 1);
  EXPECT_EQ(early.what, fate::unknown);
  EXPECT_EQ(early.known_from, atproto::tid{first});
  EXPECT_EQ(body_at(first), "one");
  EXPECT_EQ(at(first, "never").what, fate::absent);
}

// What happened between two commits is known only when the second one follows.
TEST_F(RecordHistoryTest, WhatAFetchSkippedIsNotKnown) {
  const auto before = commit({{"app.a.x/1", "one"}, {"app.a.x/2", "same"}});
  const auto fetched = fetch_changes({{"app.a.x/1", "two"}});
  const auto after = commit({{"app.a.x/1", "three"}});
  EXPECT_EQ(body_at(before), "one");
  EXPECT_EQ(at(before + 1).what, fate::unknown);
  EXPECT_EQ(at(before + 1, "2").what, fate::unknown);
  EXPECT_EQ(at(before + 1).as_of, atproto::tid{before});
  EXPECT_EQ(at(before + 1).known_from, atproto::tid{fetched});
  EXPECT_EQ(body_at(fetched), "two");
  EXPECT_EQ(body_at(after - 1), "two");
  EXPECT_EQ(body_at(after), "three");
  EXPECT_EQ(body_at(after, "2"), "same");
}

// The account said only that it has a newer rev.
TEST_F(RecordHistoryTest, ACommitThatOnlyMovesTheRevDoesNotFollow) {
  const auto before = commit({{"app.a.x/1", "one"}});
  alice.rev += 9;
  auto update = alice.commit({});
  update.transactions.front().ops.back().action = atproto::op_action::update;
  apply(alice, std::move(update));
  EXPECT_EQ(body_at(before), "one");
  EXPECT_EQ(at(alice.rev - 1).what, fate::unknown);
  EXPECT_EQ(body_at(alice.rev), "one");
}

// A wider filter brings records that may have existed before.
TEST_F(RecordHistoryTest, ARecordThatAFetchBroughtMayBeOlder) {
  const auto before = commit({{"app.b.y/1", "kept"}});
  const auto middle = commit({{"app.b.y/2", "kept"}});
  apply(alice, alice.appear(repo_status::syncing));
  --alice.rev; // The root is unchanged, so there is no commit of it.
  apply(alice, alice.chunk({{"app.a.x/1", "old"}}));
  EXPECT_EQ(body_at(middle), "old");
  EXPECT_EQ(at(before).what, fate::unknown);
  EXPECT_EQ(at(before).known_from, atproto::tid{middle});
  EXPECT_EQ(at(before, "2").what, fate::absent);
}

TEST_F(RecordHistoryTest, WhileAFetchIsUnderWayOnlyItsEndsAreKnown) {
  const auto before = commit({{"app.a.x/1", "one"}});
  apply(alice, alice.appear(repo_status::syncing));
  alice.rev += 9;
  apply(alice, alice.chunk({{"app.a.x/1", "two"}, {"app.a.x/2", "new"}}));
  EXPECT_EQ(body_at(before), "one");
  EXPECT_EQ(at(before + 1).what, fate::unknown);
  EXPECT_EQ(at(before + 1, "2").what, fate::unknown);
  EXPECT_FALSE(at(before + 1).known_from.defined());
  EXPECT_EQ(body_at(alice.rev), "two");
  EXPECT_EQ(at(alice.rev).as_of, atproto::tid{alice.rev});
}

// SYNC-30
TEST_F(RecordHistoryTest, AnErasedHistoryIsNotKnown) {
  const auto before = commit({{"app.a.x/1", "one"}});
  apply(alice, alice.forget());
  EXPECT_EQ(at(before).what, fate::unknown);
  apply(alice, alice.appear());
  const auto after = commit({{"app.a.x/1", "two"}});
  const auto check = [&] {
    EXPECT_EQ(at(before).what, fate::unknown);
    EXPECT_EQ(at(before).known_from, atproto::tid{after});
    EXPECT_EQ(body_at(after), "two");
  };
  check();
  sweep(alice);
  check();
  const auto later = commit({{"app.a.x/1", ""}});
  EXPECT_EQ(body_at(after), "two") << "not by the head";
  EXPECT_EQ(at(later).what, fate::removed);
}

// The bounds of one call, at the limit and just above it
TEST_F(RecordHistoryTest, OfTooManyOperationsItSaysSo) {
  const auto made = commit({{"app.a.x/1", "one"}});
  for (int i = 0; i < 3; ++i)
    commit({{"app.a.x/other", std::to_string(i)}});
  const auto end = commit({{"app.a.x/other", "end"}});
  commit({{"app.a.x/1", "two"}});
  EXPECT_EQ(at(end, "1", {.looked_max = 5}).what, fate::present);
  EXPECT_EQ(at(end, "1", {.looked_max = 4}).what, fate::too_long);
  EXPECT_EQ(at(made, "1", {.looked_max = 1}).what, fate::present);
  EXPECT_EQ(at(end + 10, "1", {.looked_max = 0}).what, fate::present)
    << "the head says it";
  EXPECT_EQ(at(made, "never", {.looked_max = 6}).what, fate::absent);
  EXPECT_EQ(at(made, "never", {.looked_max = 5}).what, fate::too_long);
}

// OPLOG-16
TEST_F(RecordHistoryTest, ASearchCanBeCancelled) {
  const auto made = commit({{"app.a.x/1", "one"}});
  commit({{"app.a.x/1", "two"}});
  for (const int allowed : {0, 1, 3}) {
    int asked = 0;
    read_bounds bounds;
    bounds.cancelled = [&] {
      return ++asked > allowed;
    };
    const record_history history{*store.db, *store.names, 0};
    EXPECT_EQ(history
                .at(alice.repo, "app.a.x", "1", atproto::tid{made}, bounds)
                .error()
                .code,
              ec::cancelled);
  }
}

// Any rev of a long history, compared with what was written.
TEST_F(RecordHistoryTest, EveryRevGivesWhatWasWrittenLast) {
  const auto dice = seeded_random(5);
  std::map<std::string, std::map<uint64_t, std::string>> written;
  const auto first = commit({{"app.b.y/1", "begin"}});
  for (int i = 0; i < 150; ++i) {
    std::map<std::string, std::string> changes;
    for (size_t n = dice->below(4); n > 0; --n) {
      const auto rkey = std::to_string(dice->below(12));
      const bool drop
        = alice.records.contains("app.a.x/" + rkey) && dice->below(3) == 0;
      changes[rkey] = drop ? "" : std::to_string(i) + "-" + std::to_string(n);
    }
    std::vector<change> list;
    for (const auto& [rkey, body] : changes)
      list.push_back({"app.a.x/" + rkey, body});
    const auto rev = commit(list);
    for (const auto& [rkey, body] : changes)
      written[rkey][rev] = body;
  }
  for (const auto& [rkey, versions] : written)
    for (auto rev = first; rev <= alice.rev + 5; rev += 5) {
      const auto next = versions.upper_bound(rev);
      const auto found = at(rev, rkey);
      if (next == versions.begin()) {
        EXPECT_EQ(found.what, fate::absent) << rkey << " at " << rev;
        continue;
      }
      const auto& body = std::prev(next)->second;
      ASSERT_EQ(found.what, body.empty() ? fate::removed : fate::present)
        << rkey << " at " << rev;
      EXPECT_EQ(as_text(found.operation->body.view()), body);
    }
}

// ADR 35: what lies between may be gone
TEST_F(RecordHistoryTest, OfATrimmedLogOnlyWhatIsCurrentIsGiven) {
  const auto first = commit({{"app.a.x/1", "one"}});
  const auto second = commit({{"app.a.x/1", "two"}});
  const auto other = commit({{"app.a.x/2", "other"}});
  ASSERT_TRUE(store.writer->erase_replaced(3, false));
  ASSERT_GT(store.writer->trim({1}, false).value().blocks, 0u);
  EXPECT_EQ(at(first).what, fate::trimmed);
  EXPECT_EQ(body_at(second), "two");
  EXPECT_EQ(body_at(other), "two");
  EXPECT_EQ(at(second, "2").what, fate::trimmed);
  EXPECT_EQ(at(other, "3").what, fate::trimmed);
}

} // namespace
} // namespace weir::storage
