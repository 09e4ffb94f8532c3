#include "net/http_parser.hpp"
#include "net/limits.hpp"

#include <gtest/gtest.h>

namespace weir::net {

namespace {

/// A request with these lines after the request line and Host.
std::string request(std::string_view lines) {
  return "POST /x HTTP/1.1\r\nHost: a\r\n" + std::string{lines} + "\r\n";
}

/// One complete head, as Beast's parser reads it.
result<http_head> parse_head(std::unique_ptr<http_parser> parser,
                             std::string_view text) {
  auto used = parser->put_head(as_bytes(text));
  if (!used)
    return used.error();
  if (!parser->has_head() || *used != text.size())
    return fail(ec::malformed, "not one whole head");
  return parser->head();
}

result<http_head> parse_request_head(std::string_view text) {
  return parse_head(make_request_parser(limits::http_request_head_bytes_max),
                    text);
}

result<http_head> parse_response_head(std::string_view text, bool to_head) {
  return parse_head(
    make_response_parser(limits::http_response_head_bytes_max, to_head), text);
}

/// The result for a request: 0 when it passes, 1 when more bytes are needed,
/// otherwise the status with which it is refused.
int fate(std::string_view text) {
  const auto parser = make_request_parser(limits::http_request_head_bytes_max);
  const auto used = parser->put_head(as_bytes(text));
  if (!used)
    return used.error().code == ec::limit_reached ? 431 : 400;
  if (!parser->has_head())
    return 1;
  const auto refused = check_request_head(parser->head());
  return refused ? refused->status : 0;
}

} // namespace

TEST(HttpHeadTest, OrdinaryRequestsPass) {
  for (auto head :
       {std::string{"GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
        std::string{
          "GET /info/did:plc:abc?x=%20&y HTTP/1.1\r\nHOST:  a:1 \r\n\r\n"},
        std::string{"GET / HTTP/1.0\r\nHost: [::1]:2480\r\n\r\n"},
        request("Content-Length: 5\r\n"), request("Content-Length: 0\r\n"),
        request("Transfer-Encoding: chunked\r\n"),
        request("transfer-encoding:CHUNKED\r\n"),
        request("X-Empty:\r\nX-Tab: a\tb\r\nX-Utf8: \xc3\xa9\r\n")}) {
    EXPECT_EQ(fate(head + "behind"), 0) << head;
    EXPECT_TRUE(parse_request_head(head)) << head;
  }
}

TEST(HttpHeadTest, EveryPartOfAGoodHeadIsIncomplete) {
  auto head = request("Content-Length: 5\r\nX-Y: z\r\n");
  for (size_t n = 0; n < head.size(); ++n)
    EXPECT_EQ(fate(head.substr(0, n)), 1) << n;
}

// hostile-inputs.md 2.2.5.
TEST(HttpHeadTest, WhatTwoServersCouldReadDifferentlyIsRefused) {
  const std::string vectors[] = {
    // Two ways to say where the body ends.
    request("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
    request("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    request("Content-Length: 5\r\nContent-Length: 5\r\n"),
    request("Content-Length: 5\r\nContent-Length: 6\r\n"),
    request("Content-Length: 5\r\ncontent-length: 0\r\n"),
    request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    request("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
    // Lengths that are not one plain number.
    request("Content-Length: 5, 5\r\n"),
    request("Content-Length: +5\r\n"),
    request("Content-Length: -5\r\n"),
    request("Content-Length: 0x5\r\n"),
    request("Content-Length: 5 5\r\n"),
    request("Content-Length: 5.0\r\n"),
    request("Content-Length: 5a\r\n"),
    request("Content-Length:\r\n"),
    request("Content-Length: \"5\"\r\n"),
    request("Content-Length: 5;\r\n"),
    request("Content-Length: 99999999999999999999999\r\n"),
    request("Content-Length: 18446744073709551621\r\n"),
    // Encodings that are not exactly chunked.
    request("Transfer-Encoding: xchunked\r\n"),
    request("Transfer-Encoding: chunked, chunked\r\n"),
    request("Transfer-Encoding: gzip, chunked\r\n"),
    request("Transfer-Encoding: chunked, identity\r\n"),
    request("Transfer-Encoding: identity\r\n"),
    request("Transfer-Encoding: \"chunked\"\r\n"),
    request("Transfer-Encoding: chunked;q=1\r\n"),
    request("Transfer-Encoding:\r\n"),
    request("Transfer-Encoding: \x0b"
            "chunked\r\n"),
    "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    // Names that some servers trim or fold.
    request("Content-Length : 5\r\n"),
    request("Transfer-Encoding : chunked\r\n"),
    request("Transfer-Encoding\t: chunked\r\n"),
    request(" X: y\r\n"),
    request("\tX: y\r\n"),
    request("X: y\r\n folded\r\n"),
    request("X: y\r\n\tfolded\r\n"),
    request("Transfer-Encoding:\r\n chunked\r\n"),
    request("X y: z\r\n"),
    request(": y\r\n"),
    request("no colon\r\n"),
    request("X\xc3\xa9: y\r\n"),
    request("X(y): z\r\n"),
    request("X/y: z\r\n"),
    request("[X]: z\r\n"),
    // Line ends and control bytes.
    "POST / HTTP/1.1\nHost: a\n\n",
    "POST / HTTP/1.1\r\nHost: a\n\r\n",
    "POST / HTTP/1.1\nHost: a\r\n\r\n",
    request("X: y\nZ: 1\r\n"),
    request("X: y\rZ: 1\r\n"),
    request("X: y\r\r\n"),
    request(std::string{"X: y\0z\r\n", 8}),
    request(std::string{"X\0: y\r\n", 7}),
    request("X: y\x7f\r\n"),
    request("X: \x01\r\n"),
    request("X: y\x0bz\r\n"),
    "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n",
    // Request lines.
    "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
    " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\r\nHost: a\r\n\r\n",
    "GET HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET  HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET\r\n\r\n",
    "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
    "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET / HTTP/0.9\r\nHost: a\r\n\r\n",
    "GET / http/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.10\r\nHost: a\r\n\r\n",
    "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
    "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    // Hosts.
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
  };
  EXPECT_GE(std::size(vectors), 60u);
  for (auto& head : vectors)
    EXPECT_EQ(fate(head), 400) << head;
}

TEST(HttpHeadTest, ABadLineIsRefusedBeforeItEnds) {
  EXPECT_EQ(fate("GET / HTTP/1.1\r\nX: \x01"), 400);
  EXPECT_EQ(fate("GET / HTTP/1.1\n"), 400);
  EXPECT_EQ(fate(std::string{"\x16\x03\x01\x02\x00", 5}), 400); // TLS.
}

TEST(HttpHeadTest, TheHeadIsBoundedInBytes) {
  std::string fixed = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n";
  auto padded = [&](size_t total) {
    auto x = fixed;
    return x.insert(x.size() - 4, std::string(total - x.size(), 'x'));
  };
  auto max = limits::http_request_head_bytes_max;
  EXPECT_EQ(fate(padded(max)), 0);
  EXPECT_EQ(fate(padded(max + 1)), 431);
  EXPECT_EQ(fate(padded(max + 1).substr(0, max - 1)), 1);
  EXPECT_EQ(fate(padded(max + 1).substr(0, max)), 431);
}

TEST(HttpHeadTest, TheHeadIsBoundedInFields) {
  std::string lines;
  for (size_t n = 1; n < limits::http_request_fields_max; ++n)
    lines += "x: y\r\n";
  EXPECT_EQ(fate(request(lines)), 0);
  EXPECT_EQ(fate(request(lines + "x: y\r\n")), 431);
}

TEST(HttpHeadTest, RequestsAreParsed) {
  auto x = parse_request_head(
    "POST /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nX-Y:  z \r\n\r\n");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->method, "POST");
  EXPECT_EQ(x->target, "/a?b");
  EXPECT_TRUE(x->keep_alive);
  EXPECT_EQ(x->framing, body_framing::sized);
  EXPECT_EQ(x->content_length, 12u);
  ASSERT_TRUE(find_header(x->headers, "x-y"));
  EXPECT_EQ(*find_header(x->headers, "X-Y"), "z");
  EXPECT_FALSE(parse_request_head("GET / HTTP/1.1\r\nHost: a\r\n\r\nmore"));
  EXPECT_FALSE(parse_request_head("GET / HTTP/1.1\r\nHost: a\r\n"));
}

TEST(HttpHeadTest, ResponsesSayWhereTheirBodyEnds) {
  auto framing = [](std::string_view lines, bool to_head = false) {
    auto x = parse_response_head("HTTP/1.1 " + std::string{lines} + "\r\n\r\n",
                                 to_head);
    EXPECT_TRUE(x) << lines;
    return x ? x->framing : body_framing::none;
  };
  EXPECT_EQ(framing("200 OK\r\nContent-Length: 3"), body_framing::sized);
  EXPECT_EQ(framing("200 OK\r\nTransfer-Encoding: chunked"),
            body_framing::chunked);
  EXPECT_EQ(framing("200 OK"), body_framing::to_end);
  EXPECT_EQ(framing("200 OK\r\nContent-Length: 3", true), body_framing::none);
  EXPECT_EQ(framing("204 No Content"), body_framing::none);
  EXPECT_EQ(framing("304 Not Modified\r\nContent-Length: 3"),
            body_framing::none);
  EXPECT_EQ(framing("103 Early Hints"), body_framing::none);
  for (auto bad : {"200 OK\r\nTransfer-Encoding: gzip, chunked",
                   "200 OK\r\nTransfer-Encoding: gzip",
                   "200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3",
                   "200 OK\r\nContent-Length: 3\r\nContent-Length: 4",
                   "200 OK\r\nContent-Length: x", "053 Low", "20 OK", "OK"})
    EXPECT_FALSE(
      parse_response_head("HTTP/1.1 " + std::string{bad} + "\r\n\r\n", false))
      << bad;
}

TEST(HttpHeadTest, ListsOfTokensAreSearchedWithoutCase) {
  EXPECT_TRUE(lists_token("keep-alive, Upgrade", "upgrade"));
  EXPECT_TRUE(lists_token("upgrade", "upgrade"));
  EXPECT_TRUE(lists_token(",, upgrade\t,", "upgrade"));
  EXPECT_FALSE(lists_token("upgraded", "upgrade"));
  EXPECT_FALSE(lists_token("", "upgrade"));
}

} // namespace weir::net
