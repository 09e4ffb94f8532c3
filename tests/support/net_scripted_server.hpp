#pragma once

#include "tests/support/net_raw_peer.hpp"

namespace weir::tests {

/// A TCP server on loopback that runs a script of the test for each connection,
/// in a thread of its own and with blocking calls. A script ends when its peer
/// closes the connection, at the latest with the server.
class scripted_server {
public:
  /// @param script Called with the connection and its number, which starts at
  /// 0.
  using script_type = std::function<void(raw_peer&, size_t)>;

  /// @param port 0 takes a free port.
  /// @param address Loopback, or `INADDR_ANY` for all addresses.
  explicit scripted_server(script_type script, uint16_t port = 0,
                           in_addr_t address = INADDR_LOOPBACK)
    : script_(std::move(script)) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto at = raw_peer::loopback(port);
    at.sin_addr.s_addr = htonl(address);
    socklen_t size = sizeof(at);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(fd_, 128), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    acceptor_ = std::thread{[this] {
      accept_all();
    }};
  }

  ~scripted_server() {
    shutdown(fd_, SHUT_RDWR); // Wakes `accept`.
    acceptor_.join();
    {
      std::lock_guard guard{mutex_};
      for (auto fd : open_)
        shutdown(fd, SHUT_RDWR); // Wakes the scripts.
    }
    for (auto& x : scripts_)
      x.join();
    ::close(fd_);
  }

  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  uint16_t port() const noexcept { return port_; }

  /// The origin, `http://127.0.0.1:PORT`.
  std::string origin() const {
    return "http://127.0.0.1:" + std::to_string(port_);
  }

  size_t accepted() const noexcept { return accepted_; }

private:
  void accept_all() {
    for (;;) {
      auto fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0)
        return;
      std::lock_guard guard{mutex_};
      open_.push_back(fd);
      scripts_.emplace_back([this, fd, number = accepted_++] {
        raw_peer peer{fd};
        script_(peer, number);
        std::lock_guard closing{mutex_};
        open_.remove(fd);
        peer.close();
      });
    }
  }

  script_type script_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::atomic<size_t> accepted_ = 0;
  std::mutex mutex_;
  std::list<int> open_;
  std::list<std::thread> scripts_;
  std::thread acceptor_;
};

} // namespace weir::tests
