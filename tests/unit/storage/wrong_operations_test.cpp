#include "tests/unit/storage/operation_store_suite.hpp"

// The suite of all operation stores: operations that no store can have.

namespace weir::storage {

using tests::apply_step;

/// Changes one thing of a commit that would be fine.
class WrongOperationSuite : public OperationStoreSuite {
protected:
  template <class Change>
  void refuses(Change change) {
    auto step = alice.commit({{"app.a.x/1", "one"}});
    change(step);
    EXPECT_EQ(outcome(step), apply_outcome::invalid_operation);
    EXPECT_EQ(store().last_id(), 0u);
    alice = tests::applying_account{'a'};
  }
};

INSTANTIATE_TEST_SUITE_P(all, WrongOperationSuite,
                         testing::ValuesIn(tests::store_kinds()),
                         [](const auto& x) { return x.param.name; });

TEST_P(WrongOperationSuite, ContentIsWhatTheCidSays) {
  refuses([](apply_step& x) {
    x.operations[0].operation.id = tests::cid_of("other");
  });
  refuses([](apply_step& x) {
    x.operations[1].operation.content = {};
  });
  refuses([](apply_step& x) {
    x.operations[0].operation.content = {};
  });
}

TEST_P(WrongOperationSuite, ACommitIsOfItsRepoAndRev) {
  refuses([](apply_step& x) {
    x.request.rev = atproto::tid{x.request.rev.value() + 1};
    x.request.time_us = x.request.rev.time().micros;
  });
  refuses([&](apply_step& x) {
    x.request.repo = bob.who.repo;
  });
}

// The heads of records would not follow.
TEST_P(WrongOperationSuite, ARecordChangesOnceInATransaction) {
  auto step = alice.commit({{"app.a.x/1", "one"}, {"app.a.x/2", "two"}});
  step.operations[1].operation.rkey = "1";
  EXPECT_EQ(outcome(step), apply_outcome::invalid_operation);
}

// A repeat could not be told from a new commit.
TEST_P(WrongOperationSuite, ACommitHasItsBlockOnce) {
  refuses([](apply_step& x) {
    x.operations.pop_back();
    x.request.streams.pop_back();
  });
  refuses([](apply_step& x) {
    auto twice = x.operations.back();
    ++twice.index;
    twice.operation.action = atproto::op_action::update;
    x.operations.push_back(twice);
  });
}

TEST_P(WrongOperationSuite, WhatIsNoRecordCanBeDecoded) {
  refuses([](apply_step& x) {
    x.operations.back().operation.undecodable = true;
  });
}

TEST_P(WrongOperationSuite, AnEnvelopeIsLiveOrOfAFetch) {
  refuses([](apply_step& x) {
    x.request.live = false;
  });
  refuses([](apply_step& x) {
    x.request.job = 5;
  });
  refuses([](apply_step& x) {
    ++x.request.time_us;
  });
}

TEST_P(WrongOperationSuite, AScopeIsOneThatTheRequestNames) {
  refuses([](apply_step& x) {
    x.operations[0].operation.scope = "app.z.z";
  });
  refuses([](apply_step& x) {
    x.operations[0].operation.scope = "$local";
    x.operations[0].operation.rkey = "";
    x.request.streams.push_back({"$local", 0});
  });
}

TEST_P(WrongOperationSuite, AFactSaysWhatARowCanSay) {
  const auto fact = [&](const std::string& text) {
    auto step = alice.fact(identity_scope, "alice.test");
    alice.undo(step);
    auto& op = step.operations[0].operation;
    op.content = shared_bytes::copy_of(as_bytes(text));
    op.id = atproto::cid::of_raw(op.content.view());
    return step;
  };
  EXPECT_EQ(outcome(fact("{}")), apply_outcome::invalid_operation);
  EXPECT_EQ(
    outcome(fact(
      R"({"handle":"a.test","is_active":false,"status":"active"})")),
    apply_outcome::invalid_operation);
}

} // namespace weir::storage
