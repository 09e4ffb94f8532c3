#include "wire/tap.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// api.md, Events: the published clients of Tap must accept them.
namespace weir::tests {

namespace {

namespace json = boost::json;
using atproto::op_action;

const std::string who = "did:plc:" + std::string(24, 'a');
const auto rev = *atproto::tid::parse("3jzfcijpj2z2a");

/// {"text":"hi"}
const bytes hi{0xa1, 0x64, 't', 'e', 'x', 't', 0x62, 'h', 'i'};

std::string record_text(op_action action, bytes_view body, bool live = true) {
  const auto id = atproto::cid::of_dag_cbor(body);
  std::string out;
  wire::append_tap_record(
    {123, live, who, rev, "app.bsky.feed.post", "3k:~._-", action, id, body},
    out);
  return out;
}

json::object record_of(op_action action, bytes_view body) {
  const auto x = json::parse(record_text(action, body)).as_object();
  return x.at("record").as_object();
}

json::object identity_of(const wire::account_fact& fact) {
  std::string out;
  wire::append_tap_identity(9, who, fact, out);
  return json::parse(out).as_object();
}

} // namespace

TEST(TapRecord, HasExactlyTheFieldsOfTheWire) {
  const auto cid = atproto::cid::of_dag_cbor(hi).to_text();
  EXPECT_EQ(record_text(op_action::create, hi),
            R"({"id":123,"type":"record","record":{"live":true,"did":")" + who
              + R"(","rev":"3jzfcijpj2z2a","collection":"app.bsky.feed.post",)"
                R"("rkey":"3k:~._-","action":"create","cid":")"
              + cid + R"(","record":{"text":"hi"}}})");
}

TEST(TapRecord, SaysUpdateAndHistory) {
  const auto text = record_text(op_action::update, hi, false);
  EXPECT_NE(text.find(R"("live":false)"), std::string::npos);
  EXPECT_NE(text.find(R"("action":"update")"), std::string::npos);
}

TEST(TapRecord, OfADeleteHasNeitherCidNorRecord) {
  const auto x = record_of(op_action::remove, hi);
  EXPECT_EQ(x.at("action").as_string(), "delete");
  EXPECT_FALSE(x.contains("cid"));
  EXPECT_FALSE(x.contains("record"));
}

TEST(TapRecord, WithoutBytesKeepsItsCid) {
  const auto x = record_of(op_action::create, {});
  EXPECT_TRUE(x.contains("cid"));
  EXPECT_FALSE(x.contains("record"));
}

// protocol-coverage.md 6.7
TEST(TapRecord, ThatAClientWouldRefuseKeepsItsCidOnly) {
  const std::vector<std::pair<const char*, bytes>> hazards{
    {"a float", {0xa1, 0x61, 'f', 0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}},
    {"an integer of 2^53", {0xa1, 0x61, 'i', 0x1b, 0, 0x20, 0, 0, 0, 0, 0, 0}},
    {"the key __proto__",
     {0xa1, 0x69, '_', '_', 'p', 'r', 'o', 't', 'o', '_', '_', 0x01}},
    {"a bad link", {0xa1, 0x65, '$', 'l', 'i', 'n', 'k', 0x61, 'x'}},
    {"cut bytes", {0xa1, 0x64, 't', 'e'}},
    {"bytes behind it", {0xa0, 0x00}},
  };
  for (const auto& [what, body] : hazards) {
    const auto x = record_of(op_action::create, body);
    EXPECT_EQ(x.at("cid").as_string(),
              atproto::cid::of_dag_cbor(body).to_text())
      << what;
    EXPECT_FALSE(x.contains("record")) << what;
  }
}

TEST(TapRecord, IsAppended) {
  std::string out = "before";
  wire::append_tap_record(
    {1, true, who, rev, "a.b.c", "self", op_action::remove, {}, {}}, out);
  EXPECT_TRUE(out.starts_with("before{\"id\":1,"));
}

TEST(TapIdentity, HasExactlyTheFieldsOfTheWire) {
  std::string out;
  wire::append_tap_identity(124, who, {"who.test", true, "active"}, out);
  EXPECT_EQ(out, R"({"id":124,"type":"identity","identity":{"did":")" + who
                   + R"(","handle":"who.test","is_active":true,)"
                     R"("status":"active"}})");
}

// protocol-coverage.md 8.8
TEST(TapIdentity, NeverSendsAHandleThatClientsRefuse) {
  for (const auto* handle : {"", "no handle", "handle.invalid", "a.b.", "\xff"})
    EXPECT_EQ(identity_of({handle, true, "active"})
                .at("identity")
                .as_object()
                .at("handle")
                .as_string(),
              "handle.invalid");
}

// protocol-coverage.md 4.t6
TEST(TapIdentity, KnowsFiveStatuses) {
  const auto status = [](bool active, std::string word) {
    const auto x = identity_of({"who.test", active, std::move(word)});
    const auto& identity = x.at("identity").as_object();
    EXPECT_EQ(identity.at("is_active").as_bool(), active);
    return std::string{identity.at("status").as_string()};
  };
  for (const auto* word : {"takendown", "suspended", "deactivated", "deleted"})
    EXPECT_EQ(status(false, word), word);
  for (const auto* word :
       {"desynchronized", "throttled", "active", "", "unheard of"})
    EXPECT_EQ(status(false, word), "deactivated");
  EXPECT_EQ(status(true, "active"), "active");
  EXPECT_EQ(status(true, "throttled"), "active");
}

TEST(TapInfo, AlwaysHasWhatClientsAskFor) {
  std::string out;
  wire::append_tap_info({who, "", "pending", "active", {}, 0, "", 0}, out);
  EXPECT_EQ(out, R"({"did":")" + who
                   + R"(","handle":"handle.invalid","state":"pending",)"
                     R"("rev":"","records":0})");
}

TEST(TapInfo, ShowsErrorAndRetries) {
  std::string out;
  wire::append_tap_info(
    {who, "who.test", "error", "active", rev, 5, "unreachable: \"x\"", 2}, out);
  const auto x = json::parse(out).as_object();
  EXPECT_EQ(x.at("rev").as_string(), "3jzfcijpj2z2a");
  EXPECT_EQ(x.at("records").as_int64(), 5);
  EXPECT_EQ(x.at("error").as_string(), "unreachable: \"x\"");
  EXPECT_EQ(x.at("retries").as_int64(), 2);
}

TEST(TapInfo, SpeaksOfStatesInTapsWords) {
  const auto state = [](const char* status, const char* account) {
    std::string out;
    wire::append_tap_info({who, "", status, account, {}, 0, "", 0}, out);
    return std::string{json::parse(out).as_object().at("state").as_string()};
  };
  EXPECT_EQ(state("pending", "active"), "pending");
  EXPECT_EQ(state("syncing", "active"), "resyncing");
  EXPECT_EQ(state("synced", "active"), "active");
  EXPECT_EQ(state("desync", "active"), "desynchronized");
  EXPECT_EQ(state("error", "active"), "error");
  EXPECT_EQ(state("synced", "takendown"), "takendown");
}

TEST(TapStats, AreOneNumberEach) {
  std::string out;
  wire::append_count("outbox_buffer", 18'446'744'073'709'551'615u, out);
  EXPECT_EQ(out, R"({"outbox_buffer":18446744073709551615})");
}

TEST(TapStats, LeaveOutUnknownCursors) {
  std::string out;
  wire::append_cursors({}, "", out);
  EXPECT_EQ(out, R"({"upstreams":[]})");
  out.clear();
  const std::vector<wire::upstream_cursor> two{{"https://a.example", 7},
                                               {"https://b.example", 0}};
  wire::append_cursors(two, "c", out);
  EXPECT_EQ(out, R"({"upstreams":[{"url":"https://a.example","cursor":7},)"
                 R"({"url":"https://b.example","cursor":0}],"firehose":7,)"
                 R"("list_repos":"c"})");
}

} // namespace weir::tests
