#pragma once

#include "base/bytes.hpp"
#include "net/transport.hpp"
#include "tests/support/net_manual_loop.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

// A network without sockets, on a clock that only the test moves. So tests
// check time limits to the microsecond without waiting for them.

namespace weir::tests {

/// A stream in memory: the engine has this end, the test is the peer.
class memory_stream final : public net::stream {
public:
  memory_stream(manual_loop& loop, const net::endpoint& remote)
    : loop_(loop), remote_(remote) {
    // nop
  }

  // -- the test's end ---------------------------------------------------------

  /// Delivers bytes from the peer.
  void feed(std::string_view x) {
    incoming_ += x;
    serve_read();
    loop_.run();
  }

  void feed(const bytes& x) { feed(as_text(x)); }

  /// Everything that was written since the last call.
  std::string take() { return std::exchange(written_, {}); }

  /// Sets the number of bytes that the peer accepts from now on.
  void set_room(size_t x) {
    room_ = x;
    serve_write();
    loop_.run();
  }

  bool closed() const noexcept { return closed_; }

  bool is_shut_down() const noexcept { return shut_down_; }

  // -- net::stream ------------------------------------------------------------

  net::event_loop& loop() noexcept override { return loop_; }

  const net::endpoint& remote() const noexcept override { return remote_; }

  void read_some(std::span<uint8_t> into, net::io_handler done) override {
    into_ = into;
    reader_ = std::move(done);
    serve_read();
  }

  void write_some(std::span<const bytes_view> parts,
                  net::io_handler done) override {
    parts_.assign(parts.begin(), parts.end());
    writer_ = std::move(done);
    serve_write();
  }

  void shut_down() override { shut_down_ = true; }

  void close(bool = false) noexcept override {
    closed_ = true;
    const auto gone = std::make_error_code(std::errc::operation_canceled);
    finish(reader_, gone, 0);
    finish(writer_, gone, 0);
  }

private:
  void finish(net::io_handler& handler, std::error_code error, size_t n) {
    if (handler)
      loop_.post([done = std::exchange(handler, nullptr), error, n] {
        done(error, n);
      });
  }

  void serve_read() {
    if (!reader_ || incoming_.empty())
      return;
    const auto n = std::min(into_.size(), incoming_.size());
    std::copy_n(incoming_.begin(), n, into_.begin());
    incoming_.erase(0, n);
    finish(reader_, {}, n);
  }

  void serve_write() {
    if (!writer_ || room_ == 0)
      return;
    size_t n = 0;
    for (const auto part : parts_) {
      const auto taken = std::min(part.size(), room_);
      written_ += as_text(part.first(taken));
      room_ -= room_ == SIZE_MAX ? 0 : taken;
      n += taken;
    }
    finish(writer_, {}, n);
  }

  manual_loop& loop_;
  net::endpoint remote_;
  std::string incoming_;
  std::string written_;
  std::span<uint8_t> into_;
  std::vector<bytes_view> parts_;
  net::io_handler reader_;
  net::io_handler writer_;
  size_t room_ = SIZE_MAX;
  bool closed_ = false;
  bool shut_down_ = false;
};

using memory_stream_ptr = std::shared_ptr<memory_stream>;

/// Outgoing connections become a `memory_stream`. Clients of the server are
/// made by the test.
class memory_transport final : public net::transport {
public:
  // -- the test's end ---------------------------------------------------------

  /// Connects a client to the port that listens.
  memory_stream_ptr connect(const char* from = "127.0.0.1") {
    auto out = std::make_shared<memory_stream>(
      loop, net::endpoint{*net::ip_address::parse(from), 40'000});
    accept_(out);
    loop.run();
    return out;
  }

  manual_loop loop;
  /// Outgoing connections in the order in which they were made.
  std::vector<memory_stream_ptr> dialled;
  std::vector<std::chrono::microseconds> dial_timeouts;

  // -- net::transport ---------------------------------------------------------

  net::event_loop& next_loop() noexcept override { return loop; }

  void dial(net::event_loop&, const net::endpoint& to,
            std::chrono::microseconds timeout,
            net::stream_handler done) override {
    dial_timeouts.push_back(timeout);
    dialled.push_back(std::make_shared<memory_stream>(loop, to));
    loop.post([done = std::move(done), x = dialled.back()] {
      done(net::stream_ptr{x});
    });
  }

  result<std::unique_ptr<net::listener>>
  listen(const net::endpoint& at, net::accept_handler accepted) override {
    accept_ = std::move(accepted);
    return std::unique_ptr<net::listener>{std::make_unique<port>(at)};
  }

  void resolve(
    net::event_loop&, std::string,
    std::function<void(result<std::vector<net::ip_address>>)> done) override {
    loop.post([done = std::move(done)] {
      done(fail(ec::not_found, "there are no names here"));
    });
  }

  void resolve_txt(
    net::event_loop&, std::string,
    std::function<void(result<std::vector<std::string>>)> done) override {
    loop.post([done = std::move(done)] {
      done(fail(ec::not_found, "there are no names here"));
    });
  }

private:
  class port final : public net::listener {
  public:
    explicit port(const net::endpoint& at) : at_(at) {
      // nop
    }

    const net::endpoint& local() const noexcept override { return at_; }

    void close() noexcept override {
      // nop
    }

  private:
    net::endpoint at_;
  };

  net::accept_handler accept_;
};

} // namespace weir::tests
