#include "actors/api/limits.hpp"
#include "atproto/did_document.hpp"
#include "tests/system/api_node.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/patience.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <functional>

namespace weir::tests {

namespace {

/// A directory, a PDS and a host of did:web documents, and a node that uses it.
class ResolveTest : public testing::Test {
protected:
  plain_reply get(const std::string& path) const {
    plain_request request;
    request.path = path;
    return node.ask(node.data, request);
  }

  void add(const atproto::did& who) const {
    plain_request request;
    request.method = "POST";
    request.path = "/repos/add";
    request.headers["Content-Type"] = "application/json";
    request.body = R"({"dids":[")" + who.str() + R"("]})";
    EXPECT_EQ(node.ask(node.data, request).body, R"({"queued":1})");
  }

  std::string document(const std::string& did) const {
    return make_document(did, repo.key().public_part().to_multikey(),
                         hub.url());
  }

  void expect_document(const std::string& body, const std::string& did) const {
    const auto x
      = atproto::parse_did_document(body, *atproto::did::parse(did));
    ASSERT_TRUE(x) << body;
    EXPECT_EQ(x->pds, hub.url());
    EXPECT_EQ(x->signing_key, repo.key().public_part().to_multikey());
  }

  live_repo repo{1};
  hostile_host hub;
  api_node node{false, {"--plc-url", hub.url(), "--allow-private-addresses"}};
};

} // namespace

// api.md, GET /resolve/:did
TEST_F(ResolveTest, ADocumentComesFromTheDirectory) {
  const auto did = repo.did().str();
  hub.on('/' + did, say(http_answer(200, document(did))));
  const auto found = get("/resolve/" + did);
  EXPECT_EQ(found.status, 200);
  expect_document(found.body, did);
}

TEST_F(ResolveTest, ADocumentOfDidWebComesFromItsOwnHost) {
  const auto port = hub.url().substr(hub.url().rfind(':') + 1);
  const auto did = "did:web:localhost%3A" + port;
  hub.on("/.well-known/did.json", say(http_answer(200, document(did))));
  // The path is decoded once, so the colon's escape is escaped.
  const auto found = get("/resolve/did:web:localhost%253A" + port);
  EXPECT_EQ(found.status, 200) << found.body;
  expect_document(found.body, did);
}

// An escape in a DID must not choose the port, path or query of a request.
TEST_F(ResolveTest, ADidThatIsNoHostNameIsRefused) {
  const auto port = hub.url().substr(hub.url().rfind(':') + 1);
  for (const std::string& did :
       {"did:web:localhost%253A" + port + "%252Fadmin%253Fx%253D",
        "did:web:127.0.0.1%253A" + port, "did:web:127.0.0.1%253A" + port + "%252F",
        std::string{"did:web:localhost"}, std::string{"did:web:127.0.0.1"},
        std::string{"did:web:example.com%252Fadmin"},
        std::string{"did:web:example.com:path"}, std::string{"did:plc:short"},
        std::string{"did:key:zQ3sh"}})
    EXPECT_EQ(get("/resolve/" + did).status, 400) << did;
  EXPECT_EQ(hub.connections(), 0u);
}

// A known identity is returned at once; only the first request is a look-up.
TEST_F(ResolveTest, AnIdentityThatIsKnownIsNotLookedUp) {
  const auto did = repo.did().str();
  hub.on('/' + did, say(http_answer(200, document(did))));
  for (size_t i = 0; i < 50; ++i) {
    auto found = get("/resolve/" + did);
    // Until the first answer is on disk each request counts as a look-up.
    ASSERT_TRUE(eventually(node_patience, [&] {
      if (found.status == 429)
        found = get("/resolve/" + did);
      return found.status != 429;
    }));
    ASSERT_EQ(found.status, 200) << i << found.body;
    expect_document(found.body, did);
  }
  EXPECT_EQ(hub.asked('/' + did), 1u);
}

// limits::resolve_share
TEST(ResolveBudgetTest, ClientsHaveAShareOfAllLookUpsAndNoMore) {
  hostile_host hub;
  constexpr double per_second = 1;
  const api_node node{false, {"--plc-url", hub.url(), "--plc-per-second", "1",
                              "--allow-private-addresses"}};
  const auto begin = std::chrono::steady_clock::now();
  size_t looked_up = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    plain_request x;
    x.path = "/resolve/" + live_repo{100 + i}.did().str();
    const auto status = node.ask(node.data, x).status;
    looked_up += status == 404;
    EXPECT_TRUE(status == 404 || status == 429) << status;
  }
  const std::chrono::duration<double> took
    = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(looked_up, 1u);
  EXPECT_LE(static_cast<double>(looked_up),
            1 + per_second * limits::resolve_share * took.count());
}

TEST_F(ResolveTest, WhatIsNoDocumentOfThisDidIsNotPassedOn) {
  const auto did = repo.did().str();
  EXPECT_EQ(get("/resolve/" + did).status, 404);
  const auto failing = live_repo{2}.did().str();
  hub.on('/' + failing, say(http_answer(500, "{}")));
  EXPECT_EQ(get("/resolve/" + failing).status, 502);
  const auto other = live_repo{3}.did().str();
  hub.on('/' + other, say(http_answer(200, document("did:plc:other"))));
  const auto foreign = get("/resolve/" + other);
  EXPECT_EQ(foreign.status, 502);
  EXPECT_NE(foreign.body.find("DirectoryUnreachable"), std::string::npos);
  const auto twice = live_repo{4}.did().str();
  auto ambiguous = document(twice);
  ambiguous.insert(1, R"("id":")" + twice + R"(",)");
  hub.on('/' + twice, say(http_answer(200, ambiguous)));
  const auto unusable = get("/resolve/" + twice);
  EXPECT_EQ(unusable.status, 502);
  EXPECT_NE(unusable.body.find("DocumentInvalid"), std::string::npos);
}

// SYNC-34
TEST_F(ResolveTest, AFailedRepoIsListedAmongTheErrors) {
  EXPECT_EQ(get("/repos/errors").body, R"({"repos":[]})");
  const auto did = repo.did().str();
  hub.publish(repo, hub.url());
  hub.on_repo(repo.did(), say(http_answer(500, "{}")));
  add(repo.did());
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto body = get("/repos/errors").body;
                           return body.find(did) != std::string::npos
                                  && body.find(R"("status":"error")")
                                       != std::string::npos;
                         }))
    << get("/repos/errors").body;
}

namespace {

/// All DIDs, page by page with `limit` a page; "?" for an invalid page.
std::vector<std::string>
walk_errors(const std::function<plain_reply(const std::string&)>& get,
            size_t limit) {
  std::vector<std::string> out;
  std::string cursor;
  for (size_t page = 0; page < 100; ++page) {
    auto path = "/repos/errors?limit=" + std::to_string(limit);
    if (!cursor.empty())
      path += "&cursor=" + cursor;
    const auto body = boost::json::parse(get(path).body).as_object();
    const auto* repos = body.if_contains("repos");
    if (repos == nullptr || repos->as_array().size() > limit)
      return {"?"};
    for (const auto& x : repos->as_array())
      out.emplace_back(x.at("did").as_string());
    const auto* next = body.if_contains("cursor");
    if (next == nullptr)
      return out;
    cursor = std::string{next->as_string()};
  }
  return {"?"}; // The pages do not end.
}

} // namespace

// SYNC-34: with any size of a page, each repo is listed exactly once
TEST_F(ResolveTest, FailedReposAreListedPageByPage) {
  std::vector<std::string> all;
  for (uint64_t i = 0; i < 7; ++i) {
    const live_repo failing{20 + i};
    hub.publish(failing, hub.url());
    hub.on_repo(failing.did(), say(http_answer(500, "{}")));
    all.push_back(failing.did().str());
    add(failing.did());
  }
  std::ranges::sort(all);
  std::vector<std::string> seen;
  // One repo may be tried during that time.
  for (const size_t limit : {1, 3, 7, 8})
    EXPECT_TRUE(eventually(node_patience, [&] {
      seen = walk_errors(
        [this](const auto& path) {
          return get(path);
        },
        limit);
      std::ranges::sort(seen);
      return seen == all;
    })) << limit << " a page, seen: " << seen.size();
}

TEST_F(ResolveTest, CursorsThatAreNotOursAreRefused) {
  const auto did = repo.did().str();
  for (const auto& bad : std::vector<std::string>{
         did, ':' + did, "x:" + did, "-1:" + did, "1", "1:", "1:x",
         "99999999999999999999:" + did})
    EXPECT_EQ(get("/repos/errors?cursor=" + bad).status, 400) << bad;
  EXPECT_EQ(get("/repos/errors?cursor=1:" + did).status, 200);
  EXPECT_EQ(get("/repos?cursor=1:" + did).status, 400);
}

} // namespace weir::tests
