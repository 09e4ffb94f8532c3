#include "wire/completeness_api.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace weir::tests {

namespace {

namespace json = boost::json;

json::object parsed(const wire::completeness_view& x) {
  std::string out;
  wire::append_completeness(x, out);
  return json::parse(out).as_object();
}

} // namespace

// completeness.md, Asking: the result with its terms, and the positions
TEST(CompletenessApi, TellsEveryTermAndEveryPosition) {
  const std::vector<wire::term_view> terms{
    {"covered", true, ""}, {"no_gap", false, "an \"event\" is missing"}};
  wire::completeness_view x;
  x.did = "did:plc:a";
  x.status = "synced";
  x.account = "active";
  x.terms = terms;
  x.upstream = {3, "https://relay.test", true, true, {3, 2, 100}, 140, 130, 50};
  x.proved = {3, 2, 100};
  x.first_rev = *atproto::tid::parse("3jzfcijpj2z2a");
  x.filter = 1;
  x.filter_in_force = 2;
  const auto out = parsed(x);
  EXPECT_FALSE(out.at("complete").as_bool());
  EXPECT_EQ(out.at("terms").at(1).at("reason").as_string(),
            "an \"event\" is missing");
  EXPECT_FALSE(out.at("terms").at(0).as_object().contains("reason"));
  EXPECT_EQ(out.at("upstream").at("whole_since").at("seq").as_int64(), 100);
  EXPECT_EQ(out.at("upstream").at("last_audited").as_int64(), 50);
  EXPECT_EQ(out.at("upstream").at("kind").as_string(), "relay");
  EXPECT_EQ(out.at("proved").at("epoch").as_int64(), 2);
  EXPECT_EQ(out.at("first_rev").as_string(), "3jzfcijpj2z2a");
  EXPECT_TRUE(out.at("last_indexed_rev").is_null());
  EXPECT_EQ(out.at("filter_in_force").as_int64(), 2);
}

TEST(CompletenessApi, SaysNothingOfAnAccountThatIsAway) {
  wire::completeness_view x;
  x.account = "deactivated";
  x.active = false;
  const auto out = parsed(x);
  EXPECT_TRUE(out.at("complete").is_null());
  EXPECT_TRUE(out.at("upstream").is_null());
  EXPECT_TRUE(out.at("proved").is_null());
}

TEST(CompletenessApi, CountsForTheNodeAndByHost) {
  wire::completeness_summary x;
  x.as_of = 7;
  x.all = {5, 3, {{"synced", 2}, {"no_gap", 1}}, "did:plc:a", 0};
  x.hosts = {{"https://a.test", {5, 3, {{"synced", 2}}, "did:plc:a", 9}}};
  x.cursor = "https://a.test";
  std::string out;
  wire::append_summary(x, out);
  const auto said = json::parse(out).as_object();
  EXPECT_EQ(said.at("as_of").as_int64(), 7);
  EXPECT_EQ(said.at("incomplete").as_int64(), 2);
  EXPECT_EQ(said.at("without").at("no_gap").as_int64(), 1);
  EXPECT_EQ(said.at("oldest_incomplete").at("did").as_string(), "did:plc:a");
  EXPECT_TRUE(said.at("oldest_incomplete").at("last_sync").is_null());
  EXPECT_EQ(said.at("hosts").at(0).at("host").as_string(), "https://a.test");
  EXPECT_EQ(said.at("cursor").as_string(), "https://a.test");
  EXPECT_FALSE(said.contains("others"));
  out.clear();
  wire::append_summary({}, out);
  EXPECT_TRUE(json::parse(out).at("as_of").is_null());
  EXPECT_TRUE(json::parse(out).at("oldest_incomplete").is_null());
}

} // namespace weir::tests
