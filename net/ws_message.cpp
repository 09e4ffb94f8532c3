#include "net/ws_message.hpp"

#include "net/ws_codec.hpp"

namespace weir::net {

ws_message ws_message::text(std::string_view payload) {
  return ws_message{shared_bytes{ws_frame(ws_opcode::text, as_bytes(payload))}};
}

ws_message ws_message::binary(bytes_view payload) {
  return ws_message{shared_bytes{ws_frame(ws_opcode::binary, payload)}};
}

} // namespace weir::net
