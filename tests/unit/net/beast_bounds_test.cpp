#include "net/http_parser.hpp"
#include "net/limits.hpp"
#include "tests/unit/net/memory_stream.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <gtest/gtest.h>

#include <optional>

// The bounds that Beast's WebSockets cannot keep (ADR 0025). Each test is about
// Beast itself: one that fails says that Beast can do it by now, and that the
// reason for code of our own is gone.

namespace weir::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

/// A server in memory: answers the request for an upgrade, and sends bytes
/// behind it.
class upgrading_wire : public memory_stream<upgrading_wire> {
public:
  using memory_stream::memory_stream;

  /// @param head_bytes The size of the head, which a field fills up.
  void answer_with(unsigned status, size_t head_bytes, std::string behind) {
    status_ = status;
    head_bytes_ = head_bytes;
    behind_ = std::move(behind);
  }

  size_t given() const noexcept { return given_; }

  /// The whole answer, once it was asked for.
  const std::string& answer() const noexcept { return answer_; }

  std::string_view ready() {
    if (answer_.empty())
      make_answer();
    return std::string_view{answer_}.substr(given_);
  }

  void read(size_t n) { given_ += n; }

private:
  void make_answer() {
    answer_ = "HTTP/1.1 " + std::to_string(status_) + " OK\r\n" + accept();
    if (status_ != 101)
      answer_ += "Content-Length: " + std::to_string(behind_.size()) + "\r\n";
    constexpr std::string_view name = "X: ";
    constexpr size_t ends = 4;
    if (const auto used = answer_.size() + name.size() + ends;
        used < head_bytes_)
      answer_
        += std::string{name} + std::string(head_bytes_ - used, 'x') + "\r\n";
    answer_ += "\r\n" + behind_;
  }

  unsigned status_ = 101;
  size_t head_bytes_ = 0;
  std::string behind_;
  std::string answer_;
  size_t given_ = 0;
};

void teardown(beast::role_type, upgrading_wire&, beast::error_code& error) {
  error = {};
}

/// A client of Beast's at the other end.
class BeastBoundsTest : public testing::Test {
protected:
  beast::error_code upgrade(unsigned status, size_t head_bytes,
                            std::string behind) {
    stream_.emplace(context_);
    wire().answer_with(status, head_bytes, std::move(behind));
    beast::error_code error;
    stream_->handshake("a", "/", error);
    return error;
  }

  /// Upgrades, and reads one message out of these frames.
  beast::error_code read(const bytes& frames) {
    EXPECT_FALSE(upgrade(101, 0, std::string{as_text(frames)}));
    beast::error_code error;
    stream_->read(message_, error);
    return error;
  }

  /// The code of the close frame that the client sent.
  unsigned sent_close_code() {
    const auto x = as_bytes(wire().asked());
    if (x.size() != 8 || x[0] != 0x88)
      return 0;
    return static_cast<unsigned>((x[6] ^ x[2]) << 8 | (x[7] ^ x[3]));
  }

  upgrading_wire& wire() { return stream_->next_layer(); }

  asio::io_context context_;
  std::optional<websocket::stream<upgrading_wire, false>> stream_;
  beast::flat_buffer message_;
};

bool our_parser_reads_the_head_of(const std::string& answer) {
  const auto parser
    = make_response_parser(limits::http_response_head_bytes_max);
  return parser->put_head(as_bytes(answer)) && parser->has_head();
}

bytes not_the_last(ws_opcode opcode) {
  auto out = ws_frame(opcode, {});
  out[0] &= 0x7f;
  return out;
}

bytes close_frame(std::initializer_list<uint8_t> payload) {
  return ws_frame(ws_opcode::close, bytes{payload});
}

} // namespace

// When the head does not fit into the 1,536 bytes of the stream's own buffer,
// what comes behind it has to.
TEST_F(BeastBoundsTest, AnUpgradeFailsWhenFramesAreBehindALongHead) {
  for (const size_t head : {4'000, 7'000, 8'000}) {
    EXPECT_FALSE(upgrade(101, head, std::string(1'536, 'f'))) << head;
    EXPECT_EQ(upgrade(101, head, std::string(1'537, 'f')),
              beast::http::error::buffer_overflow)
      << head;
    EXPECT_TRUE(our_parser_reads_the_head_of(wire().answer()));
  }
}

// The parser of the handshake is out of reach, with its bound of 8,192 bytes.
TEST_F(BeastBoundsTest, AnUpgradeFailsWhenItsHeadIsLongerThanBeastAllows) {
  EXPECT_FALSE(upgrade(101, 8'192, {}));
  EXPECT_EQ(upgrade(101, 9'000, {}), beast::http::error::header_limit);
  ASSERT_GT(limits::http_response_head_bytes_max, 9'000u);
  EXPECT_TRUE(our_parser_reads_the_head_of(wire().answer()));
}

// Ours looks at the status, and closes.
TEST_F(BeastBoundsTest, ARefusalIsReadWithItsWholeBody) {
  EXPECT_EQ(upgrade(429, 0, std::string(1'000'000, 'b')),
            websocket::error::upgrade_declined);
  EXPECT_EQ(wire().given(), wire().answer().size());
}

// 64 KiB of them would pass `ws_frames_per_second_max`.
TEST_F(BeastBoundsTest, EmptyFragmentsAreReadWithoutAWord) {
  constexpr size_t fragments = 10'000;
  auto frames = not_the_last(ws_opcode::text);
  for (size_t i = 1; i < fragments; ++i) {
    const auto x = not_the_last(ws_opcode::continuation);
    frames.insert(frames.end(), x.begin(), x.end());
  }
  const auto last = ws_frame(ws_opcode::continuation, as_bytes("x"));
  frames.insert(frames.end(), last.begin(), last.end());
  ASSERT_FALSE(upgrade(101, 0, std::string{as_text(frames)}));
  size_t told = 0;
  stream_->control_callback([&told](auto&&...) {
    ++told;
  });
  beast::error_code error;
  EXPECT_EQ(stream_->read_some(message_, 100, error), 1u)
    << "the first return of a read";
  EXPECT_FALSE(error);
  EXPECT_EQ(told, 0u);
  EXPECT_EQ(wire().given(), wire().answer().size());
}

TEST_F(BeastBoundsTest, APongIsWrittenFromInsideTheRead) {
  auto frames = ws_frame(ws_opcode::ping, as_bytes("p"));
  const auto text = ws_frame(ws_opcode::text, as_bytes("x"));
  frames.insert(frames.end(), text.begin(), text.end());
  EXPECT_FALSE(read(frames));
  EXPECT_EQ(wire().asked().substr(0, 2), "\x8a\x81");
}

TEST_F(BeastBoundsTest, TheCloseCode1014IsRefused) {
  EXPECT_EQ(read(close_frame({1'014 >> 8, 1'014 & 0xff})),
            websocket::error::bad_close_code);
  EXPECT_EQ(sent_close_code(), ws_code::protocol_error);
  EXPECT_TRUE(is_valid_close_code(1'014));
}

TEST_F(BeastBoundsTest, AReasonThatIsNoUtf8IsNotAnsweredWithItsCode) {
  EXPECT_EQ(read(close_frame({1'000 >> 8, 1'000 & 0xff, 0xff})),
            websocket::error::bad_close_payload);
  EXPECT_EQ(sent_close_code(), ws_code::protocol_error) << "and not bad_data";
}

} // namespace weir::net
