#include "wire/operations_api.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

// Answers with operations and records: docs/api.md, `GET /v1/ops`.

namespace weir::wire {

namespace {

namespace json = boost::json;

constexpr const char* did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const auto rev = *atproto::tid::parse("3jzfcijpj2z2a");
const bytes body{0xa1, 0x61, 'n', 0x07}; // {"n": 7}
const auto cid = atproto::cid::of_dag_cbor(body);
const atproto::cid no_cid;

operation_view an_operation() {
  operation_view out;
  out.cid = &cid;
  out.id = 7;
  out.op_id = "1220aa";
  out.prev_op_id = "1220bb";
  out.hash = "cc";
  out.did = did;
  out.collection = "app.test.note";
  out.rkey = "x";
  out.rev = rev;
  out.index = 3;
  out.time_ms = 1'700'000'000'123;
  out.written_ms = 1'700'000'000'456;
  out.provenance = "live";
  out.job = "job";
  out.content = "present";
  out.body = body;
  return out;
}

std::string text_of(const operation_view& x) {
  std::string out;
  append_operation(x, out);
  return out;
}

std::set<std::string> names_of(const std::string& text) {
  std::set<std::string> out;
  const auto parsed = json::parse(text);
  for (const auto& [name, value] : parsed.as_object())
    out.emplace(name);
  return out;
}

} // namespace

TEST(OperationsApiTest, AnOperationHasAllOfItsFields) {
  EXPECT_EQ(text_of(an_operation()),
            std::string{R"({"id":7,"op_id":"1220aa","prev_op_id":"1220bb",)"}
              + R"("hash":"cc","did":")" + did
              + R"(","collection":"app.test.note","index":3,"action":"create",)"
              + R"("rkey":"x","rev":"3jzfcijpj2z2a","cid":")" + cid.to_text()
              + R"(","time_ms":1700000000123,"written_ms":1700000000456,)"
              + R"("live":true,"provenance":"live","job":"job",)"
              + R"("content":"present","record":{"n":7}})");
}

TEST(OperationsApiTest, ACommitSaysHowManyWithoutAnOperationItFollows) {
  auto commit = an_operation();
  commit.passed = 12;
  EXPECT_NE(text_of(commit).find(R"(,"passed":12,"time_ms":)"),
            std::string::npos);
}

TEST(OperationsApiTest, WhatHasNoValueIsLeftOut) {
  operation_view x;
  x.cid = &no_cid;
  x.did = did;
  x.collection = "$account";
  x.action = atproto::op_action::update;
  x.content = "none";
  EXPECT_EQ(names_of(text_of(x)),
            (std::set<std::string>{"id", "did", "collection", "index", "action",
                                   "time_ms", "written_ms", "live",
                                   "provenance", "content"}));
}

TEST(OperationsApiTest, AFactIsShownInTheWordsOfAnIdentityEvent) {
  auto x = an_operation();
  const std::string_view fact
    = R"({"handle":"alice.test","is_active":false,"status":"inactive"})";
  x.is_fact = true;
  x.body = as_bytes(fact);
  EXPECT_EQ(json::parse(text_of(x)).at("record"),
            json::parse(R"({"handle":"alice.test","is_active":false,)"
                        R"("status":"deactivated"})"));
  x.body = as_bytes(std::string_view{"no JSON"});
  EXPECT_FALSE(names_of(text_of(x)).contains("record"));
}

// The same rule as for events: docs/api.md, Events.
TEST(OperationsApiTest, ARecordThatStrictClientsRefuseIsLeftOut) {
  auto x = an_operation();
  const bytes unsafe{0xa1, 0x61, 'n', 0x1b, 0x7f, 0xff, 0xff,
                     0xff, 0xff, 0xff, 0xff, 0xff};
  x.body = unsafe;
  EXPECT_FALSE(names_of(text_of(x)).contains("record"));
  EXPECT_EQ(json::parse(text_of(x)).at("content"), "present");
}

TEST(OperationsApiTest, APageHasItsCursorAndSaysWhetherThereIsMore) {
  std::string text;
  const std::vector<operation_view> none;
  append_operations(none, "0123456789abcdef.1-0", true, text);
  EXPECT_EQ(text, R"({"operations":[],"cursor":"0123456789abcdef.1-0",)"
                  R"("more":true})");
  const std::vector two{an_operation(), an_operation()};
  text.clear();
  append_operations(two, "c", false, text);
  EXPECT_EQ(json::parse(text).at("operations").as_array().size(), 2u);
  text.clear();
  append_stream_page({did, "app.test.note", 9, none, "", false}, text);
  EXPECT_EQ(text, std::string{R"({"did":")"} + did
                    + R"(","collection":"app.test.note","next_index":9,)"
                    + R"("operations":[],"more":false})");
}

TEST(OperationsApiTest, ARecordNamesItsPlaceAndItsVersion) {
  record_view x;
  x.cid = &cid;
  x.did = did;
  x.collection = "app.test.note";
  x.rkey = "self";
  x.rev = rev;
  x.id = 5;
  x.content = "present";
  x.body = body;
  std::string text;
  append_record(x, text);
  const auto plain = std::string{R"({"uri":"at://)"} + did
                     + R"(/app.test.note/self","cid":")" + cid.to_text()
                     + R"(","rev":"3jzfcijpj2z2a","id":5,)";
  EXPECT_EQ(text, plain + R"("content":"present","record":{"n":7}})");
  x.as_of = rev;
  x.body = {};
  text.clear();
  append_record(x, text);
  EXPECT_EQ(text, plain + R"("as_of":"3jzfcijpj2z2a","content":"present"})");
  text.clear();
  append_records({did, "synced", rev, {}, "app.test.note/self"}, text);
  EXPECT_EQ(text, std::string{R"({"did":")"} + did
                    + R"(","status":"synced","rev":"3jzfcijpj2z2a",)"
                    + R"("records":[],"cursor":"app.test.note/self"})");
}

} // namespace weir::wire
