#include "apps/demo/copy.hpp"
#include "atproto/identifiers.hpp"

#include <gtest/gtest.h>

namespace weir::apps {

namespace {

const std::string did = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const std::string rev = "3lbhuyqgbbc2a";
const std::string cid
  = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";

std::string record(uint64_t id, std::string_view rkey,
                   std::string_view action = "create", bool live = false) {
  std::string out
    = R"({"id":)" + std::to_string(id) + R"(,"type":"record","record":{"live":)"
      + (live ? "true" : "false") + R"(,"did":")" + did + R"(","rev":")" + rev
      + R"(","collection":"a.b.c","rkey":")" + std::string{rkey}
      + R"(","action":")" + std::string{action} + '"';
  if (action != "delete")
    out += R"(,"cid":")" + cid + R"(","record":{"$type":"a.b.c"})";
  return out + "}}";
}

std::string identity(uint64_t id, std::string_view status) {
  return R"({"id":)" + std::to_string(id)
         + R"(,"type":"identity","identity":{"did":")" + did
         + R"(","handle":"a.test","is_active":)"
         + (status == "active" ? "true" : "false") + R"(,"status":")"
         + std::string{status} + R"("}})";
}

class EventCopyTest : public testing::Test {
protected:
  bool take(const std::string& text) {
    return copy.take(text, {2'000'000'000'000'000}).has_value();
  }

  const copied_account& account() const {
    return copy.accounts().find(did)->second;
  }

  event_copy copy;
};

} // namespace

TEST_F(EventCopyTest, RecordsComeChangeAndGo) {
  EXPECT_TRUE(take(record(1, "x")));
  EXPECT_TRUE(take(record(2, "y")));
  EXPECT_TRUE(take(record(3, "y", "update", true)));
  EXPECT_TRUE(copy.take(record(4, "x", "delete", true), {})->live);
  EXPECT_FALSE(copy.take(record(1, "x"), {})->live);
  EXPECT_EQ(account().records.size(), 1u);
  EXPECT_EQ(account().records.at("a.b.c/y"), cid);
  EXPECT_EQ(copy.counts().records, 4u);
}

TEST_F(EventCopyTest, AnAccountThatIsDeletedLosesItsRecords) {
  EXPECT_TRUE(take(record(1, "x")));
  EXPECT_TRUE(take(identity(2, "active")));
  EXPECT_TRUE(account().active);
  EXPECT_TRUE(take(identity(3, "takendown")));
  EXPECT_FALSE(account().active);
  EXPECT_EQ(account().records.size(), 1u);
  EXPECT_TRUE(take(identity(4, "deleted")));
  EXPECT_TRUE(account().records.empty());
}

TEST_F(EventCopyTest, AnEventThatComesAgainChangesNothing) {
  EXPECT_TRUE(take(record(1, "x")));
  EXPECT_TRUE(take(record(2, "x", "delete")));
  EXPECT_TRUE(copy.take(record(1, "x"), {})->again);
  EXPECT_TRUE(account().records.empty());
  EXPECT_EQ(copy.counts().redelivered, 1u);
  EXPECT_EQ(copy.counts().conflicts, 0u);
  EXPECT_EQ(copy.counts().out_of_order, 0u);
}

TEST_F(EventCopyTest, AnIdWithTwoContentsIsNoticed) {
  EXPECT_TRUE(take(record(1, "x")));
  EXPECT_TRUE(take(record(1, "y")));
  EXPECT_TRUE(take(record(1, "x", "delete")));
  EXPECT_TRUE(take(identity(1, "active")));
  EXPECT_EQ(copy.counts().conflicts, 3u);
}

TEST_F(EventCopyTest, ANewIdBelowAnOlderOneOfTheAccountIsNoticed) {
  EXPECT_TRUE(take(record(5, "x")));
  EXPECT_TRUE(take(record(4, "y")));
  EXPECT_EQ(copy.counts().out_of_order, 1u);
}

TEST_F(EventCopyTest, WhatTapsClientsWouldRefuseIsUnreadable) {
  for (const auto& x :
       {std::string{}, std::string{"[]"}, std::string{"{}"},
        std::string{R"({"id":1,"type":"record"})"}, identity(0, "active"),
        R"({"id":"1)" + identity(1, "active").substr(6),
        record(1, "x", "replace"), record(1, "not a key"), identity(1, "")})
    EXPECT_FALSE(take(x)) << x;
  EXPECT_EQ(copy.counts().unreadable, 9u);
  EXPECT_TRUE(copy.ids().empty());
}

TEST_F(EventCopyTest, LatencyCountsFromTheRevisionOfLiveRecords) {
  const auto written = atproto::tid::parse(rev)->time();
  using std::chrono::microseconds;
  copy.take(record(1, "x"), written + microseconds{50});
  copy.take(record(2, "y", "create", true), written + microseconds{700});
  copy.take(record(3, "z", "create", true), written + microseconds{300});
  copy.take(record(3, "z", "create", true), written + microseconds{900});
  EXPECT_EQ(copy.latencies(),
            (std::vector{microseconds{300}, microseconds{700}}));
}

} // namespace weir::apps
