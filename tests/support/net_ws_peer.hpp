#pragma once

#include "net/ws_codec.hpp"
#include "tests/support/net_raw_peer.hpp"

namespace weir::tests {

/// One WebSocket frame as it was received.
struct wire_frame {
  net::ws_opcode opcode = net::ws_opcode::close;
  std::string payload;
  bool ok = false; ///< False when the stream ended before a frame.
};

/// Either end of a WebSocket connection on a `raw_peer`, frame by frame. It
/// sends exactly what a test wants, right or wrong, and shows what it receives.
class ws_peer {
public:
  /// The server's end: answers the client's upgrade request.
  static ws_peer accept(raw_peer& socket) {
    return accept(socket, socket.read_until("\r\n\r\n"));
  }

  /// The same for an upgrade request whose head was already read.
  static ws_peer accept(raw_peer& socket, std::string head) {
    ws_peer x{socket, true};
    x.request = std::move(head);
    auto from = x.request.find("Sec-WebSocket-Key: ") + 19;
    auto key = x.request.substr(from, 24);
    socket.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Accept: "
                + net::ws_accept_key(key) + "\r\n\r\n");
    return x;
  }

  /// The client's end: requests an upgrade of `path` at `host`.
  static ws_peer ask(raw_peer& socket, std::string_view path = "/",
                     std::string_view host = "a") {
    ws_peer x{socket, false};
    socket.send("GET " + std::string{path}
                + " HTTP/1.1\r\nHost: " + std::string{host}
                + "\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    x.answer = socket.read_until("\r\n\r\n");
    return x;
  }

  bool send(net::ws_opcode opcode, bytes_view payload = {}) {
    std::array<uint8_t, 4> mask{1, 2, 3, 4};
    return socket_->send(server_ ? net::ws_frame(opcode, payload)
                                 : net::ws_frame(opcode, payload, mask));
  }

  bool send_text(std::string_view x) {
    return send(net::ws_opcode::text, as_bytes(x));
  }

  bool send_binary(std::string_view x) {
    return send(net::ws_opcode::binary, as_bytes(x));
  }

  bool send_close(uint16_t code, std::string_view reason = "") {
    return send(net::ws_opcode::close, net::ws_close_payload(code, reason));
  }

  wire_frame read() {
    auto head = socket_->read_exactly(2);
    if (head.size() < 2)
      return {};
    auto masked = (head[1] & 0x80) != 0;
    auto size = static_cast<size_t>(head[1] & 0x7f);
    if (size >= 126)
      size = number(socket_->read_exactly(size == 126 ? 2 : 8));
    auto mask = masked ? socket_->read_exactly(4) : std::string(4, '\0');
    auto payload = socket_->read_exactly(size);
    if (payload.size() < size || masked == !server_)
      return {};
    for (size_t i = 0; i < size; ++i)
      payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
    return {static_cast<net::ws_opcode>(head[0] & 0x0f), payload, true};
  }

  /// The next frame of a kind; frames of other kinds are dropped.
  wire_frame read(net::ws_opcode opcode) {
    for (;;) {
      auto x = read();
      if (!x.ok || x.opcode == opcode)
        return x;
    }
  }

  /// The code of the next close frame; 0 when the stream ends without one.
  uint16_t read_close_code() {
    auto x = read(net::ws_opcode::close);
    return x.payload.size() < 2
             ? uint16_t{0}
             : static_cast<uint16_t>(number(x.payload.substr(0, 2)));
  }

  std::string request; ///< The head of the client's upgrade request.
  std::string answer;  ///< The head of the server's answer.

private:
  ws_peer(raw_peer& socket, bool server) : socket_(&socket), server_(server) {
    // nop
  }

  static size_t number(const std::string& big_endian) {
    size_t x = 0;
    for (auto c : big_endian)
      x = x << 8 | static_cast<uint8_t>(c);
    return x;
  }

  raw_peer* socket_;
  bool server_;
};

} // namespace weir::tests
