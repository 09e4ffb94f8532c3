#pragma once

#include "net/transport.hpp"
#include "net/ws_client.hpp"
#include "net/ws_codec.hpp"
#include "net/ws_session.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace weir::net {

struct ws_channel_options {
  bool server = false;
  size_t message_bytes_max = 0;
  size_t queue_messages_max = 0;
  size_t queue_bytes_max = 0;
  std::chrono::microseconds ping_interval{};
  std::chrono::microseconds idle_timeout{};
  std::chrono::microseconds stall_timeout{};
  /// Whether the peer counts as alive when it takes bytes that waited for it.
  bool sending_is_life = false;
  /// Makes a client's masks.
  random_source* random = nullptr;
};

/// What both ends of a WebSocket connection share: decoding, the outgoing
/// queue, pings, signs of life and the way to end.
///
/// # Ownership and threads
/// Its operations keep it alive. It lives on one loop; `enqueue` and the
/// queue's counters are safe from any thread.
class ws_channel : public std::enable_shared_from_this<ws_channel> {
public:
  ws_channel(event_loop& loop, const ws_channel_options& options);

  virtual ~ws_channel() = default;

  ws_channel(const ws_channel&) = delete;
  ws_channel& operator=(const ws_channel&) = delete;

  event_loop& loop() noexcept { return loop_; }

  /// Queues a whole frame. False when the queue is full or closed.
  bool enqueue(shared_bytes frame);

  size_t queued_messages() const noexcept {
    std::lock_guard guard{mutex_};
    return queued_messages_;
  }
  size_t queued_bytes() const noexcept {
    std::lock_guard guard{mutex_};
    return queued_bytes_;
  }

  /// Starts on an upgraded stream. `greeting` is sent before anything else;
  /// `received` holds the bytes that came behind the upgrade.
  void open(stream_ptr connected, shared_bytes greeting, bytes_view received);

  /// Sends a close frame, drops what is queued and calls `on_over`. The
  /// connection then waits up to `limits::ws_close_timeout` for the peer's.
  void close(uint16_t code, std::string_view text, ws_close_info why);

  /// Ends the connection without a close frame.
  void cut(ws_close_info why);

protected:
  /// Whether one more message may be taken. When not, the socket is not read
  /// until `pump` is called.
  virtual bool ready() = 0;

  virtual void on_message(ws_decoder::kind kind, shared_bytes payload) = 0;

  /// A data frame came; called for fragments, too.
  virtual void on_data_frame() {}

  /// A ping or pong came. False closes the connection: there are too many.
  virtual bool on_control_frame() { return true; }

  /// All messages of one read have been handed out.
  virtual void on_quiet() {}

  virtual void on_drained() {}

  /// Called once; the last call.
  virtual void on_over(const ws_close_info& info) = 0;

  /// Hands out messages and reads more, as long as `ready` says so.
  void pump();

  bool is_over() const noexcept {
    return state_ == state::closing || state_ == state::over;
  }

  bytes frame(ws_opcode opcode, bytes_view payload) const;

private:
  enum class state : uint8_t { connecting, open, closing, over };

  struct outgoing {
    shared_bytes frame;
    bool counted = false; ///< It counts in the bounds of the queue.
  };

  void handle(ws_decoder::event x);
  void read();
  void on_read(std::error_code error, size_t n);
  void pump_closing();
  void write();
  bool refill();
  void insert_control(std::optional<bytes>& x);
  void on_written(std::error_code error, size_t n);
  void advance(size_t n);
  void finish_closing();
  void drop_queue();
  void tell(const ws_close_info& info) {
    if (!std::exchange(reported_, true))
      on_over(info);
  }
  void tick();
  void arm();

  event_loop& loop_;
  ws_channel_options options_;
  ws_decoder decoder_;
  std::unique_ptr<timer> timer_;
  stream_ptr stream_;
  state state_ = state::connecting;
  bool reported_ = false;

  bool reading_ = false;
  bool discarding_ = false; ///< Input is unusable since a decoding error.
  bool peer_closed_ = false;
  steady_time life_;
  steady_time pinged_;

  bool writing_ = false;
  std::deque<outgoing> line_; ///< Frames to write next, taken from the queue.
  size_t offset_ = 0;         ///< Bytes of the first one already written.
  std::vector<bytes_view> parts_;
  size_t offered_ = 0;   ///< Bytes in `parts_`.
  bool blocked_ = false; ///< The last write was not taken as a whole.
  std::optional<bytes> pong_;
  std::optional<bytes> ping_;
  std::optional<bytes> close_;
  bool close_written_ = false;
  steady_time progress_;
  steady_time close_deadline_;

  mutable std::mutex mutex_; ///< Guards what follows.
  std::deque<shared_bytes> queue_;
  size_t queued_messages_ = 0; ///< Frames in `queue_` and `line_`.
  size_t queued_bytes_ = 0;
  bool refused_ = false; ///< `on_drained` is due when there is room.
  bool flush_posted_ = false;
  bool queue_closed_ = false;
};

ws_close_info close_info(ec code, std::string why);

/// The server's end, made when an upgrade is accepted.
/// @param permit Kept until the TCP connection is gone.
std::shared_ptr<ws_channel>
make_session_channel(event_loop& loop, const ws_session_options& options,
                     std::shared_ptr<ws_session_listener> listener,
                     std::shared_ptr<void> permit);

/// The application's handle to it.
ws_session_ptr make_ws_session(std::shared_ptr<ws_channel> channel,
                               const ip_address& peer);

} // namespace weir::net
