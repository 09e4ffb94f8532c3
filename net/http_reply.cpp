#include "net/http_connection.hpp"
#include "net/http_writer.hpp"
#include "net/ws_codec.hpp"

namespace weir::net {

namespace {

/// JSON text of a string, quotes included.
std::string quoted(std::string_view x) {
  constexpr std::string_view digits = "0123456789abcdef";
  auto valid = is_utf8(x);
  std::string out = "\"";
  for (auto c : x) {
    auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20)
      out += {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    else
      out += valid || byte < 0x80 ? c : '?';
  }
  return out + '"';
}

} // namespace

http_reply json_reply(int status, std::string_view body) {
  http_reply x;
  x.status = status;
  x.body = shared_bytes::copy_of(as_bytes(body));
  return x;
}

http_reply error_reply(int status, std::string_view name,
                       std::string_view message) {
  return json_reply(status, "{\"error\":" + quoted(name)
                              + ",\"message\":" + quoted(message) + "}");
}

std::string format_reply_head(const http_reply& reply, bool keep_alive) {
  if (reply.status < 200 || reply.status > 599)
    return {};
  http_writer head{reply.status};
  if (reply.status != 204 && reply.status != 304) {
    if (!reply.content_type.empty())
      head.add("Content-Type", reply.content_type);
    const auto rest
      = reply.rest ? reply.rest->size() : std::optional{uint64_t{0}};
    if (rest)
      head.add("Content-Length", std::to_string(reply.body.size() + *rest));
  }
  head.add(reply.headers);
  if (!keep_alive)
    head.add("Connection", "close");
  return head.take();
}

responder::slot::~slot() {
  answer(error_reply(500, "InternalServerError", "No answer was made."));
}

void responder::slot::answer(http_reply reply) {
  if (!used.exchange(true))
    connection->loop().post([x = connection, reply = std::move(reply)] {
      x->answer(reply);
    });
}

void responder::slot::cut() {
  if (!used.exchange(true))
    connection->loop().post([x = connection] {
      x->cut();
    });
}

void responder::send(http_reply reply) const {
  slot_->answer(std::move(reply));
}

void responder::cut() const {
  slot_->cut();
}

ws_session_ptr upgrader::accept(std::shared_ptr<ws_session_listener> listener,
                                const ws_session_options& options) const {
  if (slot_->used.exchange(true))
    return nullptr;
  return slot_->connection->upgrade(std::move(listener), options);
}

void upgrader::reject(http_reply reply) const {
  slot_->answer(std::move(reply));
}

void upgrader::cut() const {
  slot_->cut();
}

} // namespace weir::net
