#pragma once

#include "net/connector.hpp"
#include "net/http_client.hpp"
#include "net/http_parser.hpp"
#include "net/inflater.hpp"

#include <deque>
#include <map>

namespace weir::net {

class running_call;

/// The connections of one `http_client`, in use and kept alive.
///
/// # Ownership and threads
/// Lives on one loop. Its calls keep it alive.
class http_pool : public std::enable_shared_from_this<http_pool> {
public:
  http_pool(transport_ptr network, http_client_options options);

  event_loop& loop() noexcept { return loop_; }

  const http_client_options& options() const noexcept { return options_; }

  /// Starts a new call, which the pool keeps until `forget`.
  void admit(std::shared_ptr<running_call> call);

  /// Gives the call a connection to its origin: an idle one, a new one, or one
  /// for which it waits in a queue. Then the call's `on_connection` or `end` is
  /// called.
  /// @param fresh Closes idle connections of that origin first, since one of
  /// them proved stale.
  void acquire(const std::shared_ptr<running_call>& call, bool fresh);

  /// Gives a connection back; `x` is null when it was closed.
  void release(const std::string& origin, stream_ptr x);

  void forget(const std::shared_ptr<running_call>& call);

  /// Cancels all calls and closes all connections.
  void close();

  /// Drops all calls without calling their sinks, unless the pool is closed.
  /// Call it when no thread runs the loop any more.
  void drop() noexcept;

private:
  struct idle_connection {
    stream_ptr stream;
    steady_time since;
  };

  struct place {
    std::deque<idle_connection> idle; ///< The newest is last.
    size_t in_use = 0;
    std::deque<std::shared_ptr<running_call>> waiting;
  };

  void dial(const std::shared_ptr<running_call>& call);
  void close_oldest_idle();
  void sweep();
  void arm() {
    sweeper_->start(options_.idle_timeout / 2, [this] {
      sweep();
    });
  }

  transport_ptr network_;
  http_client_options options_;
  event_loop& loop_;
  std::unique_ptr<timer> sweeper_;
  std::map<std::string, place> places_; ///< Keys: origins.
  size_t idle_ = 0;
  size_t waiting_ = 0;
  std::map<uint64_t, std::shared_ptr<running_call>> calls_; ///< Keys: numbers.
  uint64_t admitted_ = 0;
  bool closed_ = false;
};

/// One call: it follows redirects, then delivers the body under credit.
///
/// # Ownership and threads
/// Lives on the pool's loop; call `cancel` and `grant` from any thread. The
/// pool keeps it alive until it ends.
class running_call final : public http_call,
                           public std::enable_shared_from_this<running_call> {
public:
  running_call(std::shared_ptr<http_pool> pool, http_request request,
               std::shared_ptr<http_sink> sink);

  void cancel() override {
    pool_->loop().post([self = shared_from_this()] {
      self->end(fail(ec::cancelled, "the call was cancelled"));
    });
  }
  void grant(uint64_t n) override;

  // -- on the loop ------------------------------------------------------------

  void start();

  /// Counts the calls of a pool from 1; 0: the pool has not admitted this one.
  uint64_t number() const noexcept { return number_; }
  void set_number(uint64_t x) noexcept { number_ = x; }

  const url& target() const noexcept { return request_.target; }

  const http_call_limits& limits() const noexcept { return request_.limits; }

  bool over() const noexcept { return phase_ == phase::over; }

  void on_connection(stream_ptr x, bool reused);

  void end(result<void> outcome);

private:
  enum class phase : uint8_t { connect, send, head, body, over };

  bool make_request();
  void send();
  void on_sent(std::error_code error, size_t n);
  void read();
  void on_read(std::error_code error, size_t n);
  void on_lost(std::error_code error);
  void on_head_bytes();
  void on_head(http_head head);
  bool redirect(const http_head& head);
  result<void> begin_body(const http_head& head);
  void pump_body();
  size_t take(bytes_view piece);
  size_t take_gzip(bytes_view piece);
  bool deliver(bytes_view piece);
  void close_stream();
  void on_deadline();
  void arm();
  bytes_view input() const noexcept {
    return bytes_view{input_}.subspan(begin_, end_ - begin_);
  }

  std::shared_ptr<http_pool> pool_;
  http_request request_;
  std::shared_ptr<http_sink> sink_;
  std::unique_ptr<timer> deadline_;
  uint64_t number_ = 0;
  phase phase_ = phase::connect;
  unsigned redirects_ = 0;
  unsigned interims_ = 0;
  bool retried_ = false;

  stream_ptr stream_;
  std::string origin_; ///< That of `stream_`, or of the awaited stream.
  bool reused_ = false;
  bool keep_alive_ = false;
  std::string out_;
  size_t sent_ = 0;

  bool reading_ = false;
  bytes input_;
  size_t begin_ = 0;
  size_t end_ = 0;

  std::unique_ptr<http_parser> parser_;
  std::optional<inflater> gzip_;
  bytes inflated_;
  uint64_t credit_;
  uint64_t delivered_ = 0;
  std::optional<error> body_error_; ///< Why `take` stopped for good.

  steady_time total_deadline_;
  steady_time head_deadline_;
  steady_time window_end_;
  uint64_t window_bytes_ = 0;
};

} // namespace weir::net
