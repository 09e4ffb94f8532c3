#pragma once

#include "base/bytes.hpp"
#include "net/ip_address.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace weir::tests {

/// One end of a TCP connection that the test controls: calls block, every wait
/// has a limit, and bytes are sent exactly as given.
class raw_peer {
public:
  explicit raw_peer(int fd) : fd_(fd) {
    // nop
  }

  /// Connects to loopback, from address `source` (e.g. 127.0.0.2) if given.
  /// @param receive_bytes Size of the kernel's receive buffer; 0 = default.
  static raw_peer dial(uint16_t port, const char* source = nullptr,
                       int receive_bytes = 0) {
    auto fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_bytes > 0)
      setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes,
                 sizeof(receive_bytes));
    auto from = loopback(0);
    if (source && inet_pton(AF_INET, source, &from.sin_addr) == 1) {
      EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof(from)), 0);
    }
    auto to = loopback(port);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    return raw_peer{fd};
  }

  raw_peer(raw_peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {
    // nop
  }

  raw_peer(const raw_peer&) = delete;
  raw_peer& operator=(const raw_peer&) = delete;

  ~raw_peer() { close(); }

  /// Sends all bytes. False when the peer no longer accepts bytes.
  bool send(std::string_view x) {
    while (!x.empty()) {
      auto n = ::send(fd_, x.data(), x.size(), MSG_NOSIGNAL);
      if (n <= 0)
        return false;
      x.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  bool send(bytes_view x) { return send(as_text(x)); }

  enum class outcome { data, end, reset, timeout };

  /// Reads the bytes that are there, and waits at most `timeout_ms` for the
  /// first.
  outcome read_some(std::string& into, int timeout_ms = 60'000) {
    pollfd waits{fd_, POLLIN, 0};
    if (poll(&waits, 1, timeout_ms) <= 0)
      return outcome::timeout;
    std::array<char, 65'536> buffer;
    auto n = recv(fd_, buffer.data(), buffer.size(), 0);
    if (n < 0)
      return outcome::reset;
    if (n == 0)
      return outcome::end;
    into.append(buffer.data(), static_cast<size_t>(n));
    return outcome::data;
  }

  /// Reads up to `mark`. Returns everything up to its end and keeps the rest
  /// for the next call. Empty when the stream ends before `mark`.
  std::string read_until(std::string_view mark, int timeout_ms = 60'000) {
    for (;;) {
      if (auto at = rest_.find(mark); at != std::string::npos)
        return take(at + mark.size());
      if (read_some(rest_, timeout_ms) != outcome::data)
        return {};
    }
  }

  /// Reads exactly `n` bytes, or fewer when the stream ends.
  std::string read_exactly(size_t n) {
    while (rest_.size() < n && read_some(rest_) == outcome::data)
      continue;
    return take(std::min(n, rest_.size()));
  }

  /// Reads everything up to the end of the stream.
  std::string read_all(outcome* how = nullptr) {
    auto last = outcome::data;
    while (last == outcome::data)
      last = read_some(rest_);
    if (how)
      *how = last;
    return take(rest_.size());
  }

  /// How the peer ended the connection. Bytes that arrive before are dropped.
  outcome wait_for_end() {
    outcome how = outcome::data;
    read_all(&how);
    return how;
  }

  void shut_down() { ::shutdown(fd_, SHUT_WR); }

  void reset() {
    linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close();
  }

  void close() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

  int fd() const noexcept { return fd_; }

  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in x{};
    x.sin_family = AF_INET;
    x.sin_port = htons(port);
    x.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return x;
  }

private:
  std::string take(size_t n) {
    auto x = rest_.substr(0, n);
    rest_.erase(0, n);
    return x;
  }

  int fd_;
  std::string rest_;
};

} // namespace weir::tests
