#pragma once

#include "tests/sim/virtual_net.hpp"

#include <deque>
#include <optional>
#include <string>

namespace weir::sim {

/// One end of a connection. Bytes arrive in order after the latency of the
/// road. The amount that is not read yet is limited as by a kernel's buffers.
class virtual_stream final
  : public net::stream,
    public std::enable_shared_from_this<virtual_stream> {
public:
  virtual_stream(virtual_net& net, virtual_loop& loop,
                 const net::endpoint& remote, uint16_t server, uint64_t number)
    : net_(net), loop_(loop), remote_(remote), server_(server),
      number_(number) {
    // nop
  }

  ~virtual_stream() override;

  static void join(const std::shared_ptr<virtual_stream>& a,
                   const std::shared_ptr<virtual_stream>& b) {
    a->peer_ = b;
    b->peer_ = a;
  }

  uint16_t server() const noexcept { return server_; }

  uint64_t number() const noexcept { return number_; }

  bool lives_on(const virtual_loop& x) const noexcept { return &loop_ == &x; }

  bool is_over() const noexcept { return closed_; }

  /// The time since which there are bytes that are not read; no value: there
  /// are none.
  std::optional<steady_time> unread_since() const noexcept {
    return unread_since_;
  }

  /// Fails the connection, as a reset from the network does.
  void fail_now(std::errc why);

  /// Delivers the data that a stall held back.
  void go_on();

  // -- net::stream ------------------------------------------------------------

  net::event_loop& loop() noexcept override { return loop_; }
  const net::endpoint& remote() const noexcept override { return remote_; }
  void read_some(std::span<uint8_t> into, net::io_handler done) override;
  void write_some(std::span<const bytes_view> parts,
                  net::io_handler done) override;
  void shut_down() override;
  void close(bool reset = false) noexcept override;

private:
  enum class parcel_kind : uint8_t { data, end, reset };

  struct parcel {
    parcel_kind what = parcel_kind::data;
    std::string data;
  };

  void send(parcel x);
  void deliver(parcel x);
  void serve_read();
  void serve_write();
  void finish(net::io_handler& handler, std::error_code error, size_t n);
  size_t room() const noexcept;

  virtual_net& net_;
  virtual_loop& loop_;
  net::endpoint remote_;
  uint16_t server_;
  uint64_t number_;
  std::weak_ptr<virtual_stream> peer_;
  std::string incoming_;
  std::optional<steady_time> unread_since_;
  size_t under_way_ = 0;    ///< Bytes to this end that have not arrived.
  std::deque<parcel> held_; ///< Data to this end that a stall holds back.
  steady_time last_arrival_;
  std::span<uint8_t> into_;
  std::string outgoing_; ///< Data that waits for room at the other end.
  net::io_handler reader_;
  net::io_handler writer_;
  bool ended_ = false; ///< The peer has closed its side: nothing follows.
  bool closed_ = false;
  std::error_code broken_;
};

} // namespace weir::sim
