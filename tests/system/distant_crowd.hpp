#pragma once

#include "tests/system/hostile_crowd.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace weir::tests {

/// A crowd in a process of its own, which has what the others leave of the
/// CPUs: it shares nothing with the node but the machine.
///
/// # Ownership
/// Must be made before the test has threads. The process ends with the object.
class distant_crowd {
public:
  distant_crowd(size_t hosts, misdeed deed);
  ~distant_crowd();

  distant_crowd(const distant_crowd&) = delete;
  distant_crowd& operator=(const distant_crowd&) = delete;

  /// As `--upstream` takes them.
  const std::vector<std::string>& upstreams() const noexcept {
    return upstreams_;
  }

  /// The origin of the host with this number.
  std::string url(size_t i) const;

  /// Lets it work, or stops it where it is.
  void run(bool does) const;

private:
  pid_t process_ = 0;
  int life_ = -1; ///< The process ends when this is closed.
  std::vector<std::string> upstreams_;
};

} // namespace weir::tests
