#pragma once

#include "net/ws_codec.hpp"

#include <string_view>

namespace weir::net {

/// One outgoing WebSocket message, framed once (server side, unmasked) so that
/// any number of sessions can send the same bytes.
///
/// # Ownership and threads
/// Immutable and shared, as `shared_bytes`.
class ws_message {
public:
  /// @pre `payload` is UTF-8.
  static ws_message text(std::string_view payload) {
    return ws_message{
      shared_bytes{ws_frame(ws_opcode::text, as_bytes(payload))}};
  }

  static ws_message binary(bytes_view payload) {
    return ws_message{shared_bytes{ws_frame(ws_opcode::binary, payload)}};
  }

  /// The frame header and the payload behind it.
  const shared_bytes& frame() const noexcept { return frame_; }

  /// Bytes on the wire.
  size_t size() const noexcept { return frame_.size(); }

private:
  explicit ws_message(shared_bytes frame) : frame_(std::move(frame)) {}

  shared_bytes frame_;
};

} // namespace weir::net
