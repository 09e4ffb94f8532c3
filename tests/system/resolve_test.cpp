#include "base/limits.hpp"
#include "tests/system/api_node.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/patience.hpp"

namespace weir::tests {

namespace {

/// A directory, a PDS and a host of did:web documents; a node that knows it.
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

  test_repo repo{1};
  hostile_host hub;
  api_node node{false, {"--plc-url", hub.url(), "--allow-private-addresses"}};
};

} // namespace

// real-network.md 2, /resolve/:did
TEST_F(ResolveTest, ADocumentComesFromTheDirectoryAsItIs) {
  const auto did = repo.did().str();
  hub.on('/' + did, say(http_answer(200, document(did))));
  const auto found = get("/resolve/" + did);
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(found.body, document(did));
}

TEST_F(ResolveTest, ADocumentOfDidWebComesFromItsOwnHost) {
  const auto port = hub.url().substr(hub.url().rfind(':') + 1);
  const auto did = "did:web:localhost%3A" + port;
  hub.on("/.well-known/did.json", say(http_answer(200, document(did))));
  // The path is decoded once, so the colon's escape is escaped.
  const auto found = get("/resolve/did:web:localhost%253A" + port);
  EXPECT_EQ(found.status, 200) << found.body;
  EXPECT_EQ(found.body, document(did));
}

TEST_F(ResolveTest, WhatIsNoDocumentOfThisDidIsNotPassedOn) {
  const auto did = repo.did().str();
  EXPECT_EQ(get("/resolve/" + did).status, 404);
  EXPECT_EQ(get("/resolve/did:key:zQ3sh").status, 400);
  hub.on('/' + did, say(http_answer(500, "{}")));
  EXPECT_EQ(get("/resolve/" + did).status, 502);
  hub.on('/' + did, say(http_answer(200, document("did:plc:other"))));
  const auto foreign = get("/resolve/" + did);
  EXPECT_EQ(foreign.status, 502);
  EXPECT_NE(foreign.body.find("DocumentInvalid"), std::string::npos);
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

} // namespace weir::tests
