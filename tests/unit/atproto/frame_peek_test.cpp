#include "atproto/frame.hpp"
#include "atproto/limits.hpp"
#include "base/limits.hpp"
#include "frame_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Proves protocol-coverage.md 1.4 to 1.7 for a frame that is only peeked at.

namespace weir::tests {

using namespace frames;

namespace {

ec peek_error(bytes_view x) {
  const auto out = peek_frame(x);
  return out ? ec::none : out.error().code;
}

} // namespace

// -- peeking ------------------------------------------------------------------

TEST(FramePeekTest, ReadsKindSeqAndDid) {
  const auto look = [](std::string_view t, const fields& payload) {
    return peek_frame(frame(t, payload)).value();
  };
  auto x = look("#commit", commit_fields());
  EXPECT_EQ(x.kind, frame_kind::commit);
  EXPECT_EQ(x.seq, 7);
  const auto owner = frame("#commit", commit_fields());
  EXPECT_EQ(peek_frame(owner).value().did, who);
  EXPECT_EQ(look("#sync", sync_fields()).kind, frame_kind::sync);
  EXPECT_EQ(look("#identity", identity_fields()).kind, frame_kind::identity);
  EXPECT_EQ(look("#account", account_fields()).kind, frame_kind::account);
  EXPECT_EQ(look("#info", {{"name", text("OutdatedCursor")}}).kind,
            frame_kind::info);
  const auto sync = frame("#sync", sync_fields());
  EXPECT_EQ(peek_frame(sync).value().did, who);
}

TEST(FramePeekTest, ReadsWhenItWasMade) {
  for (const auto* kind : {"#commit", "#sync", "#identity", "#account"}) {
    const fields payload{{"seq", number(9)}, {"time", text(some_time)}};
    const auto whole = frame(kind, payload);
    EXPECT_EQ(peek_frame(whole).value().time, some_time) << kind;
    const auto without = frame(kind, {{"seq", number(9)}, {"time", number(1)}});
    EXPECT_EQ(peek_frame(without).value().time, "") << kind;
  }
}

// protocol-coverage.md 1.6
TEST(FramePeekTest, CountsTheSeqOfAnUnknownKind) {
  const auto newer = frame("#future", {{"seq", number(9)}, {"x", null()}});
  const auto x = peek_frame(newer).value();
  EXPECT_EQ(x.kind, frame_kind::unknown);
  EXPECT_EQ(x.seq, 9);
  const auto other_op
    = join(map({{"op", number(2)}}), map({{"seq", number(10)}}));
  EXPECT_EQ(peek_frame(other_op).value().kind, frame_kind::unknown);
  EXPECT_EQ(peek_frame(other_op).value().seq, 10);
}

// protocol-coverage.md 1.5
TEST(FramePeekTest, KnowsAnErrorFrameAsServersSendIt) {
  const auto x = join(bytes{0xa1, 0x62, 0x6f, 0x70, 0x20},
                      map({{"error", text("FutureCursor")},
                           {"message", text("Cursor in the future.")}}));
  EXPECT_EQ(peek_frame(x).value().kind, frame_kind::error);
  const auto event = std::get<error_event>(decode_frame(x).value());
  EXPECT_EQ(event.name, "FutureCursor");
  EXPECT_EQ(event.message, "Cursor in the future.");
}

// protocol-coverage.md 0.7
TEST(FramePeekTest, LeavesOutASeqThatIsNone) {
  for (const auto& value :
       {number(0), number(-1), number(limits::safe_integer_max + 1), text("7"),
        null()})
    EXPECT_EQ(peek_frame(frame("#commit", with(commit_fields(), "seq", value)))
                .value()
                .seq,
              0);
  EXPECT_EQ(peek_frame(frame("#commit", with(commit_fields(), "seq",
                                             number(limits::safe_integer_max))))
              .value()
              .seq,
            limits::safe_integer_max);
}

TEST(FramePeekTest, LooksAtTheTopOfThePayloadOnly) {
  const auto nested = map({{"seq", number(1)}, {"repo", text("x")}});
  const auto x = frame("#commit", with(commit_fields(), "aaa", nested));
  EXPECT_EQ(peek_frame(x).value().seq, 7);
  EXPECT_EQ(peek_frame(x).value().did, who);
}

// protocol-coverage.md 1.6, 6.8
// protocol-coverage.md 1.0
TEST(FramePeekTest, RefusesAnythingButTwoMaps) {
  const auto good = frame("#commit", commit_fields());
  EXPECT_EQ(peek_error(good), ec::none);
  EXPECT_EQ(peek_error({}), ec::malformed);
  EXPECT_EQ(peek_error(map({{"t", text("#commit")}, {"op", number(1)}})),
            ec::malformed)
    << "no payload";
  EXPECT_EQ(peek_error(join(good, bytes{0xa0})), ec::malformed)
    << "bytes behind it";
  EXPECT_EQ(
    peek_error(join(map({{"t", text("#x")}, {"op", number(1)}}), array({}))),
    ec::malformed)
    << "payload is no map";
  EXPECT_EQ(peek_error(join(array({}), map({}))), ec::malformed);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(peek_error(bytes_view{good}.first(size)), ec::malformed) << size;
}

// protocol-coverage.md 1.5
TEST(FramePeekTest, RefusesHeadersWithoutOpOrT) {
  const auto with_header = [](const fields& x) {
    return peek_error(join(map(x), map({})));
  };
  EXPECT_EQ(with_header({{"t", text("#commit")}}), ec::malformed);
  EXPECT_EQ(with_header({{"op", number(1)}}), ec::malformed);
  EXPECT_EQ(with_header({{"op", text("1")}, {"t", text("#commit")}}),
            ec::malformed);
  EXPECT_EQ(with_header({{"op", number(1)}, {"t", number(1)}}), ec::malformed);
  EXPECT_EQ(with_header({{"op", number(5)}}), ec::none) << "unknown op";
}

// protocol-coverage.md 1.7
// protocol-coverage.md 6.0
TEST(FramePeekTest, IsStrictInAllButTheOrderOfKeys) {
  auto reversed = commit_fields();
  std::ranges::reverse(reversed);
  EXPECT_EQ(peek_error(frame("#commit", reversed)), ec::none);
  EXPECT_EQ(decode_error(frame("#commit", reversed)), ec::none);
  const auto with_value = [](const bytes& value) {
    return peek_error(frame("#commit", with(commit_fields(), "x", value)));
  };
  EXPECT_EQ(with_value({0x18, 0x01}), ec::malformed) << "long integer";
  EXPECT_EQ(with_value({0x9f, 0xff}), ec::malformed) << "indefinite length";
  EXPECT_EQ(with_value({0xf7}), ec::malformed) << "undefined";
  EXPECT_EQ(with_value({0x61, 0xff}), ec::malformed) << "UTF-8";
  EXPECT_EQ(with_value({0xc1, 0x01}), ec::malformed) << "foreign tag";
  EXPECT_EQ(with_value({0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}), ec::malformed)
    << "float";
  EXPECT_EQ(with_value({0xa1, 0x01, 0x01}), ec::malformed) << "key no text";
  auto twice = commit_fields();
  twice.push_back(twice[2]);
  EXPECT_EQ(peek_error(frame("#commit", twice)), ec::malformed);
  EXPECT_EQ(decode_error(frame("#commit", twice)), ec::malformed);
}

// protocol-coverage.md 1.4, 10.1, 10.7
TEST(FramePeekTest, KeepsItsLimits) {
  const auto nest = [](size_t depth) {
    auto out = null();
    for (size_t i = 0; i < depth; ++i)
      out = array({out});
    return frame("#commit", with(commit_fields(), "x", out));
  };
  EXPECT_EQ(peek_error(nest(limits::frame_depth_max - 1)), ec::none);
  EXPECT_EQ(peek_error(nest(limits::frame_depth_max)), ec::limit_reached);
  EXPECT_EQ(decode_error(nest(limits::frame_depth_max - 1)), ec::none);
  EXPECT_EQ(decode_error(nest(limits::frame_depth_max)), ec::limit_reached);

  const auto of_size = [](size_t size) {
    const auto padded = [](size_t padding) {
      return frame("#future", {{"x", encode([&](auto& out) {
                                  out.put_bytes(bytes(padding));
                                })}});
    };
    const auto around = padded(size).size() - size;
    return padded(size - around);
  };
  const auto largest = of_size(limits::frame_bytes_max);
  ASSERT_EQ(largest.size(), limits::frame_bytes_max);
  EXPECT_EQ(peek_error(largest), ec::none);
  EXPECT_EQ(peek_error(of_size(limits::frame_bytes_max + 1)),
            ec::limit_reached);
}

} // namespace weir::tests
