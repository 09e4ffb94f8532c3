#pragma once

#include "net/ws_codec.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/buffers_to_string.hpp>

#include <string>
#include <string_view>

namespace weir::net {

/// The server's end of a connection in memory, as a SyncStream of Beast's.
/// `Server` has `std::string_view ready()`, the bytes that can be read and
/// empty at the end, and `void read(size_t)`, which takes some of them.
template <class Server>
class memory_stream {
public:
  using executor_type = boost::asio::io_context::executor_type;
  using error_code = boost::system::error_code;

  explicit memory_stream(boost::asio::io_context& context) : context_(context) {
    // nop
  }

  executor_type get_executor() { return context_.get_executor(); }

  /// What it was sent and has not answered.
  const std::string& asked() const noexcept { return asked_; }

  template <class Buffers>
  size_t read_some(const Buffers& into, error_code& error) {
    auto& server = static_cast<Server&>(*this);
    const std::string_view ready = server.ready();
    if (ready.empty()) {
      error = boost::asio::error::eof;
      return 0;
    }
    error = {};
    const auto n = boost::asio::buffer_copy(into, boost::asio::buffer(ready));
    server.read(n);
    return n;
  }

  template <class Buffers>
  size_t write_some(const Buffers& from, error_code& error) {
    error = {};
    asked_ += boost::beast::buffers_to_string(from);
    return boost::asio::buffer_size(from);
  }

  template <class Buffers>
  size_t read_some(const Buffers& into) {
    error_code error;
    return read_some(into, error);
  }

  template <class Buffers>
  size_t write_some(const Buffers& from) {
    error_code error;
    return write_some(from, error);
  }

protected:
  /// Takes the request for an upgrade that came.
  /// @returns the fields of the answer that accept it; empty: none came.
  std::string accept() {
    const auto key = asked_.find("Sec-WebSocket-Key: ");
    if (key == asked_.npos)
      return {};
    auto out = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: "
               + ws_accept_key(asked_.substr(key + 19, 24)) + "\r\n";
    asked_.clear();
    return out;
  }

private:
  boost::asio::io_context& context_;
  std::string asked_;
};

} // namespace weir::net
