#include "net/http_connection.hpp"
#include "net/http_writer.hpp"

namespace weir::net {

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
