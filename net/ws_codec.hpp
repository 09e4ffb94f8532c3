#pragma once

#include "base/bytes.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::net {

/// RFC 6455, section 5.2.
enum class ws_opcode : uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

/// Close codes we send or look at (RFC 6455, section 7.4.1).
namespace ws_code {
constexpr uint16_t normal = 1000;
constexpr uint16_t protocol_error = 1002;
constexpr uint16_t unsupported = 1003;
constexpr uint16_t bad_data = 1007;
constexpr uint16_t policy = 1008;
constexpr uint16_t too_big = 1009;
} // namespace ws_code

constexpr size_t ws_control_bytes_max = 125;

/// A whole frame with FIN set: header and `payload`.
/// @param mask Masks the payload, as clients must.
bytes ws_frame(ws_opcode opcode, bytes_view payload,
               std::optional<std::array<uint8_t, 4>> mask = std::nullopt);

/// The payload of a close frame; `reason` is cut to fit.
bytes ws_close_payload(uint16_t code, std::string_view reason);

/// Whether a peer may send this close code (RFC 6455, section 7.4).
bool is_valid_close_code(uint16_t code) noexcept;

/// Whether this is a Sec-WebSocket-Key: 16 bytes in base64.
bool is_ws_key(std::string_view key);

/// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string ws_accept_key(std::string_view key);

std::string base64(bytes_view x);

bool is_utf8(std::string_view x) noexcept;

/// Turns the bytes of one direction of a connection into messages and control
/// frames. It checks everything that RFC 6455 demands and has no extensions.
///
/// It reads in place: `prepare` says where the next bytes belong, so a large
/// payload goes from the socket straight into its final buffer, and many small
/// frames come with one read.
///
/// # Limits
/// A message above `message_bytes_max` fails before its payload is read; no
/// other allocation depends on what the peer declares. The buffer grows with
/// busy connections, to `buffer_bytes_max`, and shrinks on quiet ones.
class ws_decoder {
public:
  /// @param masked Whether frames must be masked (from a client) or must not.
  ws_decoder(bool masked, size_t message_bytes_max) noexcept
    : masked_(masked), message_bytes_max_(message_bytes_max) {}

  enum class kind : uint8_t {
    none,     ///< More bytes are needed.
    fragment, ///< A part of a message; nothing to hand out yet.
    text,
    binary,
    ping,
    pong,
    close,  ///< `code` (0 = none given) and `payload` = reason.
    failed, ///< The stream is unusable; `code` is what to close with.
  };

  struct event {
    kind what = kind::none;
    shared_bytes payload = {};
    uint16_t code = 0;
    const char* reason = "";
  };

  /// The place to read to next; never empty. Valid until the next call.
  std::span<uint8_t> prepare();

  /// `n` bytes were read into what `prepare` returned.
  void commit(size_t n);

  /// The next event in the bytes so far.
  event next();

  static constexpr size_t buffer_bytes_max = 65'536;

private:
  static constexpr size_t buffer_bytes_start = 4'096;
  /// The buffer shrinks after this many reads in a row that need far less.
  static constexpr unsigned small_reads_max = 64;
  /// A payload of which more than this is missing is read into its place.
  static constexpr size_t direct_bytes_min = 16'384;

  struct header {
    bool fin = false;
    ws_opcode opcode = ws_opcode::continuation;
    uint64_t size = 0;
    std::array<uint8_t, 4> mask{};
  };

  bool parse_header(event& out);
  bool accept_header(event& out);
  event refuse(uint16_t code, const char* reason) {
    failed_ = true;
    return {kind::failed, {}, code, reason};
  }
  void place(bytes_view from);
  void unmask(std::span<uint8_t> part, size_t offset) const noexcept;
  event finish_frame();
  event finish_message();
  event finish_close(shared_bytes payload);
  uint8_t* payload_data() noexcept {
    return single_ ? single_.get()
                   : assembled_.data() + (assembled_.size() - header_.size);
  }

  bool masked_;
  size_t message_bytes_max_;
  bool failed_ = false;

  bytes buffer_;
  size_t begin_ = 0; ///< First byte that is not decoded yet.
  size_t end_ = 0;
  bool direct_ = false; ///< The last `prepare` pointed into the payload.
  unsigned small_reads_ = 0;

  bool in_payload_ = false;
  header header_;
  size_t filled_ = 0; ///< Payload bytes of this frame so far.

  /// The payload of a control frame or of a message in one frame.
  std::shared_ptr<uint8_t[]> single_;
  /// The payload of a message in fragments.
  bytes assembled_;
  bool in_message_ = false;
  ws_opcode message_opcode_ = ws_opcode::binary;
};

} // namespace weir::net
