#include "apps/demo/proof.hpp"

#include <gtest/gtest.h>

namespace weir::apps {

namespace {

/// One account, equal everywhere until a test changes one side.
class CompareTest : public testing::Test {
protected:
  CompareTest() {
    account.account.id = atproto::did::trusted(did);
    account.account.handle = "a.test";
    account.account.rev = *atproto::tid::parse(rev);
    account.records = {{"a.b.c/x", atproto::cid::of_dag_cbor(as_bytes("x"))},
                       {"a.b.c/y", atproto::cid::of_dag_cbor(as_bytes("y"))}};
    node[did] = {"synced", rev, 2, true, {}};
    tell(R"("type":"identity","identity":{"did":")" + did
         + R"(","handle":"a.test","is_active":true,"status":"active"})");
    create("x", "x");
    create("y", "y");
  }

  void tell(const std::string& rest) {
    ASSERT_TRUE(
      copy.take("{\"id\":" + std::to_string(++last_id) + "," + rest + "}", {}));
  }

  void create(const std::string& rkey, const std::string& content) {
    tell(R"("type":"record","record":{"live":false,"did":")" + did
         + R"(","rev":")" + rev + R"(","collection":"a.b.c","rkey":")" + rkey
         + R"(","action":"create","cid":")"
         + atproto::cid::of_dag_cbor(as_bytes(content)).to_text() + "\"}");
  }

  comparison run() const { return compare({&account, 1}, node, copy); }

  const std::string did = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
  const std::string rev = "3lbhuyqgbbc2a";
  simnet::expected_account account;
  std::map<std::string, listed_repo> node;
  event_copy copy;
  uint64_t last_id = 0;
};

} // namespace

TEST_F(CompareTest, EqualCopiesAreEqual) {
  const auto x = run();
  EXPECT_TRUE(x.equal()) << x.differences.front();
  EXPECT_EQ(x.active, 1u);
  EXPECT_EQ(x.records, 2u);
}

TEST_F(CompareTest, EveryDifferenceOfTheNodeIsFound) {
  node[did].status = "desync";
  EXPECT_FALSE(run().equal());
  node[did] = {"synced", "3lbhuyqgbbc22", 2, true, {}};
  EXPECT_FALSE(run().equal());
  node[did] = {"synced", rev, 3, true, {}};
  EXPECT_FALSE(run().equal());
  node.clear();
  EXPECT_FALSE(run().equal());
}

TEST_F(CompareTest, ARecordOfAnotherContentIsFound) {
  create("y", "z");
  EXPECT_EQ(run().wrong, std::set{did});
}

TEST_F(CompareTest, ARecordTooManyIsFound) {
  create("z", "z");
  EXPECT_EQ(run().wrong, std::set{did});
}

TEST_F(CompareTest, ARecordTooFewIsFound) {
  account.records.push_back(
    {"a.b.c/z", atproto::cid::of_dag_cbor(as_bytes("z"))});
  node[did].records = 3;
  EXPECT_EQ(run().wrong, std::set{did});
}

TEST_F(CompareTest, AnotherHandleIsFound) {
  account.account.handle = "b.test";
  EXPECT_EQ(run().wrong, std::set{did});
}

TEST_F(CompareTest, AnAccountThatWentAwayMustBeKnownAsThat) {
  account.account.status = simnet::standing::takendown;
  EXPECT_FALSE(run().equal());
  tell(R"("type":"identity","identity":{"did":")" + did
       + R"(","handle":"a.test","is_active":false,"status":"takendown"})");
  EXPECT_TRUE(run().equal());
  account.account.status = simnet::standing::deleted;
  EXPECT_FALSE(run().equal());
}

TEST_F(CompareTest, OfADeletedAccountNothingIsLeft) {
  account.account.status = simnet::standing::deleted;
  tell(R"("type":"identity","identity":{"did":")" + did
       + R"(","handle":"a.test","is_active":false,"status":"deleted"})");
  EXPECT_FALSE(run().equal()); // The node still has two records.
  node[did].records = 0;
  EXPECT_TRUE(run().equal());
  create("late", "late");
  EXPECT_FALSE(run().equal());
}

TEST_F(CompareTest, AccountsThatNobodyKnowsAreFound) {
  node["did:plc:bbbbbbbbbbbbbbbbbbbbbbbb"] = {"synced", rev, 0, true, {}};
  EXPECT_FALSE(run().equal());
}

} // namespace weir::apps
