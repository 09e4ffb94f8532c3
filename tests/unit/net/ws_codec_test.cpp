#include "net/ws_codec.hpp"
#include "net/ws_message.hpp"

#include <gtest/gtest.h>

#include <random>

namespace weir::net {

namespace {

using event_is = ws_decoder::kind;

constexpr std::array<uint8_t, 4> mask{0x12, 0x34, 0x56, 0x78};

bytes operator""_b(const char* text, size_t n) {
  auto x = as_bytes({text, n});
  return {x.begin(), x.end()};
}

void append(bytes& to, const bytes& x) {
  to.insert(to.end(), x.begin(), x.end());
}

/// A frame that is not the last of its message.
bytes fragment(ws_opcode opcode, std::string_view payload) {
  auto x = ws_frame(opcode, as_bytes(payload));
  x[0] &= 0x7f;
  return x;
}

/// The events of a decoder that gets at most `step` bytes of `input` at a time.
std::vector<ws_decoder::event> decode(ws_decoder& x, bytes_view input,
                                      size_t step) {
  std::vector<ws_decoder::event> events;
  while (!input.empty()) {
    auto into = x.prepare();
    auto n = std::min({step, into.size(), input.size()});
    std::copy_n(input.begin(), n, into.begin());
    x.commit(n);
    input = input.subspan(n);
    for (;;) {
      auto event = x.next();
      if (event.what == event_is::none)
        break;
      events.push_back(event);
      if (event.what == event_is::failed)
        return events;
    }
  }
  return events;
}

std::vector<ws_decoder::event> decode(const bytes& input, bool masked = false,
                                      size_t limit = 1'000) {
  ws_decoder x{masked, limit};
  return decode(x, input, 1);
}

/// The close code of the failure; 0 when nothing fails.
uint16_t failure(const bytes& input, bool masked = false) {
  auto events = decode(input, masked);
  return !events.empty() && events.back().what == event_is::failed
           ? events.back().code
           : uint16_t{0};
}

} // namespace

TEST(WsCodecTest, FramesGoThereAndBackWhateverTheirSize) {
  for (size_t size : {0u, 1u, 125u, 126u, 127u, 65'535u, 65'536u, 300'000u})
    for (auto masked : {false, true})
      for (size_t step : {1u, 7u, 4'096u, 1'000'000u}) {
        if (step == 1 && size > 100'000)
          continue;
        bytes payload(size);
        for (size_t i = 0; i < size; ++i)
          payload[i] = static_cast<uint8_t>(i * 31 >> 3);
        auto wire = masked ? ws_frame(ws_opcode::binary, payload, mask)
                           : ws_frame(ws_opcode::binary, payload);
        ws_decoder x{masked, 300'000};
        auto twice = wire;
        append(twice, wire);
        auto events = decode(x, twice, step);
        ASSERT_EQ(events.size(), 2u) << size << ' ' << step;
        for (auto& event : events) {
          EXPECT_EQ(event.what, event_is::binary);
          EXPECT_TRUE(std::equal(payload.begin(), payload.end(),
                                 event.payload.view().begin(),
                                 event.payload.view().end()));
        }
      }
}

TEST(WsCodecTest, FragmentsAreAssembledWithControlFramesBetween) {
  bytes wire = fragment(ws_opcode::text, "Hel");
  append(wire, ws_frame(ws_opcode::ping, as_bytes("p")));
  append(wire, fragment(ws_opcode::continuation, ""));
  append(wire, fragment(ws_opcode::continuation, "l"));
  append(wire, ws_frame(ws_opcode::pong, {}));
  append(wire, ws_frame(ws_opcode::continuation, as_bytes("o")));
  append(wire, ws_frame(ws_opcode::text, as_bytes("next")));
  std::string seen;
  for (auto& x : decode(wire)) {
    seen += x.what == event_is::fragment ? 'f'
            : x.what == event_is::ping   ? 'P'
            : x.what == event_is::pong   ? 'O'
                                         : ' ';
    seen += as_text(x.payload.view());
  }
  EXPECT_EQ(seen, "fPpffO Hello next");
}

// RFC 6455, sections 5.1 to 5.5: each of these MUST fail the connection.
TEST(WsCodecTest, BrokenFramesFailWithTheRightCode) {
  struct {
    bytes wire;
    uint16_t code;
  } const cases[] = {
    {"\xc1\x01x"_b, 1002}, // RSV1 without an extension.
    {"\xa1\x01x"_b, 1002},
    {"\x91\x01x"_b, 1002},
    {"\x83\x00"_b, 1002}, // Reserved opcodes.
    {"\x87\x00"_b, 1002},
    {"\x8b\x00"_b, 1002},
    {"\x8f\x00"_b, 1002},
    {"\x09\x00"_b, 1002},         // Ping in fragments.
    {"\x89\x7e\x00\x7e"_b, 1002}, // Ping of 126 bytes.
    {"\x82\x7e\x00\x7d"_b, 1002}, // Length not minimal.
    {"\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff"_b, 1002},
    {"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00"_b, 1002},
    {"\x82\x81\x01\x02\x03\x04x"_b, 1002}, // Masked by a server.
    {"\x80\x01x"_b, 1002},                 // Continues nothing.
    {"\x01\x01x\x81\x01y"_b, 1002},        // New message inside another.
    {"\x82\x7f\x00\x00\x00\x00\x7f\xff\xff\xff"_b, 1009},
    {"\x81\x02\xc3\x28"_b, 1007},
    {"\x88\x01\x03"_b, 1002},         // Close with half a code.
    {"\x88\x02\x03\xe7"_b, 1002},     // 999
    {"\x88\x02\x03\xec"_b, 1002},     // 1004
    {"\x88\x02\x03\xed"_b, 1002},     // 1005
    {"\x88\x02\x03\xee"_b, 1002},     // 1006
    {"\x88\x02\x03\xf7"_b, 1002},     // 1015
    {"\x88\x02\x07\xcf"_b, 1002},     // 1999
    {"\x88\x02\x13\x88"_b, 1002},     // 5000
    {"\x88\x03\x03\xe8\xff"_b, 1007}, // Reason that is not UTF-8.
  };
  for (auto& x : cases)
    EXPECT_EQ(failure(x.wire), x.code)
      << static_cast<int>(x.wire[0]) << ' ' << static_cast<int>(x.wire[1]);
  EXPECT_EQ(failure("\x81\x01x"_b, true), 1002) << "a client that masks not";
}

TEST(WsCodecTest, MessagesAreBoundedAlsoInFragments) {
  bytes payload(1'000);
  EXPECT_EQ(failure(ws_frame(ws_opcode::binary, payload)), 0);
  payload.push_back(0);
  EXPECT_EQ(failure(ws_frame(ws_opcode::binary, payload)), 1009);
  auto parts = fragment(ws_opcode::binary, std::string(600, 'x'));
  auto exact = parts;
  append(exact, ws_frame(ws_opcode::continuation, bytes(400)));
  EXPECT_EQ(failure(exact), 0);
  append(parts, ws_frame(ws_opcode::continuation, bytes(401)));
  EXPECT_EQ(failure(parts), 1009);
}

TEST(WsCodecTest, TheBufferFollowsTheTraffic) {
  ws_decoder x{false, 1'000};
  EXPECT_EQ(x.prepare().size(), 4'096u);
  bytes busy;
  while (busy.size() < 1'000'000)
    append(busy, ws_frame(ws_opcode::binary, bytes(100)));
  decode(x, busy, 1'000'000);
  EXPECT_GT(x.prepare().size(), 60'000u);
  for (int i = 0; i < 100; ++i)
    decode(x, ws_frame(ws_opcode::binary, bytes(100)), 1'000);
  EXPECT_EQ(x.prepare().size(), 4'096u);
}

// Bytes of a payload that are read ahead with its header are copied once more.
TEST(WsCodecTest, BehindALargeMessageOnlyAHeaderIsReadAhead) {
  ws_decoder x{false, 100'000};
  bytes busy;
  while (busy.size() < 1'000'000)
    append(busy, ws_frame(ws_opcode::binary, bytes(100)));
  decode(x, busy, 1'000'000);
  const auto large = ws_frame(ws_opcode::binary, bytes(100'000));
  const auto most = bytes_view{large}.first(large.size() - 100);
  decode(x, most, 1'000'000);
  EXPECT_GT(x.prepare().size(), 60'000u) << "its end and what follows";
  decode(x, bytes_view{large}.last(100), 1'000'000);
  decode(x, large, 1'000'000);
  EXPECT_EQ(x.prepare().size(), 4'096u);
  decode(x, ws_frame(ws_opcode::binary, bytes(100)), 1'000'000);
  EXPECT_GT(x.prepare().size(), 60'000u) << "small messages come again";
}

TEST(WsCodecTest, AFailureStays) {
  ws_decoder x{false, 10};
  EXPECT_EQ(decode(x, "\xff\xff"_b, 1).back().what, event_is::failed);
  EXPECT_EQ(x.next().what, event_is::failed);
}

TEST(WsCodecTest, CloseFramesCarryCodeAndReason) {
  auto events
    = decode(ws_frame(ws_opcode::close, ws_close_payload(1008, "no")));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].what, event_is::close);
  EXPECT_EQ(events[0].code, 1008);
  EXPECT_EQ(as_text(events[0].payload.view()), "no");
  events = decode(ws_frame(ws_opcode::close, {}));
  EXPECT_EQ(events[0].code, 0);
}

TEST(WsCodecTest, CloseReasonsAreCutAtACharacter) {
  EXPECT_EQ(ws_close_payload(1000, std::string(123, 'x')).size(), 125u);
  EXPECT_EQ(ws_close_payload(1000, std::string(124, 'x')).size(), 125u);
  // 122 bytes, then one character of two bytes: it does not fit.
  EXPECT_EQ(ws_close_payload(1000, std::string(122, 'x') + "\xc3\xa9").size(),
            124u);
}

TEST(WsCodecTest, Utf8IsCheckedToTheLetter) {
  for (auto text :
       {"", "plain", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (auto text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41",
                    "\xe0\x9f\xbf", "\xe1\x80", "\xed\xa0\x80", "\xed\xbf\xbf",
                    "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80",
                    "\xf5\x80\x80\x80", "\xff", "a\xfe"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(WsCodecTest, TheHandshakeKeyIsTheOneOfTheRfc) {
  EXPECT_EQ(ws_accept_key("dGhlIHNhbXBsZSBub25jZQ=="),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(base64(as_bytes("")), "");
  EXPECT_EQ(base64(as_bytes("ab")), "YWI=");
}

TEST(WsCodecTest, MessagesAreFramedOnceForAll) {
  auto x = ws_message::text("hi");
  EXPECT_EQ(as_text(x.frame().view()), "\x81\x02hi");
  EXPECT_EQ(x.size(), 4u);
  EXPECT_EQ(ws_message::binary(bytes(200)).frame().data()[0], 0x82);
}

// Any hostile input ends in events or in a failure, never in a crash;
// sanitizers detect errors. The seed is fixed, so that a failure can be
// repeated.
TEST(WsCodecTest, RandomBytesAreSurvived) {
  std::mt19937 random{20'240'501};
  for (int round = 0; round < 20'000; ++round) {
    bytes wire(random() % 64);
    for (auto& x : wire)
      x = static_cast<uint8_t>(random());
    if (!wire.empty() && round % 2 == 0)
      wire[0] = "\x01\x02\x80\x81\x82\x88\x89\x8a"[random() % 8];
    ws_decoder x{round % 3 == 0, 40};
    for (auto& event : decode(x, wire, 1 + random() % 9))
      EXPECT_LE(event.payload.size(), 125u);
  }
}

} // namespace weir::net
