#include "actors/api/limits.hpp"
#include "actors/api/log_request.hpp"
#include "actors/api/routes.hpp"

#include <gtest/gtest.h>

// Which route a path leads to, and what a request for operations or records may
// say: docs/api.md.

namespace weir::tests {
namespace {

using namespace weir::actors;

constexpr const char* did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

matched_route match(const std::string& path) {
  const auto found = find_route(port::data, "GET", path, false);
  return found ? *found : matched_route{};
}

std::string pattern_of(const std::string& path) {
  const auto found = match(path);
  return found.to == nullptr ? "" : std::string{found.to->pattern};
}

net::incoming_request
with(std::vector<std::pair<std::string, std::string>> query) {
  net::incoming_request out;
  out.query = std::move(query);
  return out;
}

} // namespace

TEST(RoutesTest, APathMayHaveSeveralParameters) {
  const auto found = match(std::string{"/v1/repos/"} + did
                           + "/records/app.bsky.feed.post/3jzfcijpj2z2a");
  ASSERT_NE(found.to, nullptr);
  EXPECT_EQ(found.to->what, action::one_record);
  EXPECT_EQ(found.parameter("did"), did);
  EXPECT_EQ(found.parameter("collection"), "app.bsky.feed.post");
  EXPECT_EQ(found.parameter("rkey"), "3jzfcijpj2z2a");
  EXPECT_EQ(found.parameter("index"), "") << "it is of another route";
}

TEST(RoutesTest, EachPartOfAPathFitsOnePartOfThePattern) {
  EXPECT_EQ(pattern_of("/repos/errors"), "/repos/errors");
  EXPECT_EQ(pattern_of("/repos/x"), "/repos/:did");
  EXPECT_EQ(pattern_of("/v1/repos/x/records"), "/v1/repos/:did/records");
  EXPECT_EQ(pattern_of("/v1/repos/x/completeness"),
            "/v1/repos/:did/completeness");
  EXPECT_EQ(pattern_of("/v1/repos/x/ops/$commit/0"),
            "/v1/repos/:did/ops/:collection/:index");
  for (const auto* path :
       {"/repos/", "/repos//", "/repos/x/", "/repos/x/y", "/v1/repos/x",
        "/v1/repos//records", "/v1/repos/x/records/", "/v1/repos/x/records/a",
        "/v1/repos/x/records/a/", "/v1/repos/x/records//b",
        "/v1/repos/x/records/a/b/", "/v1/repos/x/records/a/b/c",
        "/v1/repos/x/record", "v1/ops", "/v1/ops/", ""})
    EXPECT_EQ(pattern_of(path), "") << path;
}

// docs/api.md: a path contains the DID unchanged
TEST(RoutesTest, ThePortOfAWebNameIsThatOfTheDidInEveryRoute) {
  const std::string web = "did:web:localhost%3A8080";
  EXPECT_EQ(match("/repos/did:web:localhost:8080").parameter("did"), web);
  const auto found
    = match("/v1/repos/did:web:localhost:8080/records/app.a.x/did:web:a:b");
  EXPECT_EQ(found.parameter("did"), web);
  EXPECT_EQ(found.parameter("rkey"), "did:web:a:b") << "this is no DID";
}

// -- GET /v1/ops --------------------------------------------------------------

TEST(LogRequestTest, EveryParameterIsReadOrRefused) {
  const auto plain = parse_log_request(with({})).value();
  EXPECT_FALSE(plain.since || plain.repo);
  EXPECT_EQ(plain.scope, "");
  EXPECT_EQ(plain.limit, limits::api_page_default);
  EXPECT_TRUE(plain.with_content);
  const auto full = parse_log_request(with({{"since", "0123456789abcdef.1-4"},
                                            {"did", did},
                                            {"collection", "$commit"},
                                            {"limit", "7"},
                                            {"content", "false"}}))
                      .value();
  EXPECT_EQ(full.since->places, std::vector<uint64_t>{4});
  EXPECT_EQ(full.repo->str(), did);
  EXPECT_EQ(full.scope, "$commit");
  EXPECT_EQ(full.limit, 7u);
  EXPECT_FALSE(full.with_content);
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{
         {"since", "x"},
         {"since", ""},
         {"did", "alice.test"},
         {"collection", "post"},
         {"collection", "$local"},
         {"collection", ""},
         {"limit", "0"},
         {"limit", std::to_string(limits::api_page_max + 1)},
         {"content", "no"}})
    EXPECT_FALSE(parse_log_request(with({{name, value}}))) << name << value;
  EXPECT_EQ(parse_log_request(
              with({{"limit", std::to_string(limits::api_page_max)}}))
              ->limit,
            limits::api_page_max);
}

TEST(LogRequestTest, AStreamIsNamedAndReadFromAnIndexOrATimeOn) {
  EXPECT_FALSE(parse_stream_request(with({}))) << "of which collection?";
  const auto x = parse_stream_request(with({{"collection", "app.a.x"},
                                            {"since", "0"},
                                            {"since_ms", "1700000000000"}}))
                   .value();
  EXPECT_EQ(x.scope, "app.a.x");
  EXPECT_EQ(x.since, 0u);
  EXPECT_EQ(x.since_ms, 1'700'000'000'000);
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"since", "-1"},
                                                        {"since", "x"},
                                                        {"since_ms", "x"},
                                                        {"since_ms", "1.5"}})
    EXPECT_FALSE(parse_stream_request(
      with({{"collection", "app.a.x"}, {name, value}})))
      << name << value;
}

TEST(LogRequestTest, ACursorOfRecordsIsAPathOfTheSameCollection) {
  const auto x = parse_records_request(with({{"collection", "app.a.x"},
                                             {"cursor", "app.a.x/1"}}))
                   .value();
  EXPECT_EQ(x.after_collection, "app.a.x");
  EXPECT_EQ(x.after_rkey, "1");
  EXPECT_TRUE(parse_records_request(with({{"cursor", "app.b.y/self"}})));
  EXPECT_FALSE(parse_records_request(
    with({{"collection", "app.a.x"}, {"cursor", "app.b.y/1"}})));
  EXPECT_FALSE(parse_records_request(with({{"cursor", "app.b.y"}})));
  EXPECT_FALSE(parse_records_request(with({{"collection", "$commit"}})));
}

} // namespace weir::tests
