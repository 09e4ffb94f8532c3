#pragma once

#include "net/http_parser.hpp"
#include "net/http_server.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace weir::net {

/// What all connections of one server share: the application, the bounds, and
/// how to end every connection.
///
/// # Threads
/// Any thread.
class server_core {
public:
  server_core(std::shared_ptr<http_service> app,
              const http_server_options& limits)
    : service(std::move(app)), options(limits), places_(limits.places) {}

  /// A place among the connections, given back with the last pointer to it.
  class permit;

  /// Null when there is no place or the server is closed. It may cut the
  /// connection of a stranger.
  static std::shared_ptr<permit> admit(std::shared_ptr<server_core> core,
                                       const ip_address& peer);

  /// Cuts all connections and admits no more.
  void close();

  bool closed() const noexcept { return closed_; }

  size_t connections() const noexcept {
    std::lock_guard guard{mutex_};
    return places_.taken();
  }

  const std::shared_ptr<http_service> service;
  const http_server_options options;

private:
  mutable std::mutex mutex_;
  std::atomic<bool> closed_ = false;
  connection_places places_;
  std::map<uint64_t, std::function<void()>> open_; ///< How to cut each one.
};

class server_core::permit {
public:
  permit(std::shared_ptr<server_core> core, uint64_t id)
    : core_(std::move(core)), id_(id) {}

  ~permit();

  permit(const permit&) = delete;
  permit& operator=(const permit&) = delete;

  /// Sets how to cut the connection. Returns false when its place is lost or
  /// the server was closed in the meantime.
  bool set_cut(std::function<void()> x);

  /// A request was accepted that not everybody may make: the client is no
  /// stranger any more.
  void set_known() {
    std::lock_guard guard{core_->mutex_};
    core_->places_.set_known(id_);
  }

private:
  std::shared_ptr<server_core> core_;
  uint64_t id_;
};

class ws_channel;

/// One connection of the server: requests in turn, then perhaps a WebSocket.
///
/// # Ownership and threads
/// Its operations and the right to answer (`slot`) keep it alive. It lives on
/// the stream's loop.
class http_connection : public std::enable_shared_from_this<http_connection> {
public:
  http_connection(stream_ptr connected, std::shared_ptr<server_core> core,
                  std::shared_ptr<server_core::permit> permit);

  event_loop& loop() noexcept { return stream_->loop(); }

  void start() {
    set_deadline(core_->options.head_timeout);
    read();
  }

  void cut() noexcept {
    phase_ = phase::over;
    deadline_->cancel();
    stream_->close();
  }

  void answer(http_reply reply);

  /// Hands the stream over to a new WebSocket session.
  ws_session_ptr upgrade(std::shared_ptr<ws_session_listener> listener,
                         const ws_session_options& options);

private:
  enum class phase : uint8_t { idle, head, body, answer, write, linger, over };

  void read();
  void on_read(std::error_code error, size_t n);
  void on_head_bytes();
  void on_head(http_head head);
  bool check_upgrade(const http_head& head);
  void begin_body(const http_head& head);
  void on_body_bytes();
  void hand_over();
  std::optional<http_reply> take_body(bytes_view piece);
  void refuse(int status, std::string_view message);
  void refuse(http_reply reply) {
    keep_alive_ = false;
    request_ = {};
    answer(std::move(reply));
  }
  void send(std::string head, shared_bytes body);
  void write();
  void on_written(std::error_code error, size_t n);
  void on_sent();
  void send_rest();
  void hand_stream_to(ws_channel& channel);
  void linger();
  void drop_input(size_t n);
  void set_deadline(std::chrono::microseconds delay);
  void on_deadline();

  std::shared_ptr<server_core> core_;
  std::shared_ptr<server_core::permit> permit_;
  stream_ptr stream_;
  std::unique_ptr<timer> deadline_;
  phase phase_ = phase::head;

  bool reading_ = false;
  bytes input_;
  size_t input_size_ = 0;

  incoming_request request_;
  bool keep_alive_ = false;
  bool to_head_ = false; ///< The request is HEAD.
  std::string upgrade_key_;
  std::unique_ptr<http_parser> parser_; ///< Reads the current request.
  size_t body_bytes_max_ = 0;
  size_t body_bytes_ = 0; ///< Bytes received so far.
  bool interim_ = false;  ///< "100 Continue" is being written.

  std::string out_head_;
  shared_bytes out_body_;
  size_t written_ = 0;
  size_t cut_after_ = SIZE_MAX; ///< Bytes of the reply, for simulated faults.
  std::shared_ptr<reply_rest> rest_; ///< Rest of a reply, for simulated faults.
  size_t lingered_ = 0;
};

/// The right to answer one request; answers 500 when it is dropped unused.
struct responder::slot {
  explicit slot(std::shared_ptr<http_connection> x)
    : connection(std::move(x)) {}

  ~slot();

  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;

  void answer(http_reply reply);
  void cut();

  std::shared_ptr<http_connection> connection;
  std::atomic<bool> used = false;
};

/// The start line and fields of a reply; empty when a field is malformed.
std::string format_reply_head(const http_reply& reply, bool keep_alive);

} // namespace weir::net
