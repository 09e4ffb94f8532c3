#include "storage/format/limits.hpp"
#include "storage/log/limits.hpp"
#include "tests/unit/storage/operation_store_suite.hpp"

#include <stdexcept>

// The suite of all operation stores: what `apply` writes, and what it refuses.

namespace weir::storage {

using tests::apply_step;
using testing::HasSubstr;
using testing::SizeIs;

// OPLOG-05, OPLOG-09, OPLOG-22
TEST_P(OperationStoreSuite, ATransactionAppendsToItsStreams) {
  const auto receipt
    = alice.commit({{"app.a.x/1", "one"}, {"app.b.y/1", "two"}}).on(store());
  EXPECT_EQ(receipt.outcome, apply_outcome::done) << receipt.reason;
  EXPECT_EQ(receipt.first, 1u);
  EXPECT_EQ(receipt.last, 3u);
  EXPECT_THAT(receipt.ends, SizeIs(3));
  EXPECT_EQ(store().last_id(), 3u);
  EXPECT_EQ(store().next_index(of(alice, "app.a.x")).value(), 1u);
  EXPECT_EQ(store().next_index(of(alice, "$commit")).value(), 1u);
  EXPECT_EQ(store().next_index(of(bob, "app.a.x")).value(), 0u);
}

TEST_P(OperationStoreSuite, AnEmptyTransactionChangesNothing) {
  write_a_little();
  const auto before = everything();
  auto step = alice.commit({});
  step.operations.clear();
  EXPECT_EQ(outcome(step), apply_outcome::done);
  EXPECT_EQ(everything(), before);
}

// OPLOG-04, OPLOG-10, OPLOG-33, OPLOG-34: both numbers are told. They were once
// exchanged.
TEST_P(OperationStoreSuite, AMismatchTellsBothRevisions) {
  write_a_little();
  auto late = alice.commit({{"app.a.x/9", "late"}});
  const auto before = everything();
  for (auto& stream : late.request.streams)
    if (stream.scope == "app.a.x")
      stream.revision = 1;
  bool asked = false;
  const auto receipt = store()
                         .apply(late.request,
                                [&](operation_staging&) {
                                  asked = true;
                                  return result<void>{};
                                })
                         .value();
  EXPECT_EQ(receipt.outcome, apply_outcome::revision_mismatch);
  EXPECT_FALSE(asked);
  EXPECT_EQ(receipt.scope, "app.a.x");
  EXPECT_EQ(receipt.expected, 1u);
  EXPECT_EQ(receipt.actual, 3u);
  EXPECT_EQ(everything(), before);
}

// A stream of which nothing is staged guards the transaction as well.
TEST_P(OperationStoreSuite, AStreamCanBeExpectedWithoutOperations) {
  write_a_little();
  auto step = alice.fact(account_scope, "alice.test");
  step.request.streams.push_back({"$commit", 1});
  EXPECT_EQ(outcome(step), apply_outcome::revision_mismatch);
  step.request.streams.back().revision = 2;
  EXPECT_EQ(outcome(step), apply_outcome::done);
}

// OPLOG-10
TEST_P(OperationStoreSuite, IndicesMustFollowEachOther) {
  write_a_little();
  auto step = alice.commit({{"app.a.x/8", "a"}, {"app.a.x/9", "b"}});
  step.operations[1].index = 7;
  const auto receipt = step.on(store());
  EXPECT_EQ(receipt.outcome, apply_outcome::invalid_index);
  EXPECT_EQ(receipt.scope, "app.a.x");
  EXPECT_EQ(receipt.expected, 7u);
  EXPECT_EQ(receipt.actual, 4u);
  EXPECT_EQ(store().next_index(of(alice, "app.a.x")).value(), 3u);
}

// OPLOG-07
TEST_P(OperationStoreSuite, ADuplicateRefusesTheWholeTransaction) {
  auto first = alice.commit({{"app.a.x/1", "one"}});
  apply(first);
  // The same commit again, at the next indices.
  for (auto& stream : first.request.streams)
    stream.revision = 1;
  for (auto& x : first.operations)
    x.index = 1;
  const auto again = first.on(store());
  EXPECT_EQ(again.outcome, apply_outcome::duplicate_operation);
  const auto stored = store().get(of(alice, "$commit"), 0).value();
  EXPECT_THAT(again.reason, HasSubstr(op_id_text(stored->hashes->operation)));
  EXPECT_EQ(store().last_id(), 2u);
}

// OPLOG-07
TEST_P(OperationStoreSuite, AnOperationIsStagedOnce) {
  auto step = alice.commit({{"app.a.x/1", "one"}});
  auto twice = step.operations.front();
  twice.index = 1;
  step.operations.insert(step.operations.begin() + 1, twice);
  EXPECT_EQ(outcome(step), apply_outcome::duplicate_operation);
  EXPECT_EQ(store().last_id(), 0u);
}

TEST_P(OperationStoreSuite, ACommitIsLaterThanTheOneBefore) {
  const auto early = alice.commit({{"app.a.x/1", "one"}});
  auto late = alice.commit({{"app.a.x/2", "two"}});
  for (auto& stream : late.request.streams)
    stream.revision = 0;
  for (auto& x : late.operations)
    x.index = 0;
  apply(late);
  auto behind = early;
  for (auto& stream : behind.request.streams)
    stream.revision = 1;
  for (auto& x : behind.operations)
    x.index = 1;
  EXPECT_EQ(outcome(behind), apply_outcome::invalid_operation);
}

TEST_P(OperationStoreSuite, ARepeatIsAnsweredWithWhatIsStored) {
  auto step = alice.commit({{"app.a.x/1", "one"}, {"app.a.x/2", "two"}});
  apply(step);
  EXPECT_EQ(outcome(step), apply_outcome::revision_mismatch);
  step.request.idempotent = true;
  const auto again = step.on(store());
  EXPECT_EQ(again.outcome, apply_outcome::replayed) << again.reason;
  EXPECT_EQ(again.first, 1u);
  EXPECT_EQ(again.last, 3u);
  EXPECT_EQ(store().last_id(), 3u);
}

TEST_P(OperationStoreSuite, AConflictIsNoRepeat) {
  auto step = alice.commit({{"app.a.x/1", "one"}});
  apply(step);
  tests::applying_account other{'a'};
  auto conflict = other.commit({{"app.a.x/1", "two"}});
  conflict.request.idempotent = true;
  const auto receipt = conflict.on(store());
  EXPECT_EQ(receipt.outcome, apply_outcome::revision_mismatch);
  EXPECT_EQ(receipt.expected, 0u);
  EXPECT_EQ(receipt.actual, 1u);
}

TEST_P(OperationStoreSuite, AHalfOfATransactionIsNoRepeat) {
  auto step = alice.commit({{"app.a.x/1", "one"}});
  apply(step);
  step.request.idempotent = true;
  auto other = step.operations.front();
  other.index = 1;
  other.operation.rkey = "2";
  step.operations.insert(step.operations.begin() + 1, other);
  EXPECT_EQ(outcome(step), apply_outcome::revision_mismatch);
  EXPECT_EQ(store().last_id(), 2u);
}

// OPLOG-21
TEST_P(OperationStoreSuite, NothingIsVisibleBeforeTheCallbackEnds) {
  const auto step = alice.commit({{"app.a.x/1", "one"}});
  const auto receipt
    = store()
        .apply(step.request,
               [&](operation_staging& to) {
                 auto ok = to.add_operations(step.operations[0],
                                             step.operations[1]);
                 EXPECT_EQ(store().last_id(), 0u);
                 EXPECT_FALSE(store().get(of(alice, "app.a.x"), 0).value());
                 return ok;
               })
        .value();
  EXPECT_EQ(receipt.outcome, apply_outcome::done) << receipt.reason;
  EXPECT_TRUE(store().get(of(alice, "app.a.x"), 0).value());
}

// OPLOG-21
TEST_P(OperationStoreSuite, ACallbackThatFailsWritesNothing) {
  const auto step = alice.commit({{"app.a.x/1", "one"}});
  const auto receipt
    = store()
        .apply(step.request,
               [&](operation_staging& to) -> result<void> {
                 EXPECT_TRUE(to.add_operations(step.operations[0]));
                 return fail(ec::chain_broken, "on purpose");
               })
        .value();
  EXPECT_EQ(receipt.outcome, apply_outcome::staging_failed);
  EXPECT_EQ(receipt.reason, "on purpose");
  EXPECT_EQ(store().last_id(), 0u);
}

TEST_P(OperationStoreSuite, ACallbackThatThrowsLeavesTheStoreUsable) {
  const auto step = alice.commit({{"app.a.x/1", "one"}});
  EXPECT_THROW((void) store().apply(step.request,
                                    [](operation_staging&) -> result<void> {
                                      throw std::runtime_error("on purpose");
                                    }),
               std::runtime_error);
  EXPECT_EQ(store().last_id(), 0u);
  EXPECT_EQ(outcome(step), apply_outcome::done);
}

// OPLOG-17
TEST_P(OperationStoreSuite, StagingAfterTheEndIsAnError) {
  const auto step = alice.commit({{"app.a.x/1", "one"}});
  std::optional<operation_staging> kept_staging;
  const auto receipt
    = store().apply(step.request, [&](operation_staging& to) {
        kept_staging = to;
        return to.add_operations(step.operations[0], step.operations[1]);
      });
  EXPECT_EQ(receipt->outcome, apply_outcome::done) << receipt->reason;
  const auto late = kept_staging->add_operations(step.operations[0]);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ec::invalid_argument);
  EXPECT_EQ(store().last_id(), 2u);
}

// OPLOG-10
TEST_P(OperationStoreSuite, OneTransactionIsUnderWayAtATime) {
  const auto step = alice.commit({{"app.a.x/1", "one"}});
  const auto inner = bob.commit({{"app.a.x/1", "one"}});
  const auto receipt
    = store().apply(step.request, [&](operation_staging& to) {
        EXPECT_EQ(outcome(inner), apply_outcome::lock_failed);
        return to.add_operations(step.operations[0], step.operations[1]);
      });
  EXPECT_EQ(receipt->outcome, apply_outcome::done) << receipt->reason;
  EXPECT_EQ(outcome(inner), apply_outcome::done);
}

// OPLOG-16: before anything is staged, and before it is written.
TEST_P(OperationStoreSuite, ATransactionCanBeCancelledUntilItIsWritten) {
  auto step = alice.commit({{"app.a.x/1", "one"}});
  for (const int asked_before : {0, 1}) {
    int asked = 0;
    step.request.cancelled = [&] {
      return asked++ == asked_before;
    };
    EXPECT_EQ(outcome(step), apply_outcome::cancelled);
    EXPECT_EQ(store().last_id(), 0u);
  }
  step.request.cancelled = [] {
    return false;
  };
  EXPECT_EQ(outcome(step), apply_outcome::done);
}

// OPLOG-22
TEST_P(OperationStoreSuite, IdsHaveNoGapsAfterRefusals) {
  write_a_little();
  const auto last = store().last_id();
  auto step = alice.commit({{"app.a.x/5", "five"}});
  step.request.cancelled = [] {
    return true;
  };
  EXPECT_EQ(outcome(step), apply_outcome::cancelled);
  kept->reopen();
  step.request.cancelled = {};
  EXPECT_EQ(step.on(store()).first, last + 1);
}

// One operation more than a transaction may have.
TEST_P(OperationStoreSuite, ATransactionHoldsUpToItsLimit) {
  const auto chunk = [&](size_t count) {
    std::vector<tests::change> out;
    for (size_t i = 0; i < count; ++i)
      out.push_back({tests::numbered("app.a.x/", ++written), "r"});
    return alice.chunk(out);
  };
  const auto over = chunk(limits::transaction_ops_max + 1);
  EXPECT_EQ(outcome(over), apply_outcome::invalid_operation);
  alice.undo(over);
  EXPECT_EQ(outcome(chunk(limits::transaction_ops_max)), apply_outcome::done);
}

TEST_P(OperationStoreSuite, ContentIsTakenUpToItsLimit) {
  const std::string body(limits::apply_bytes_max / 8, 'x');
  const auto chunk = [&](size_t rest) {
    std::vector<tests::change> out;
    for (int i = 0; i < 7; ++i)
      out.push_back({"app.a.x/" + std::to_string(i), body});
    out.push_back({"app.a.x/7", body.substr(0, body.size() - rest)});
    out.push_back({"app.a.x/8", "12345678"});
    return alice.chunk(out);
  };
  const auto over = chunk(7);
  EXPECT_EQ(outcome(over), apply_outcome::invalid_operation);
  alice.undo(over);
  EXPECT_EQ(outcome(chunk(8)), apply_outcome::done);
}

} // namespace weir::storage
