#include "actors/api/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/support/vectors.hpp"
#include "tests/system/api_node.hpp"
#include "wire/limits.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <tuple>

namespace weir::tests {

namespace {

namespace json = boost::json;

constexpr const char* alice = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
constexpr const char* bob = "did:plc:z72i7hdynmk6r22z27h6tvur";

/// Uses DIDs of a directory that is not reachable, so that nothing is fetched
/// during a test.
class ApiReposTest : public testing::Test {
protected:
  plain_reply get(const std::string& path) const {
    plain_request request;
    request.path = path;
    return node.ask(node.data, request);
  }

  plain_reply post(const std::string& path, std::string body) const {
    plain_request request;
    request.method = "POST";
    request.path = path;
    request.headers["Content-Type"] = "application/json";
    request.body = std::move(body);
    return node.ask(node.data, request);
  }

  std::string count() const { return get("/stats/repo-count").body; }

  /// Permits the growth that `limits::repo_actor_bytes` allows for tracked
  /// repos.
  void allow(size_t repos) {
    node.may_grow_by(16 * megabyte + repos * limits::repo_actor_bytes);
  }

  api_node node{false,
                {"--plc-url", "http://127.0.0.1:9",
                 "--allow-private-addresses"}};
};

std::string body_of(const std::vector<std::string>& dids) {
  json::array array;
  for (const auto& x : dids)
    array.emplace_back(x);
  return json::serialize(json::object{{"dids", array}});
}

/// A did:plc made from a number.
std::string numbered(size_t i) {
  std::string out = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
  for (auto at = out.size() - 1; i > 0; --at, i /= 26)
    out[at] = static_cast<char>('a' + i % 26);
  return out;
}

} // namespace

// docs/api.md: the root tells what the port is and where its documentation is
TEST_F(ApiReposTest, TheRootNamesTheProgramAndItsDocumentation) {
  const auto is = get("/");
  EXPECT_EQ(is.status, 200);
  const auto x = json::parse(is.body).as_object();
  EXPECT_EQ(x.at("name").as_string(), "weir");
  EXPECT_FALSE(x.at("version").as_string().empty());
  const std::string where{x.at("documentation").as_string()};
  const auto page = where.substr(0, where.find(' '));
  EXPECT_TRUE(std::ifstream{data_path("../../" + page)}) << page;
  EXPECT_THAT(where, testing::HasSubstr("share/doc/weir/docs/api.md"));
}

// docs/api.md: a path contains the DID unchanged
TEST_F(ApiReposTest, ThePortOfAWebNameIsWrittenAsInTheDid) {
  const std::string did = "did:web:localhost%3A8080";
  EXPECT_EQ(post("/repos/add", R"({"dids":[")" + did + "\"]}").status, 200);
  for (const auto* path : {"/repos/", "/info/"}) {
    const auto is = get(path + did);
    EXPECT_EQ(is.status, 200) << is.body;
    EXPECT_EQ(json::parse(is.body).at("did").as_string(), did);
  }
  EXPECT_EQ(get("/repos/did:web:localhost%253A8080").status, 200);
  EXPECT_EQ(get("/v1/repos/" + did + "/completeness").status, 200);
}

// docs/api.md, "What holds for all routes"
TEST_F(ApiReposTest, APathNamesTheMethodsThatItTakes) {
  for (const auto& [method, path, allow] :
       {std::tuple{"PUT", "/repos", "GET, HEAD"},
        std::tuple{"DELETE", "/v1/status", "GET, HEAD"},
        std::tuple{"GET", "/repos/add", "POST"}}) {
    plain_request request;
    request.method = method;
    request.path = path;
    const auto is = node.ask(node.data, request);
    EXPECT_EQ(is.status, 405) << path;
    EXPECT_THAT(is.head, testing::HasSubstr(std::string{"\r\nAllow: "} + allow
                                            + "\r\n"))
      << path;
  }
}

TEST_F(ApiReposTest, OnlyTheChannelIsAWebSocket) {
  const auto is = node.ask(node.data, api_node::upgrade("/repos"));
  EXPECT_EQ(is.status, 404);
  EXPECT_THAT(is.body, testing::HasSubstr("/repos is no WebSocket; /channel"));
  EXPECT_EQ(node.ask(node.data, api_node::upgrade("/channel")).status, 101);
  const auto plain = get("/channel");
  EXPECT_EQ(plain.status, 426);
  EXPECT_THAT(plain.head, testing::HasSubstr("\r\nUpgrade: websocket\r\n"));
}

// Issue: the epoch of the log stands in the ready line and in /v1/status
TEST_F(ApiReposTest, TheStatusSaysWhatThisNodeIs) {
  const auto is = get("/v1/status");
  EXPECT_EQ(is.status, 200);
  const auto x = json::parse(is.body).as_object();
  EXPECT_EQ(x.at("name").as_string(), "weir");
  EXPECT_EQ(x.at("version").as_string(),
            json::parse(get("/").body).at("version").as_string());
  EXPECT_EQ(x.at("mode").as_string(), "manual");
  EXPECT_EQ(x.at("log_epoch").as_string(),
            json::parse(node.ready_line()).at("log_epoch").as_string());
  EXPECT_EQ(x.at("log_begin").to_number<int64_t>(), 0) << "nothing was logged";
  EXPECT_EQ(x.at("log_end").to_number<int64_t>(), 0);
  EXPECT_EQ(x.size(), 6u);
  plain_request long_form;
  long_form.path = "/status";
  const auto all
    = json::parse(node.ask(node.operations, long_form).body).as_object();
  for (const auto& [name, value] : x)
    EXPECT_EQ(all.at(name), value) << name;
}

// SYNC-36, SYNC-40: the configuration of the running node, with its defaults
TEST_F(ApiReposTest, TheConfigurationIsShown) {
  auto is = get("/config");
  EXPECT_EQ(is.status, 200);
  EXPECT_EQ(json::parse(is.body), json::parse(R"({"mode":"manual",
    "signal_collection":null,"collections":[]})"));
  const api_node other{false,
                       {"--plc-url", "http://127.0.0.1:9",
                        "--allow-private-addresses", "--mode", "signal",
                        "--upstream", "relay:http://127.0.0.1:9",
                        "--signal-collection", "app.bsky.graph.follow",
                        "--collections", "fm.teal.*,app.bsky.feed.post"}};
  plain_request request;
  request.path = "/config";
  is = other.ask(other.data, request);
  EXPECT_EQ(is.status, 200);
  EXPECT_EQ(json::parse(is.body), json::parse(R"({"mode":"signal",
    "signal_collection":"app.bsky.graph.follow",
    "collections":["fm.teal.*","app.bsky.feed.post"]})"))
    << is.body;
}

// SYNC-29, 30, 31, 32, 33
TEST_F(ApiReposTest, AddedReposAreListedResyncedAndRemoved) {
  EXPECT_EQ(count(), R"({"repo_count":0})");
  EXPECT_EQ(post("/repos/add", body_of({alice, bob, alice})).body,
            R"({"queued":2})");
  EXPECT_EQ(post("/repos/add", body_of({alice})).body, R"({"queued":0})");
  // A repeated addition that changes which collections are kept counts.
  const auto narrower = R"({"collections":["app.test.note"],)"
                        + body_of({alice}).substr(1);
  EXPECT_EQ(post("/repos/add", narrower).body, R"({"queued":1})");
  EXPECT_EQ(post("/repos/add", narrower).body, R"({"queued":0})");
  EXPECT_EQ(count(), R"({"repo_count":2})");
  const auto one = get(std::string{"/repos/"} + alice);
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(json::parse(one.body).at("did").as_string(), alice);
  const auto list = json::parse(get("/repos").body);
  EXPECT_EQ(list.at("repos").as_array().size(), 2u);
  EXPECT_EQ(post("/repos/resync", body_of({alice, numbered(1)})).body,
            R"({"queued":1})");
  EXPECT_EQ(post("/repos/remove", body_of({alice, numbered(1)})).body,
            R"({"removed":1})");
  EXPECT_EQ(count(), R"({"repo_count":1})");
  EXPECT_EQ(get(std::string{"/repos/"} + alice).status, 404);
  EXPECT_EQ(get(std::string{"/info/"} + alice).status, 404);
}

// What an answer confirms is on disk.
TEST_F(ApiReposTest, WhatWasAnsweredOutlivesAKill) {
  std::vector<std::string> dids;
  for (size_t i = 1; i <= 2'000; ++i)
    dids.push_back(numbered(i));
  allow(dids.size());
  EXPECT_EQ(post("/repos/add", body_of(dids)).body, R"({"queued":2000})");
  node.restart(SIGKILL);
  EXPECT_EQ(count(), R"({"repo_count":2000})");
  EXPECT_EQ(post("/repos/remove", body_of(dids)).body, R"({"removed":2000})");
  node.restart(SIGKILL);
  EXPECT_EQ(count(), R"({"repo_count":0})");
}

TEST_F(ApiReposTest, AsManyReposAsOneRequestMayHoldAreAddedAtOnce) {
  std::vector<std::string> dids;
  for (size_t i = 1; i <= limits::request_dids_max; ++i)
    dids.push_back(numbered(i));
  allow(dids.size());
  EXPECT_EQ(post("/repos/add", body_of(dids)).body,
            "{\"queued\":" + std::to_string(dids.size()) + "}");
}

TEST_F(ApiReposTest, PagesAreWalkedByTheirCursor) {
  std::vector<std::string> dids;
  for (size_t i = 1; i <= 7; ++i)
    dids.push_back(numbered(i));
  ASSERT_EQ(post("/repos/add", body_of(dids)).body, R"({"queued":7})");
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page = json::parse(
      get("/repos?limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor)).body);
    for (const auto& x : page.at("repos").as_array())
      seen.emplace_back(x.at("did").as_string());
    const auto* next = page.as_object().if_contains("cursor");
    cursor = next == nullptr ? "" : std::string{next->as_string()};
  } while (!cursor.empty() && seen.size() < 20);
  EXPECT_EQ(seen, dids);
}

// limits::api_page_max
TEST_F(ApiReposTest, PageSizesOutOfRangeAreRefused) {
  const auto most = std::to_string(limits::api_page_max);
  const auto more = std::to_string(limits::api_page_max + 1);
  EXPECT_EQ(get("/repos?limit=" + most).status, 200);
  for (const auto& bad : {more, std::string{"0"}, std::string{"-1"},
                          std::string{"x"}, std::string{"1x"},
                          std::string{"99999999999999999999"}})
    EXPECT_EQ(get("/repos?limit=" + bad).status, 400) << bad;
  EXPECT_EQ(get("/repos?cursor=nonsense").status, 400);
}

// An unknown parameter that is ignored would look as if it had an effect.
TEST_F(ApiReposTest, WhatNobodyTakesIsRefusedWithTheNearestName) {
  const auto refused = [](const plain_reply& x, const std::string& how) {
    EXPECT_EQ(x.status, 400) << x.body;
    EXPECT_NE(x.body.find(how), std::string::npos) << x.body;
  };
  refused(get("/repos?limt=3"),
          R"(there is no parameter \"limt\" here; did you mean \"limit\"?)");
  refused(get("/repos?limit=1&limit=0"), "limit is there twice");
  refused(get("/v1/completeness?cursor=zz"), "cursor is not one of ours");
  refused(get("/v1/completeness?cursor="), "cursor is not one of ours");
  refused(get("/health?verbose"), R"(there is no parameter \"verbose\" here)");
  refused(get("/repos?="), R"(there is no parameter \"\" here)");
  refused(post("/repos/add", R"({"dids":[],"colections":[]})"),
          R"(did you mean \"collections\"?)");
  refused(post("/repos/remove", R"({"dids":[],"collections":[]})"),
          R"(there is no member \"collections\" here; it takes dids)");
  EXPECT_EQ(get("/repos?limit=3").status, 200);
}

// These paths do not name a repo.
TEST_F(ApiReposTest, APathOfTheTableIsNoDidOfAnotherRoute) {
  for (const auto* path : {"/repos/add", "/repos/remove", "/repos/resync"})
    EXPECT_EQ(get(path).status, 405) << path;
  EXPECT_EQ(post("/repos/errors", R"({"dids":[]})").status, 405);
  EXPECT_EQ(get("/repos/adds").status, 400);
}

TEST_F(ApiReposTest, AChannelSaysThatItIsAWebSocket) {
  const auto x = get("/channel");
  EXPECT_EQ(x.status, 426);
  EXPECT_NE(x.body.find("WebSocket"), std::string::npos) << x.body;
}

// A client that asks for a cursor would get the events of the only consumer.
TEST_F(ApiReposTest, AnUpgradeWithAParameterThatNobodyTakesIsRefused) {
  const auto answer = [this](const std::string& path) {
    return node.ask(node.data, api_node::upgrade(path));
  };
  const auto refused = answer("/channel?cursor=0");
  EXPECT_EQ(refused.status, 400) << refused.head;
  EXPECT_NE(refused.head.find("Content-Type: application/json"),
            std::string::npos)
    << refused.head;
  const auto said = json::parse(refused.body).as_object();
  EXPECT_EQ(said.at("error").as_string(), "InvalidRequest");
  EXPECT_EQ(said.at("message").as_string(),
            R"(there is no parameter "cursor" here; it takes none)");
  EXPECT_EQ(answer("/channel?consumer=x&cursor=0").status, 400);
  EXPECT_EQ(answer("/channel").status, 101);
}

// Issue: bad DIDs answered 400 with the reason and nothing changed
TEST_F(ApiReposTest, OneBadDidRefusesTheWholeRequestAndIsNamed) {
  for (const std::string bad :
       {"did:plc:short", "did:key:zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9",
        "alice.test", "", "did:web:", "did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ"}) {
    const auto reply = post("/repos/add", body_of({alice, bad}));
    EXPECT_EQ(reply.status, 400) << bad;
    EXPECT_NE(reply.body.find(bad), std::string::npos) << reply.body;
    EXPECT_EQ(count(), R"({"repo_count":0})") << bad;
  }
}

TEST_F(ApiReposTest, BodiesThatAreNoRequestAreRefused) {
  for (const auto* bad :
       {"", "{", "[]", "null", R"({"dids":"did:plc:x"})", R"({"dids":[1]})",
        R"({"dids":[]} x)", R"({"did":[]})", "\xff"}) {
    const auto reply = post("/repos/add", bad);
    EXPECT_EQ(reply.status, 400) << bad;
    EXPECT_NE(reply.body.find("\"message\""), std::string::npos) << bad;
  }
  EXPECT_EQ(count(), R"({"repo_count":0})");
}

// limits::request_dids_max
TEST_F(ApiReposTest, MoreDidsThanOneRequestMayHoldAreRefusedWhole) {
  std::vector<std::string> dids;
  for (size_t i = 1; i <= limits::request_dids_max + 1; ++i)
    dids.push_back(numbered(i));
  node.may_grow_by(32 * megabyte); // The request itself, parsed.
  const auto refused = post("/repos/remove", body_of(dids));
  EXPECT_EQ(refused.status, 413) << refused.body;
  dids.pop_back();
  EXPECT_EQ(post("/repos/remove", body_of(dids)).body, R"({"removed":0})");
}

// limits::bulk_body_bytes_max; memory holds the body and its parsed form.
TEST_F(ApiReposTest, BodiesAboveTheLimitAreAnswered413AndNothingChanges) {
  node.may_grow_by(32 * megabyte);
  auto body = body_of({alice});
  body.resize(limits::bulk_body_bytes_max, ' ');
  EXPECT_EQ(post("/repos/add", body).body, R"({"queued":1})");
  body = body_of({bob});
  body.resize(limits::bulk_body_bytes_max + 1, ' ');
  EXPECT_EQ(post("/repos/add", body).status, 413);
  EXPECT_EQ(count(), R"({"repo_count":1})");
}

TEST_F(ApiReposTest, BodiesWhereNoneIsTakenAreRefused) {
  plain_request request;
  request.path = "/repos";
  request.headers["Content-Length"] = "1";
  request.body = "x";
  EXPECT_EQ(node.ask(node.data, request).status, 413);
}

TEST_F(ApiReposTest, BadDidsInPathsAreRefused) {
  for (const auto* route : {"/repos/", "/info/", "/resolve/"})
    for (const auto* bad : {"nonsense", "did:plc:", "did:plc:%00", "%2e%2e"})
      EXPECT_EQ(get(std::string{route} + bad).status, 400)
        << route << bad;
}

} // namespace weir::tests
