#include "net/http_parser.hpp"
#include "net/limits.hpp"
#include "net/retry_hints.hpp"
#include "tests/fuzz/target.hpp"

#include <functional>
#include <memory>

namespace weir::fuzz {

namespace {

using namespace net;

void check_fields(const http_head& head) {
  for (const auto& [name, value] : head.headers)
    require(is_token(name) && is_header_value(value), "fields are clean");
  require(head.headers.size() <= limits::http_request_fields_max,
          "fields are counted");
}

struct body_reading {
  bool good = false;
  bool done = false;
  size_t used = 0;
  bytes body;

  bool operator==(const body_reading&) const = default;
};

using parser_ptr = std::unique_ptr<http_parser>;
using make_parser = std::function<parser_ptr()>;

/// Reads as a connection does: bytes that were not taken come again, followed
/// by more.
body_reading read_body(http_parser& parser, bytes_view all, uint8_t pattern) {
  body_reading out;
  out.good = true;
  size_t arrived = 0;
  in_pieces(all, pattern, [&](bytes_view piece) {
    arrived += piece.size();
    const auto offered = all.subspan(out.used, arrived - out.used);
    const auto used = parser.put_body(offered, [&](bytes_view x) {
      out.body.insert(out.body.end(), x.begin(), x.end());
      return x.size();
    });
    out.good = used.has_value();
    if (!out.good)
      return false;
    require(*used <= offered.size(), "no more is used than was offered");
    out.used += *used;
    return !parser.done();
  });
  out.done = parser.done();
  // An error may be found at the first byte or at the last; the rest must
  // agree.
  if (!out.good)
    return {};
  out.good = out.done || parser.put_end().has_value();
  return out;
}

/// The size of a head that is read in pieces of any size; 0 when it is invalid.
size_t read_head(http_parser& parser, bytes_view all, uint8_t pattern) {
  size_t used = 0;
  size_t arrived = 0;
  in_pieces(all, pattern, [&](bytes_view piece) {
    arrived += piece.size();
    const auto offered = all.subspan(used, arrived - used);
    const auto n = parser.put_head(offered);
    require(!n || *n <= offered.size(), "no more is used than was offered");
    used = n ? used + *n : 0;
    return n.has_value() && !parser.has_head();
  });
  return parser.has_head() ? used : 0;
}

/// Reads a head, at once and in pieces. Null when it is invalid.
parser_ptr check_head(const make_parser& make, bytes_view input, size_t& size,
                      uint8_t pattern) {
  auto whole = make();
  auto split = make();
  size = read_head(*whole, input, 0);
  require(size == read_head(*split, input, pattern | 1),
          "a head ends at the same byte in any pieces");
  return size == 0 ? nullptr : std::move(whole);
}

void check_body(const make_parser& make, bytes_view message, size_t head_size,
                uint8_t pattern) {
  const auto whole = make();
  const auto split = make();
  require(read_head(*whole, message, 0) == read_head(*split, message, 0),
          "a head reads the same twice");
  const auto body = message.subspan(head_size);
  const auto pieces = read_body(*split, body, pattern | 1);
  require(read_body(*whole, body, 0) == pieces,
          "a body reads the same in any pieces");
  require(whole->head().framing != body_framing::sized
            || pieces.body.size() <= whole->head().content_length,
          "a body has no more bytes than it says");
}

/// A strict head, then its body (hostile-inputs.md 2.2.5).
void run_http_request(bytes_view input) {
  if (input.empty())
    return;
  const auto rest = input.subspan(1);
  const auto make = [] {
    return make_request_parser(limits::http_request_head_bytes_max);
  };
  size_t size = 0;
  const auto parser = check_head(make, rest, size, input.front());
  if (!parser)
    return;
  require(size <= limits::http_request_head_bytes_max
            && as_text(rest).find("\r\n\r\n") + 4 == size,
          "a head has one end");
  const auto& head = parser->head();
  if (const auto refused = check_request_head(head)) {
    require(refused->status == 400 || refused->status == 431,
            "a refusal has a status");
    return;
  }
  check_fields(head);
  require(is_token(head.method) && head.target.starts_with('/'),
          "a request has a method and a path");
  require(head.framing != body_framing::to_end,
          "the end of a request shows in its head");
  require(find_header(head.headers, "host") != nullptr,
          "a request names its host");
  check_body(make, rest, size, input.front());
}

std::vector<bytes> http_request_seeds() {
  return {to_bytes("\1GET /repos?limit=5 HTTP/1.1\r\nHost: a\r\n\r\n"),
          to_bytes("\7POST /repos/add HTTP/1.1\r\nHost: a:1\r\n"
                   "Content-Length: 11\r\n\r\n{\"dids\":[]}"),
          to_bytes("\3POST / HTTP/1.1\r\nHost: a\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n"
                   "5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n"),
          to_bytes("\1GET /channel HTTP/1.1\r\nHost: a\r\n"
                   "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")};
}

void run_http_response(bytes_view input) {
  if (input.empty())
    return;
  const auto rest = input.subspan(1);
  const auto make = [to_head = input.front() == 0xff] {
    return make_response_parser(limits::http_response_head_bytes_max, to_head);
  };
  size_t size = 0;
  const auto parser = check_head(make, rest, size, input.front());
  if (!parser)
    return;
  const auto& head = parser->head();
  require(head.status >= 100 && head.status <= 999,
          "a status has three digits");
  for (const auto hint : {retry_after(head.headers, wall_time{}),
                          rate_limit_reset(head.headers, wall_time{})})
    require(!hint || (hint->count() >= 0 && *hint <= limits::retry_wait_max),
            "nobody waits for more than a day");
  check_body(make, rest, size, input.front());
}

std::vector<bytes> http_response_seeds() {
  return {to_bytes("\1HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
          to_bytes("\5HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "a\r\n0123456789\r\n0\r\n\r\n"),
          to_bytes("\1HTTP/1.1 429 Slow\r\nRetry-After: 30\r\n"
                   "RateLimit-Reset: 1700000000\r\n\r\nwait"),
          to_bytes("\1HTTP/1.1 503 No\r\nRetry-After: Sun, 06 Nov 1994 "
                   "08:49:37 GMT\r\nConnection: close\r\n\r\n"),
          to_bytes("\1HTTP/1.0 301 Moved\r\nLocation: /x\r\n\r\n")};
}

constexpr target group[] = {
  {"http_request", run_http_request, http_request_seeds},
  {"http_response", run_http_response, http_response_seeds},
};

} // namespace

std::span<const target> http_targets() {
  return group;
}

} // namespace weir::fuzz
