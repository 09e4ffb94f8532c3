#include "net/limits.hpp"
#include "net/url.hpp"

#include <gtest/gtest.h>

namespace weir::net {

namespace {

std::string normal(std::string_view text) {
  auto x = parse_url(text);
  return x ? to_string(*x) : "refused";
}

std::string resolved(std::string_view base, std::string_view reference) {
  auto from = parse_url(base);
  EXPECT_TRUE(from) << base;
  auto x = resolve_reference(*from, reference);
  return x ? to_string(*x) : "refused";
}

} // namespace

TEST(UrlTest, PartsAreFoundAndNormalised) {
  auto x = parse_url("HTTPS://PDS.Example.COM:8443/xrpc/a?b=C%2Fd&e#frag");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->scheme, scheme::https);
  EXPECT_EQ(x->host, "pds.example.com");
  EXPECT_EQ(x->port, 8443);
  EXPECT_EQ(x->target, "/xrpc/a?b=C%2Fd&e");
  EXPECT_EQ(x->authority(), "pds.example.com:8443");
  EXPECT_EQ(x->origin(), "https://pds.example.com:8443");
  EXPECT_TRUE(x->secure());
}

TEST(UrlTest, EqualPlacesAreEqualText) {
  EXPECT_EQ(normal("https://a.com"), "https://a.com/");
  EXPECT_EQ(normal("https://A.com:443/"), "https://a.com/");
  EXPECT_EQ(normal("http://a.com:80"), "http://a.com/");
  EXPECT_EQ(normal("ws://a.com:80/x"), "ws://a.com/x");
  EXPECT_EQ(normal("wss://a.com:443?q"), "wss://a.com/?q");
  EXPECT_EQ(normal("http://a.com:443"), "http://a.com:443/");
  EXPECT_EQ(normal("https://a.com:/x"), "https://a.com/x");
  EXPECT_EQ(normal("http://[0:0::1]:99/"), "http://[::1]:99/");
  EXPECT_EQ(normal("http://a.com/?"), "http://a.com/?");
}

TEST(UrlTest, WhatIsNotOneOfOurUrlsIsRefused) {
  for (auto text : {"",
                    "a.com",
                    "//a.com",
                    "/x",
                    "ftp://a.com/",
                    "file:///etc/passwd",
                    "javascript:alert(1)",
                    "https:",
                    "https://",
                    "https:///x",
                    "https://:443/",
                    "https://user@a.com/",
                    "https://user:pw@a.com/",
                    "https://a.com:0/",
                    "https://a.com:65536/",
                    "https://a.com:99999999999/",
                    "https://a.com:8o/",
                    "https://a b.com/",
                    "https://a.com/a b",
                    " https://a.com/",
                    "https://a.com/\n",
                    "https://a%2ecom/",
                    "https://a.com%00.b.com/",
                    "https://a;b/",
                    "https://[::1/",
                    "https://[v1.x]/",
                    "https://[::1%25lo]/",
                    "https://a.com\\@b.com/",
                    "https://b\xc3\xbc.de/"})
    EXPECT_EQ(normal(text), "refused") << text;
}

// A password must not appear in a message or a log.
TEST(UrlTest, UsersAreLeftOutOfMessages) {
  EXPECT_EQ(without_user("https://alice:secret@a.test/x"), "https://...@a.test/x");
  EXPECT_EQ(without_user("https://a@b@c.test"), "https://...@c.test");
  EXPECT_EQ(without_user("alice:secret@a.test"), "...@a.test");
  EXPECT_EQ(without_user("https://a.test/@alice?x=@y"), "https://a.test/@alice?x=@y");
  EXPECT_EQ(without_user("https://a.test"), "https://a.test");
  EXPECT_EQ(without_user(""), "");
}

TEST(UrlTest, LengthIsBounded) {
  std::string text = "https://a.com/";
  text.resize(limits::url_bytes_max, 'x');
  EXPECT_EQ(normal(text), text);
  EXPECT_EQ(normal(text + 'x'), "refused");
}

TEST(UrlTest, LocationsAreResolvedAgainstTheUrlAskedFor) {
  constexpr std::string_view base = "https://a.com/x/y?q=1";
  EXPECT_EQ(resolved(base, "/z"), "https://a.com/z");
  EXPECT_EQ(resolved(base, "z"), "https://a.com/x/z");
  EXPECT_EQ(resolved(base, "../z"), "https://a.com/z");
  EXPECT_EQ(resolved(base, "?q=2"), "https://a.com/x/y?q=2");
  EXPECT_EQ(resolved(base, "//B.com/z"), "https://b.com/z");
  EXPECT_EQ(resolved(base, "http://b.com:8080/z#f"), "http://b.com:8080/z");
  for (auto text : {"file:///etc/passwd", "gopher://a.com/", "//user@b.com/",
                    "http://", "ht tp://a.com", "data:text/plain,x"})
    EXPECT_EQ(resolved(base, text), "refused") << text;
}

TEST(UrlTest, SchemesChangeBetweenHttpAndWebSocket) {
  auto x = *parse_url("https://a.com:444/x");
  EXPECT_EQ(to_string(x.as_websocket()), "wss://a.com:444/x");
  EXPECT_EQ(to_string(x.as_websocket().as_http()), "https://a.com:444/x");
  auto y = *parse_url("http://a.com/");
  EXPECT_EQ(to_string(y.as_websocket().with_target("/s?cursor=1")),
            "ws://a.com/s?cursor=1");
}

TEST(UrlTest, PercentCodingGoesThereAndBack) {
  std::string all;
  for (int i = 1; i < 256; ++i)
    all += static_cast<char>(i);
  auto there = percent_encode(all);
  EXPECT_EQ(there.find_first_not_of(
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
              "0123456789-._~%"),
            std::string::npos);
  EXPECT_EQ(*percent_decode(there), all);
  EXPECT_EQ(percent_encode("did:plc:a/b"), "did%3Aplc%3Aa%2Fb");
}

// hostile-inputs.md 2.2.1: decoded exactly once, so %252F stays %2F.
TEST(UrlTest, PercentDecodingIsStrictAndDoneOnce) {
  EXPECT_EQ(*percent_decode("%252F"), "%2F");
  EXPECT_EQ(*percent_decode("a+b"), "a+b");
  EXPECT_EQ(*percent_decode("a+b", true), "a b");
  EXPECT_EQ(*percent_decode("%2B", true), "+");
  for (auto text :
       {"%", "%4", "a%", "a%4", "%zz", "%4z", "%-1", "%00", "a%00b"})
    EXPECT_FALSE(percent_decode(text)) << text;
  using namespace std::string_view_literals;
  for (auto text : {"\0"sv, "a\0b"sv, "a\0"sv, "\00041"sv})
    EXPECT_FALSE(percent_decode(text));
}

TEST(UrlTest, QueriesAreAppendedEncoded) {
  std::string target = "/x";
  append_query(target, "did", "did:web:a.com");
  append_query(target, "a&b", "=");
  EXPECT_EQ(target, "/x?did=did%3Aweb%3Aa.com&a%26b=%3D");
}

} // namespace weir::net
