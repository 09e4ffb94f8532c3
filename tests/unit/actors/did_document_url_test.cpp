#include "actors/support/did_document_url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::actors {
namespace {

result<net::url> url_of(const std::string& repo, bool allow_private = false) {
  return did_document_url(atproto::did::parse(repo).value(),
                          "https://plc.example.com", allow_private);
}

} // namespace

TEST(DidDocumentUrlTest, TheDirectoryHasThoseOfPlcAndAHostItsOwn) {
  const auto text = "did:plc:" + std::string(24, 'a');
  const auto plc = url_of(text);
  ASSERT_TRUE(plc);
  EXPECT_EQ(plc->host, "plc.example.com");
  EXPECT_EQ(plc->target, '/' + text);
  const auto repo = atproto::did::parse(text).value();
  const auto same = did_document_url(repo, "https://plc.example.com/", false);
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, *plc);
  const auto web = url_of("did:web:example.com");
  ASSERT_TRUE(web);
  EXPECT_TRUE(web->secure());
  EXPECT_EQ(web->host, "example.com");
  EXPECT_EQ(web->target, "/.well-known/did.json");
}

TEST(DidDocumentUrlTest, LocalhostNeedsPermission) {
  EXPECT_EQ(url_of("did:web:localhost%3A2583").error().code,
            ec::invalid_argument);
  const auto local = url_of("did:web:localhost%3A2583", true);
  ASSERT_TRUE(local);
  EXPECT_FALSE(local->secure());
  EXPECT_EQ(local->host, "localhost");
  EXPECT_EQ(local->port, 2583);
}

TEST(DidDocumentUrlTest, OtherMethodsAndPathsAreRefused) {
  EXPECT_EQ(url_of("did:key:abc").error().code, ec::invalid_argument);
  EXPECT_EQ(url_of("did:web:example.com:users:ann").error().code, ec::malformed);
}

} // namespace weir::actors
