#pragma once

#include <array>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace weir::tests {

/// A pipe without room, as when its reader was suspended: a write to it waits
/// until the test reads it.
class full_pipe {
public:
  full_pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0)
      throw std::runtime_error{"no pipe"};
    const std::string piece(4'096, '.');
    while (::write(writer(), piece.data(), piece.size()) > 0)
      ;
    // The process that gets this end shares its flags.
    ::fcntl(writer(), F_SETFL, O_WRONLY);
  }

  ~full_pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  full_pipe(const full_pipe&) = delete;
  full_pipe& operator=(const full_pipe&) = delete;

  int writer() const noexcept { return ends_[1]; }

  /// Takes all that is in it, which makes room, and returns it without the dots
  /// that filled it.
  std::string read_all() const {
    std::string out;
    std::array<char, 4'096> piece{};
    for (ssize_t n = 0; (n = ::read(ends_[0], piece.data(), piece.size())) > 0;)
      out.append(piece.data(), static_cast<size_t>(n));
    const auto end = out.find_first_not_of('.');
    return end == std::string::npos ? std::string{} : out.substr(end);
  }

private:
  std::array<int, 2> ends_{-1, -1};
};

} // namespace weir::tests
