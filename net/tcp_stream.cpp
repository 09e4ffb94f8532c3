#include "net/asio_loop.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace weir::net {

namespace {

void set_option(tcp::socket& socket, int level, int name, int value) noexcept {
  // Failure costs speed, not correctness.
  setsockopt(socket.native_handle(), level, name, &value, sizeof(value));
}

class tcp_stream final : public stream,
                         public std::enable_shared_from_this<tcp_stream> {
public:
  tcp_stream(asio_loop& loop, tcp::socket socket)
    : loop_(loop), socket_(std::move(socket)) {
    boost::system::error_code error;
    remote_ = from_asio(socket_.remote_endpoint(error));
    keep_from_children(socket_.native_handle());
    set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket_, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
               limits::tcp_unsent_bytes_max);
  }

  event_loop& loop() noexcept override { return loop_; }

  const endpoint& remote() const noexcept override { return remote_; }

  void read_some(std::span<uint8_t> into, io_handler done) override {
    socket_.async_read_some(
      boost::asio::buffer(into.data(), into.size()),
      [self = shared_from_this(), done = std::move(done)](
        const boost::system::error_code& error, size_t n) {
        if (error == boost::asio::error::eof)
          done({}, 0);
        else
          done(error, n);
      });
  }

  void write_some(std::span<const bytes_view> parts, io_handler done) override {
    // The buffers in the form that Asio wants, without an allocation.
    boost::container::static_vector<boost::asio::const_buffer,
                                    stream::gather_max>
      buffers;
    for (auto& part : parts)
      buffers.emplace_back(part.data(), part.size());
    socket_.async_write_some(
      buffers, [self = shared_from_this(), done = std::move(done)](
                 const boost::system::error_code& error, size_t n) {
        done(error, n);
      });
  }

  void shut_down() override {
    boost::system::error_code error;
    socket_.shutdown(tcp::socket::shutdown_send, error);
  }

  void close(bool reset) noexcept override {
    boost::system::error_code error;
    if (reset)
      socket_.set_option(boost::asio::socket_base::linger{true, 0}, error);
    socket_.close(error);
  }

  tcp::socket& socket() noexcept { return socket_; }

private:
  asio_loop& loop_;
  tcp::socket socket_;
  endpoint remote_;
};

} // namespace

void keep_from_children(int descriptor) noexcept {
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

stream_ptr make_tcp_stream(asio_loop& loop, tcp::socket socket) {
  return std::make_shared<tcp_stream>(loop, std::move(socket));
}

tcp::socket* tcp_socket(stream& x) noexcept {
  auto plain = dynamic_cast<tcp_stream*>(&x);
  return plain ? &plain->socket() : nullptr;
}

tcp::endpoint to_asio(const endpoint& x) {
  auto& octets = x.address.octets;
  if (x.address.v6)
    return {boost::asio::ip::address_v6{octets}, x.port};
  return {
    boost::asio::ip::address_v4{{octets[0], octets[1], octets[2], octets[3]}},
    x.port};
}

endpoint from_asio(const tcp::endpoint& x) {
  endpoint out;
  out.port = x.port();
  out.address.v6 = x.address().is_v6();
  if (out.address.v6) {
    out.address.octets = x.address().to_v6().to_bytes();
  } else {
    auto octets = x.address().to_v4().to_bytes();
    std::copy(octets.begin(), octets.end(), out.address.octets.begin());
  }
  return out;
}

} // namespace weir::net
