#include "net/address_guard.hpp"
#include "net/inflater.hpp"
#include "net/url.hpp"
#include "net/ws_codec.hpp"
#include "simnet/gzip.hpp"
#include "tests/fuzz/sample_network.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <arpa/inet.h>

namespace weir::fuzz {

namespace {

using namespace net;

// -- gzip ---------------------------------------------------------------------

struct inflated {
  bool good = true;
  bool done = false;
  bytes out;

  bool operator==(const inflated&) const = default;
};

inflated inflate(bytes_view input, uint8_t pattern) {
  inflated out;
  inflater x;
  std::array<uint8_t, 97> room{};
  in_pieces(input, pattern, [&](bytes_view piece) {
    while (out.good && out.out.size() < 65'536) {
      const auto step = x.run(piece, room);
      out.good = step.has_value();
      if (!out.good)
        break;
      out.out.insert(out.out.end(), room.begin(),
                     room.begin() + static_cast<long>(step->made));
      piece = piece.subspan(step->used);
      if (piece.empty() && step->made < room.size())
        return true;
      require(step->used != 0 || step->made != 0, "inflating gets on");
    }
    return false;
  });
  out.done = x.done();
  return out;
}

void run_gzip(bytes_view input) {
  if (input.empty())
    return;
  const auto whole = inflate(input.subspan(1), 0);
  const auto pieces = inflate(input.subspan(1), input.front() | 1);
  if (whole.good && whole.out.size() < 65'536)
    require(whole == pieces, "gzip reads the same in any pieces");
}

std::vector<bytes> gzip_seeds() {
  std::vector<bytes> out;
  for (const auto& x : sample().records)
    out.push_back(simnet::gzip(x));
  for (auto& x : out)
    x.insert(x.begin(), 5);
  return out;
}

// -- WebSocket ----------------------------------------------------------------

using ws_kind = ws_decoder::kind;

struct ws_reading {
  std::vector<std::tuple<ws_kind, bytes, uint16_t>> events;

  bool operator==(const ws_reading&) const = default;
};

constexpr size_t message_max = 20'000;

ws_reading read_ws(bytes_view input, bool masked, uint8_t pattern) {
  ws_reading out;
  ws_decoder decoder{masked, message_max};
  in_pieces(input, pattern, [&](bytes_view piece) {
    while (!piece.empty()) {
      const auto room = decoder.prepare();
      require(!room.empty(), "there is room for more bytes");
      const auto n = std::min(room.size(), piece.size());
      std::copy_n(piece.begin(), n, room.begin());
      decoder.commit(n);
      piece = piece.subspan(n);
      for (;;) {
        const auto x = decoder.next();
        if (x.what == ws_kind::none)
          break;
        require(x.payload.size() <= message_max, "a message has a bound");
        require(x.what != ws_kind::text || is_utf8(as_text(x.payload.view())),
                "text is UTF-8");
        const auto payload = x.payload.view();
        if (x.what != ws_kind::fragment)
          out.events.emplace_back(x.what, bytes{payload.begin(), payload.end()},
                                  x.code);
        if (x.what == ws_kind::failed)
          return false;
      }
    }
    return true;
  });
  return out;
}

/// Both directions (RFC 6455): masked frames of clients, unmasked ones of
/// servers.
void run_ws(bytes_view input) {
  if (input.empty())
    return;
  const bool masked = input.front() % 2 != 0;
  const auto pattern = static_cast<uint8_t>(input.front() | 1);
  const auto stream = input.subspan(1);
  require(read_ws(stream, masked, 0) == read_ws(stream, masked, pattern),
          "frames read the same in any pieces");
}

std::vector<bytes> ws_seeds() {
  std::vector<bytes> out;
  const auto add = [&out](const std::optional<std::array<uint8_t, 4>>& mask) {
    bytes stream{static_cast<uint8_t>(mask ? 1 : 2)};
    const auto close = ws_close_payload(1000, "bye");
    for (const auto& frame :
         {ws_frame(ws_opcode::text, as_bytes("{\"type\":\"ack\",\"id\":1}"),
                   mask),
          ws_frame(ws_opcode::ping, as_bytes("ping"), mask),
          ws_frame(ws_opcode::binary, bytes(300, 7), mask),
          ws_frame(ws_opcode::binary, bytes(18'000, 7), mask),
          ws_frame(ws_opcode::close, close, mask)})
      stream.insert(stream.end(), frame.begin(), frame.end());
    out.push_back(std::move(stream));
  };
  add(std::nullopt);
  add(std::array<uint8_t, 4>{1, 2, 3, 4});
  // A message in two fragments with a pong between them.
  out.push_back({2, 0x01, 1, 'a', 0x8a, 0, 0x80, 1, 'b'});
  return out;
}

// -- where we may connect -----------------------------------------------------

/// The table of net/address_guard.cpp, written again as numbers.
bool may_dial_v4(uint32_t x) {
  const auto in = [x](uint32_t a, uint32_t b, uint32_t c, unsigned bits) {
    return x >> (32 - bits) == (a << 24 | b << 16 | c << 8) >> (32 - bits);
  };
  return x >= 0x01000000 && x < 0xe0000000 && !in(10, 0, 0, 8)
         && !in(100, 64, 0, 10) && !in(127, 0, 0, 8) && !in(169, 254, 0, 16)
         && !in(172, 16, 0, 12) && !in(192, 0, 0, 24) && !in(192, 0, 2, 24)
         && !in(192, 88, 99, 24) && !in(192, 168, 0, 16) && !in(198, 18, 0, 15)
         && !in(198, 51, 100, 24) && !in(203, 0, 113, 24);
}

bool may_dial_v6(const std::array<uint8_t, 16>& x) {
  const auto word = [&x](size_t i) {
    return static_cast<uint32_t>(x[4 * i]) << 24
           | static_cast<uint32_t>(x[4 * i + 1]) << 16
           | static_cast<uint32_t>(x[4 * i + 2]) << 8 | x[4 * i + 3];
  };
  const bool mapped = word(0) == 0 && word(1) == 0 && word(2) == 0xffff;
  const bool nat64 = word(0) == 0x0064ff9b && word(1) == 0 && word(2) == 0;
  if (mapped || nat64)
    return may_dial_v4(word(3));
  const auto front = word(0);
  return front >= 0x20000000 && front < 0x40000000
         && !(front >= 0x20010000 && front < 0x20010200) && front != 0x20010db8
         && front >> 16 != 0x2002 && front >> 12 != 0x3fff0;
}

void check_address(const ip_address& x) {
  std::array<uint8_t, 4> v4{};
  std::copy_n(x.octets.begin(), 4, v4.begin());
  const auto number = static_cast<uint32_t>(v4[0]) << 24
                      | static_cast<uint32_t>(v4[1]) << 16
                      | static_cast<uint32_t>(v4[2]) << 8 | v4[3];
  const bool expected = x.v6 ? may_dial_v6(x.octets) : may_dial_v4(number);
  require(address_guard{}.check_address(x).has_value() == expected,
          "the guard keeps its table");
  const auto back = ip_address::parse(to_string(x));
  require(back && *back == x, "an address comes back from its text");
}

void check_text_address(std::string_view text) {
  const auto parsed = ip_address::parse(text);
  const std::string ended{text};
  std::array<uint8_t, 16> octets{};
  const bool v4 = inet_pton(AF_INET, ended.c_str(), octets.data()) == 1;
  const bool v6 = !v4 && inet_pton(AF_INET6, ended.c_str(), octets.data()) == 1;
  const bool known = (v4 || v6) && text.find('\0') == std::string_view::npos;
  require(parsed.has_value() == known, "an address is what the system says");
  require(!parsed || (parsed->v6 == v6 && parsed->octets == octets),
          "an address has the system's bytes");
}

/// URLs from documents and redirects, and all addresses.
void run_url(bytes_view input) {
  const auto text = as_text(input);
  check_text_address(text);
  for (const bool v6 : {false, true}) {
    ip_address x{{}, v6};
    std::copy_n(input.begin(), std::min<size_t>(input.size(), v6 ? 16 : 4),
                x.octets.begin());
    check_address(x);
  }
  static const auto base = parse_url("https://pds.example.com/a/b?c").value();
  if (const auto moved = resolve_reference(base, text))
    require(parse_url(to_string(*moved)).value() == *moved,
            "a redirect is a URL");
  if (const auto plain = percent_decode(text))
    require(percent_decode(percent_encode(*plain)).value() == *plain,
            "percent encoding comes back");
  const auto x = parse_url(text);
  if (!x)
    return;
  require(!x->host.empty() && x->port != 0 && x->target.starts_with('/'),
          "a URL has all its parts");
  const auto again = parse_url(to_string(*x));
  require(again && *again == *x, "a URL has one normal form");
  const auto clean = [](char c) {
    return c > 0x20 && c != 0x7f;
  };
  require(std::ranges::all_of(to_string(*x), clean)
            || std::ranges::any_of(text,
                                   [](char c) {
                                     return c < 0;
                                   }),
          "a URL has no blanks");
  require(!address_guard{}.check_url(*x)
            || (x->secure() && x->port == 443 && !ip_address::parse(x->host)
                && x->host.find('.') != std::string::npos),
          "only names of public hosts pass");
}

std::vector<bytes> url_seeds() {
  std::vector<bytes> out;
  for (const auto* x :
       {"https://pds.example.com", "wss://relay.example.com:8443/x?y=1#z",
        "http://[::1]:2583/", "//other.example.com/p", "../q", "?r=%20",
        "https://127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "203.0.113.7",
        "https://a.b@c.d/", "https://xn--a.example.com/%41"})
    out.push_back(to_bytes(x));
  return out;
}

constexpr target group[] = {
  {"gzip", run_gzip, gzip_seeds},
  {"ws", run_ws, ws_seeds},
  {"url", run_url, url_seeds},
};

} // namespace

std::span<const target> net_targets() {
  return group;
}

} // namespace weir::fuzz
