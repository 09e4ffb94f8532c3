#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weir::tests {

/// The socket that a service manager opens for the messages of a program.
class manager_socket {
public:
  /// @param name A path, or `@` and a name in the abstract namespace.
  explicit manager_socket(std::string name) : name_(std::move(name)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, name_.data(), name_.size());
    if (name_.front() == '@')
      at.sun_path[0] = '\0';
    const auto size = offsetof(sockaddr_un, sun_path) + name_.size();
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&at),
               static_cast<socklen_t>(size))
        != 0)
      throw std::runtime_error{std::strerror(errno)};
  }

  ~manager_socket() { ::close(fd_); }

  manager_socket(const manager_socket&) = delete;
  manager_socket& operator=(const manager_socket&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// The next message; empty when none arrives within this time.
  std::string take(std::chrono::milliseconds at_most) const {
    pollfd wanted{fd_, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(at_most.count())) <= 0)
      return {};
    std::array<char, 4096> buffer{};
    const auto n = ::recv(fd_, buffer.data(), buffer.size(), 0);
    return n < 0 ? "" : std::string(buffer.data(), static_cast<size_t>(n));
  }

private:
  std::string name_;
  int fd_ = -1;
};

} // namespace weir::tests
