#include "net/http_writer.hpp"
#include "net/limits.hpp"
#include "tests/unit/net/memory_stream.hpp"

#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/websocket.hpp>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>

// Compares our code with Beast's for the same work (ADR 0025): results for the
// same bytes, and costs.

namespace weir::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

/// A server in memory: answers the handshake, then delivers the wire bytes
/// `rounds` times.
class memory_wire : public memory_stream<memory_wire> {
public:
  memory_wire(asio::io_context& context, const bytes& wire, size_t rounds)
    : memory_stream(context), wire_(wire), left_(wire.size() * rounds) {
    // nop
  }

  size_t fill(std::span<uint8_t> into) {
    const auto n = std::min({into.size(), wire_.size() - at_, left_});
    std::memcpy(into.data(), &wire_[at_], n);
    left_ -= n;
    at_ = (at_ + n) % wire_.size();
    return n;
  }

  std::string_view ready() {
    if (begin_ == end_)
      refill();
    return as_text({&buffer_[begin_], end_ - begin_});
  }

  void read(size_t n) { begin_ += n; }

private:
  void refill() {
    begin_ = 0;
    if (const auto accepted = accept(); !accepted.empty()) {
      const auto answer
        = "HTTP/1.1 101 Switching Protocols\r\n" + accepted + "\r\n";
      std::copy(answer.begin(), answer.end(), buffer_.begin());
      end_ = answer.size();
    } else {
      end_ = fill(buffer_);
    }
  }

  const bytes& wire_;
  size_t left_;
  size_t at_ = 0;
  bytes buffer_ = bytes(ws_decoder::buffer_bytes_max);
  size_t begin_ = 0;
  size_t end_ = 0;
};

void teardown(beast::role_type, memory_wire&, beast::error_code& error) {
  error = {};
}

/// Takes messages as a client passes them on: each in a buffer of its own, and
/// in batches.
class taker {
public:
  explicit taker(bool keeps) : keeps_(keeps) {
    // nop
  }

  void take(shared_bytes x) {
    ++count;
    messages.push_back(std::move(x));
    if (!keeps_ && messages.size() == limits::ws_batch_frames_max)
      messages.clear();
  }

  size_t count = 0;
  std::vector<shared_bytes> messages;

private:
  bool keeps_;
};

constexpr size_t message_max = 5'000'000;

taker read_with_ours(const bytes& wire, size_t rounds, bool keeps) {
  asio::io_context context;
  memory_wire from{context, wire, rounds};
  taker out{keeps};
  ws_decoder decoder{false, message_max};
  for (;;) {
    const auto n = from.fill(decoder.prepare());
    if (n == 0)
      return out;
    decoder.commit(n);
    for (auto x = decoder.next(); x.what != ws_decoder::kind::none;
         x = decoder.next())
      if (x.what == ws_decoder::kind::text
          || x.what == ws_decoder::kind::binary)
        out.take(std::move(x.payload));
  }
}

taker read_with_beast(const bytes& wire, size_t rounds, bool keeps) {
  asio::io_context context;
  beast::websocket::stream<memory_wire, false> stream{context, wire, rounds};
  stream.read_message_max(message_max);
  stream.handshake("a", "/");
  taker out{keeps};
  beast::flat_buffer buffer;
  beast::error_code error;
  for (stream.read(buffer, error); !error; stream.read(buffer, error)) {
    const auto n = buffer.size();
    auto own = std::make_shared_for_overwrite<uint8_t[]>(n);
    std::memcpy(own.get(), buffer.data().data(), n);
    const bytes_view view{own.get(), n};
    out.take(shared_bytes{std::move(own), view});
    buffer.clear();
  }
  return out;
}

std::string write_with_ours() {
  http_writer out{200};
  out.add("Content-Type", "application/json");
  out.add("Content-Length", "1234");
  return out.take();
}

std::string write_with_beast() {
  namespace http = beast::http;
  http::response<http::empty_body> head;
  head.insert("Content-Type", "application/json");
  head.insert("Content-Length", "1234");
  std::string out;
  beast::error_code error;
  http::response_serializer<http::empty_body>{head}.next(
    error, [&out](auto&, const auto& buffers) {
      out = beast::buffers_to_string(buffers);
    });
  return out;
}

/// Clients of a server, which read whatever comes.
class reading_clients {
public:
  using socket = asio::local::stream_protocol::socket;

  explicit reading_clients(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      auto& own = servers_.emplace_back(context_);
      auto& other = clients_.emplace_back(context_);
      asio::local::connect_pair(own, other);
    }
  }

  /// The ends of the server; when they are gone, the clients end, too.
  std::vector<socket> take_servers() { return std::move(servers_); }

  void ask_for_websockets() {
    for (auto& x : clients_)
      asio::write(x, asio::buffer(std::string_view{
                       "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"}));
  }

  void read() {
    for (auto& x : clients_)
      threads_.emplace_back([&x] {
        bytes buffer(1'000'000);
        beast::error_code error;
        while (!error)
          x.read_some(asio::buffer(buffer), error);
      });
  }

  ~reading_clients() {
    for (auto& x : threads_)
      x.join();
  }

private:
  asio::io_context context_;
  std::vector<socket> servers_;
  std::vector<socket> clients_;
  std::vector<std::thread> threads_;
};

/// Sends `rounds` of `batch` messages to each client, as `ws_channel` does when
/// they wait in its queue.
void write_shared_frames(std::vector<reading_clients::socket> to,
                         const bytes& payload, size_t batch, size_t rounds) {
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<bytes> frames;
    std::vector<asio::const_buffer> parts;
    for (size_t i = 0; i < batch; ++i)
      frames.push_back(ws_frame(ws_opcode::text, payload));
    for (const auto& x : frames)
      parts.push_back(asio::buffer(x));
    for (auto& x : to)
      asio::write(x, parts);
  }
}

void write_with_beast(std::vector<reading_clients::socket> to,
                      const bytes& payload, size_t batch, size_t rounds) {
  using stream = beast::websocket::stream<reading_clients::socket, false>;
  std::vector<std::unique_ptr<stream>> streams;
  for (auto& x : to) {
    streams.push_back(std::make_unique<stream>(std::move(x)));
    streams.back()->accept();
    streams.back()->auto_fragment(false);
    streams.back()->text(true);
  }
  for (size_t i = 0; i < batch * rounds; ++i)
    for (auto& x : streams)
      x->write(asio::buffer(payload));
}

double processor_seconds() {
  timespec x{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &x);
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_nsec) * 1e-9;
}

} // namespace

TEST(BeastPairsTest, BothReadTheSameMessages) {
  std::mt19937 random{7};
  bytes wire;
  const auto add = [&wire](bytes frame, bool last) {
    frame[0] = static_cast<uint8_t>(frame[0] & (last ? 0xff : 0x7f));
    wire.insert(wire.end(), frame.begin(), frame.end());
  };
  for (int i = 0; i < 300; ++i) {
    const auto parts = 1 + random() % 4;
    for (size_t part = 0; part < parts; ++part) {
      if (random() % 5 == 0)
        add(ws_frame(ws_opcode::pong, as_bytes("x")), true);
      const bytes payload(random() % (i % 10 == 0 ? 70'000 : 400), 'p');
      const auto opcode = part > 0    ? ws_opcode::continuation
                          : i % 2 > 0 ? ws_opcode::text
                                      : ws_opcode::binary;
      add(ws_frame(opcode, payload), part + 1 == parts);
    }
  }
  const auto ours = read_with_ours(wire, 1, true);
  const auto theirs = read_with_beast(wire, 1, true);
  ASSERT_EQ(ours.count, 300u);
  ASSERT_EQ(theirs.count, 300u);
  for (size_t i = 0; i < ours.count; ++i)
    EXPECT_EQ(as_text(ours.messages[i].view()),
              as_text(theirs.messages[i].view()));
}

TEST(BeastPairsTest, BothWriteTheSameHead) {
  EXPECT_EQ(write_with_ours(), write_with_beast());
}

// The figures of ADR 0025. They check nothing, because machines differ.
TEST(BeastPairsTest, DISABLED_WhatReadingCosts) {
  for (const size_t size : {60, 300, 1'000, 4'000, 8'000, 100'000})
    for (const auto opcode : {ws_opcode::binary, ws_opcode::text}) {
      bytes wire;
      for (size_t i = 0; i < 50; ++i) {
        const auto frame = ws_frame(opcode, bytes(size + i, 'x'));
        wire.insert(wire.end(), frame.begin(), frame.end());
      }
      const auto rounds = 100'000'000 / (wire.size() + 15'000);
      for (int pair = 0; pair < 5; ++pair) {
        const auto begin = processor_seconds();
        const auto n = read_with_ours(wire, rounds, false).count;
        const auto middle = processor_seconds();
        ASSERT_EQ(read_with_beast(wire, rounds, false).count, n);
        const auto end = processor_seconds();
        const auto each = 1e9 / static_cast<double>(n);
        printf("%zu bytes, %s: ours %.0f ns, Beast %.0f ns\n", size,
               opcode == ws_opcode::text ? "text" : "binary",
               (middle - begin) * each, (end - middle) * each);
      }
    }
}

// One message in the queue, and as many as one write takes.
TEST(BeastPairsTest, DISABLED_WhatWritingToManyCosts) {
  constexpr size_t clients = 8;
  for (const size_t size : {300, 1'000, 4'000})
    for (const size_t batch : {1, 64})
      for (int pair = 0; pair < 5; ++pair) {
        const bytes payload(size, 'x');
        const auto rounds = 20'000 / batch;
        const auto cost = [&](bool ours) {
          reading_clients all{clients};
          if (!ours)
            all.ask_for_websockets();
          all.read();
          const auto begin = processor_seconds();
          if (ours)
            write_shared_frames(all.take_servers(), payload, batch, rounds);
          else
            write_with_beast(all.take_servers(), payload, batch, rounds);
          return (processor_seconds() - begin) * 1e9
                 / static_cast<double>(batch * rounds * clients);
        };
        const auto ours = cost(true);
        printf("%zu bytes, %zu waiting: ours %.0f ns, Beast %.0f ns\n", size,
               batch, ours, cost(false));
      }
}

TEST(BeastPairsTest, DISABLED_WhatAHeadCosts) {
  constexpr size_t heads = 200'000;
  for (int pair = 0; pair < 5; ++pair) {
    size_t size = 0;
    const auto begin = processor_seconds();
    for (size_t i = 0; i < heads; ++i)
      size += write_with_ours().size();
    const auto middle = processor_seconds();
    for (size_t i = 0; i < heads; ++i)
      size -= write_with_beast().size();
    const auto end = processor_seconds();
    ASSERT_EQ(size, 0u);
    printf("a head: ours %.0f ns, Beast %.0f ns\n",
           (middle - begin) * 1e9 / heads, (end - middle) * 1e9 / heads);
  }
}

} // namespace weir::net
