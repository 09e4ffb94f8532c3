#include "net/http_parser.hpp"
#include "net/inflater.hpp"
#include "net/limits.hpp"

#include <gtest/gtest.h>

#include <zlib.h>

namespace weir::net {

namespace {

/// An answer whose head gives the framing of its body.
std::unique_ptr<http_parser> parser_of(body_framing framing, size_t size = 0) {
  auto head = std::string{"HTTP/1.1 200 OK\r\n"};
  if (framing == body_framing::sized)
    head += "Content-Length: " + std::to_string(size) + "\r\n";
  else if (framing == body_framing::chunked)
    head += "Transfer-Encoding: chunked\r\n";
  auto out = make_response_parser(limits::http_response_head_bytes_max,
                                  framing == body_framing::none);
  EXPECT_TRUE(out->put_head(as_bytes(head + "\r\n")));
  EXPECT_TRUE(out->has_head());
  EXPECT_EQ(out->head().framing, framing);
  return out;
}

/// Feeds `input` in steps of `step` bytes, as a connection would.
result<std::string> read_body(std::unique_ptr<http_parser> reader,
                              std::string_view input, size_t step,
                              std::string* behind = nullptr) {
  std::string body;
  std::string held;
  while (!reader->done()) {
    if (input.empty()) {
      if (auto end = reader->put_end(); !end)
        return end.error();
      break;
    }
    held += input.substr(0, step);
    input.remove_prefix(std::min(step, input.size()));
    auto used = reader->put_body(as_bytes(held), [&body](bytes_view x) {
      body += as_text(x);
      return x.size();
    });
    if (!used)
      return used.error();
    held.erase(0, *used);
  }
  if (behind)
    *behind = held + std::string{input};
  return body;
}

std::unique_ptr<http_parser> chunked() {
  return parser_of(body_framing::chunked);
}

bytes gzip(bytes_view x) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  bytes out(deflateBound(&z, x.size()));
  z.next_in = const_cast<Bytef*>(x.data());
  z.avail_in = static_cast<uInt>(x.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

} // namespace

TEST(HttpBodyTest, BodiesAreFoundHoweverTheBytesArrive) {
  const std::string wire = "3\r\nabc\r\nA;ext=\"1\"\r\n0123456789\r\n"
                           "00\r\nTrailer: x\r\n\r\nNEXT";
  for (size_t step = 1; step <= wire.size(); ++step) {
    std::string behind;
    auto body = read_body(chunked(), wire, step, &behind);
    ASSERT_TRUE(body) << step;
    EXPECT_EQ(*body, "abc0123456789");
    EXPECT_EQ(behind, "NEXT");
    body = read_body(parser_of(body_framing::sized, 5), "helloNEXT", step, &behind);
    ASSERT_TRUE(body);
    EXPECT_EQ(*body, "hello");
    EXPECT_EQ(behind, "NEXT");
    EXPECT_EQ(*read_body(parser_of(body_framing::to_end), wire, step), wire);
  }
  EXPECT_EQ(*read_body(parser_of(body_framing::none), "", 1), "");
  EXPECT_EQ(*read_body(parser_of(body_framing::sized, 0), "", 1), "");
}

// The size of a chunk counts, and not its bytes, which might never come.
TEST(HttpBodyTest, AChunkAboveTheBoundIsRefusedByItsSize) {
  const auto read = [](const std::string& size, uint64_t body_bytes_max) {
    auto reader = chunked();
    reader->limit_chunks(body_bytes_max);
    const auto wire = "3\r\nabc\r\n" + size + "\r\n";
    const auto used = reader->put_body(as_bytes(wire), [](bytes_view x) {
      return x.size();
    });
    return used ? ec::none : used.error().code;
  };
  EXPECT_EQ(read("a", 13), ec::none);
  EXPECT_EQ(read("b", 13), ec::limit_reached);
  EXPECT_EQ(read("ffffffffffffffff", 13), ec::limit_reached);
  EXPECT_EQ(read("10000000000000000", 13), ec::malformed);
  // In pieces, its first line end would be read first.
  EXPECT_EQ(read("b;x\ny", 13), ec::malformed);
}

TEST(HttpBodyTest, AnEmptyChunkedBodyMayComeByteByByte) {
  for (size_t step = 1; step <= 5; ++step)
    EXPECT_EQ(*read_body(chunked(), "0\r\n\r\n", step), "");
}

TEST(HttpBodyTest, MalformedChunksAreRefused) {
  for (auto wire :
       {"\r\n", "x\r\n", "-1\r\n", "+1\r\na\r\n", "0x1\r\na\r\n", " 1\r\na\r\n",
        "1 \r\na\r\n", "1\na\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n",
        "1\r\nab\r\n0\r\n\r\n", "1\r\na0\r\n\r\n", "1\r\r\na\r\n",
        "10000000000000000\r\n", "1;\x01\r\na\r\n", "1;a\rb\r\na\r\n",
        "1;a=\"\x01\"\r\na\r\n", "0\r\nTrailer: \x01\r\n\r\n", "0\r\n\n"})
    for (size_t step : {1u, 1'000u}) {
      const auto body = read_body(chunked(), wire, step);
      ASSERT_FALSE(body) << wire;
      EXPECT_EQ(body.error().code, ec::malformed) << wire;
    }
}

TEST(HttpBodyTest, LinesAndTrailersAreBounded) {
  auto max = limits::http_chunk_line_bytes_max;
  auto line = [](size_t n) {
    return "0;" + std::string(n - 2, 'x') + "\r\n\r\n";
  };
  EXPECT_TRUE(read_body(chunked(), line(max), 7));
  EXPECT_FALSE(read_body(chunked(), line(max + 1), 7));
  EXPECT_FALSE(read_body(chunked(), std::string(max + 3, '0'), 1));
  auto trailer = [](size_t n) {
    return "0\r\nx: " + std::string(n - 7, 'y') + "\r\n\r\n";
  };
  max = limits::http_trailer_bytes_max;
  EXPECT_TRUE(read_body(chunked(), trailer(max), 64));
  EXPECT_FALSE(read_body(chunked(), trailer(max + 1), 64));
  std::string endless = "0\r\n";
  for (size_t n = 0; n < max; n += 4)
    endless += "x:\r\n";
  EXPECT_FALSE(read_body(chunked(), endless, 64));
}

TEST(HttpBodyTest, ABodyThatEndsEarlyIsCutOff) {
  for (auto wire : {"", "3", "3\r\n", "3\r\nab", "3\r\nabc", "3\r\nabc\r\n",
                    "3\r\nabc\r\n0\r\n", "3\r\nabc\r\n0\r\nx: y\r\n"}) {
    auto body = read_body(chunked(), wire, 100);
    ASSERT_FALSE(body) << wire;
    EXPECT_EQ(body.error().code, ec::unreachable) << wire;
  }
  EXPECT_FALSE(read_body(parser_of(body_framing::sized, 5), "hell", 100));
}

TEST(HttpBodyTest, ATakerThatStopsGetsTheRestAgain) {
  auto reader = chunked();
  std::string body;
  size_t room = 0;
  std::string held = "5\r\nhello\r\n0\r\n\r\n";
  auto take = [&](bytes_view x) {
    auto n = std::min(room, x.size());
    room -= n;
    body += as_text(x.first(n));
    return n;
  };
  for (size_t calls = 1; !reader->done(); ++calls) {
    room = 2;
    auto used = reader->put_body(as_bytes(held), take);
    ASSERT_TRUE(used);
    ASSERT_LE(body.size(), 2 * calls);
    held.erase(0, *used);
  }
  EXPECT_EQ(body, "hello");
}

TEST(HttpBodyTest, GzipIsInflatedInAnySteps) {
  bytes plain(100'000);
  for (size_t i = 0; i < plain.size(); ++i)
    plain[i] = static_cast<uint8_t>(i * i >> 7);
  auto packed = gzip(plain);
  for (size_t in : {1u, 100u, 1'000'000u})
    for (size_t out : {1u, 4'096u, 200'000u}) {
      inflater x;
      bytes got;
      bytes buffer(out);
      bytes_view rest = packed;
      while (!x.done()) {
        auto step = x.run(rest.first(std::min(in, rest.size())), buffer);
        ASSERT_TRUE(step);
        rest = rest.subspan(step->used);
        got.insert(got.end(), buffer.begin(),
                   buffer.begin() + static_cast<ptrdiff_t>(step->made));
      }
      EXPECT_EQ(got, plain);
      EXPECT_FALSE(x.run(as_bytes("more"), buffer));
    }
}

TEST(HttpBodyTest, WhatIsNotOneGzipMemberIsRefused) {
  bytes buffer(1'000);
  EXPECT_FALSE(inflater{}.run(as_bytes("not gzip at all"), buffer));
  auto packed = gzip(as_bytes("some text that is packed"));
  packed[packed.size() - 6] ^= 1; // The checksum.
  EXPECT_FALSE(inflater{}.run(packed, buffer));
  packed.resize(packed.size() - 8);
  inflater cut;
  EXPECT_TRUE(cut.run(packed, buffer));
  EXPECT_FALSE(cut.done());
}

} // namespace weir::net
