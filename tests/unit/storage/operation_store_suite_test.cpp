#include "tests/unit/storage/operation_store_suite.hpp"

#include <map>

// The suite of all operation stores: what they answer.

namespace weir::storage {

using tests::all_pages;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

INSTANTIATE_TEST_SUITE_P(all, OperationStoreSuite,
                         testing::ValuesIn(tests::store_kinds()),
                         [](const auto& x) { return x.param.name; });

// OPLOG-16
TEST_P(OperationStoreSuite, EveryReadCanBeCancelled) {
  write_a_little();
  read_bounds bounds;
  bounds.cancelled = [] {
    return true;
  };
  const auto stream = of(alice, "app.a.x");
  EXPECT_EQ(store().get(stream, 0, bounds).error().code, ec::cancelled);
  EXPECT_EQ(store().get_since(stream, {}, bounds).error().code, ec::cancelled);
  EXPECT_EQ(store().get_since_time(stream, 0, {}, bounds).error().code,
            ec::cancelled);
  EXPECT_EQ(store().get_since_id(0, {}, bounds).error().code, ec::cancelled);
  EXPECT_EQ(store().get_header(alice.who.repo, 0, bounds).error().code,
            ec::cancelled);
}

// OPLOG-12
TEST_P(OperationStoreSuite, OneOperationIsFoundByItsIndex) {
  write_a_little();
  const auto one = store().get(of(alice, "app.a.x"), 1).value();
  ASSERT_TRUE(one);
  EXPECT_EQ(one->action, atproto::op_action::update);
  EXPECT_EQ(as_text(one->body.view()), "three");
  EXPECT_EQ(one->in->repo, alice.who.repo);
  EXPECT_EQ(one->index, 1u);
  EXPECT_FALSE(store().get(of(alice, "app.a.x"), 3).value());
  EXPECT_FALSE(store().get(of(alice, "app.c.z"), 0).value());
  EXPECT_FALSE(store().get(of(bob, "app.b.y"), 0).value());
  const auto bare
    = store().get(of(alice, "app.a.x"), 1, {.with_content = false}).value();
  EXPECT_TRUE(bare->body.empty());
  EXPECT_EQ(bare->content, content_state::present);
  const auto invalid = store().get(of(alice, "app.a.x"), 2).value();
  EXPECT_EQ(invalid->content, content_state::invalid);
}

// OPLOG-13: exclusive.
TEST_P(OperationStoreSuite, AStreamIsReadAfterAnIndex) {
  write_a_little();
  const auto stream = of(alice, "app.a.x");
  EXPECT_THAT(indices(store().get_since(stream, {})), ElementsAre(0, 1, 2));
  EXPECT_THAT(indices(store().get_since(stream, 0)), ElementsAre(1, 2));
  EXPECT_THAT(indices(store().get_since(stream, 2)), IsEmpty());
  EXPECT_THAT(indices(store().get_since(stream, UINT64_MAX)), IsEmpty());
}

// OPLOG-14: inclusive, and numbers are compared as numbers.
TEST_P(OperationStoreSuite, FromATimeOnWithAllThatShareIt) {
  for (const auto ms : {9, 10, 10, 100}) {
    alice.who.rev = static_cast<uint64_t>(ms) * 1'000 * 1'024
                    + alice.who.rev % 1'024;
    apply(alice.commit({{"app.a.x/" + std::to_string(++written), "r"}}));
  }
  const auto stream = of(alice, "app.a.x");
  const auto since = [&](int64_t ms) {
    return indices(store().get_since_time(stream, ms, {}));
  };
  EXPECT_THAT(since(9), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(since(10), ElementsAre(1, 2, 3));
  EXPECT_THAT(since(11), ElementsAre(3));
  EXPECT_THAT(since(101), IsEmpty());
}

// OPLOG-15: ids begin with 1, so after 0 comes the first one.
TEST_P(OperationStoreSuite, FromZeroTheFirstOneComesAndOrderIsThatOfIds) {
  write_a_little();
  const auto page = store().get_since_id(0).value();
  ASSERT_EQ(page.found.size(), store().last_id());
  for (size_t i = 0; i < page.found.size(); ++i)
    EXPECT_EQ(page.found[i].id, i + 1);
  EXPECT_THAT(store().get_since_id(store().last_id()).value().found,
              IsEmpty());
}

// OPLOG-15
TEST_P(OperationStoreSuite, PagesAreFullHoweverFewFit) {
  for (int i = 0; i < 40; ++i)
    apply((i % 10 == 0 ? bob : alice)
            .commit({{"app.a.x/" + std::to_string(i), "r"}}));
  operation_filter filter;
  filter.repo = bob.who.repo;
  filter.scopes = {"app.a.x"};
  const auto page
    = store().get_since_id(0, filter, {.ops_max = 3}).value();
  EXPECT_THAT(page.found, SizeIs(3));
  EXPECT_TRUE(page.more);
  EXPECT_THAT(everything({.ops_max = 3}, filter), SizeIs(4));
  filter.actions = {atproto::op_action::remove};
  EXPECT_THAT(everything({}, filter), IsEmpty());
}

TEST_P(OperationStoreSuite, PagesOfAnySizeAreTheSame) {
  for (int i = 0; i < 20; ++i)
    apply(alice.commit({{"app.a.x/" + std::to_string(i), std::string(i, 'b')},
                        {"app.b.y/" + std::to_string(i), "y"}}));
  const auto all = everything();
  EXPECT_EQ(everything({.ops_max = 1}), all);
  EXPECT_EQ(everything({.bytes_max = 20}), all);
  EXPECT_EQ(everything({.looked_max = 2}), all);
  const auto stream = [&](const read_bounds& bounds) {
    return all_pages([&](std::optional<uint64_t> after) {
      return store().get_since(of(alice, "app.a.x"), after, bounds);
    });
  };
  EXPECT_EQ(stream({.ops_max = 1}), stream({}));
  EXPECT_EQ(stream({.ops_max = 7}), stream({}));
  EXPECT_THAT(stream({}), SizeIs(20));
}

// OPLOG-25
TEST_P(OperationStoreSuite, EachNamesTheOneBeforeIt) {
  write_a_little();
  const auto page = store().get_since(of(alice, "app.a.x"), {}).value();
  EXPECT_FALSE(page.found[0].hashes->previous);
  for (size_t i = 1; i < page.found.size(); ++i)
    EXPECT_EQ(page.found[i].hashes->previous,
              page.found[i - 1].hashes->operation);
}

// OPLOG-06: the time of the write and the reopening change no hash.
TEST_P(OperationStoreSuite, HashesAreThoseOfTheOperations) {
  write_a_little();
  kept->reopen();
  kept->time.advance(std::chrono::hours{1});
  const auto receipt = alice.commit({{"app.a.x/7", "seven"}}).on(store());
  const auto other = GetParam().make();
  tests::applying_account twin{'a'};
  for (const auto& step :
       {twin.fact(identity_scope, "alice.test"),
        twin.commit({{"app.a.x/1", "one"}, {"app.b.y/1", "two"}}),
        twin.commit({{"app.a.x/1", "three"},
                     {"app.a.x/2", "no record", true},
                     {"app.b.y/1", ""}})})
    EXPECT_EQ(step.on(other->get()).outcome, apply_outcome::done);
  const auto same = twin.commit({{"app.a.x/7", "seven"}}).on(other->get());
  ASSERT_EQ(receipt.ends.size(), same.ends.size());
  std::map<std::string, atproto::digest> hashes;
  for (const auto& end : receipt.ends)
    hashes[end.scope] = end.hash;
  for (const auto& end : same.ends)
    EXPECT_EQ(hashes[end.scope], end.hash) << end.scope;
}

TEST_P(OperationStoreSuite, ReopeningChangesNoAnswer) {
  write_a_little();
  const auto before = everything();
  kept->reopen();
  EXPECT_EQ(everything(), before);
  EXPECT_EQ(store().next_index(of(alice, "app.a.x")).value(), 3u);
}

// OPLOG-11
TEST_P(OperationStoreSuite, AHeaderIsReadAtEachRevision) {
  apply(alice.commit({{"app.a.x/1", "one"}}));
  EXPECT_FALSE(store().get_header(alice.who.repo, 1).value());
  apply(alice.fact(identity_scope, "first.test"));
  apply(alice.commit({{"app.a.x/2", "two"}}));
  apply(alice.fact(identity_scope, "second.test"));
  apply(alice.fact(account_scope, "second.test", account_status::suspended));
  apply(alice.commit({{"app.a.x/3", "three"}}));
  const auto at = [&](uint64_t revision) {
    const auto x = store().get_header(alice.who.repo, revision).value();
    return x ? x->handle + " " + to_string(x->account) : "none";
  };
  EXPECT_EQ(at(0), "none");
  EXPECT_EQ(at(1), "first.test active");
  EXPECT_EQ(at(2), "second.test suspended");
  EXPECT_EQ(at(3), "second.test suspended");
  EXPECT_EQ(at(UINT64_MAX), "second.test suspended");
  EXPECT_FALSE(store().get_header(bob.who.repo, 0).value());
}

} // namespace weir::storage
