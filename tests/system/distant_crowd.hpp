#pragma once

#include "tests/system/hostile_crowd.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace weir::tests {

/// A crowd in a process of its own, which has the CPUs that the other processes
/// leave to it. It shares only the machine with the node.
///
/// # Ownership
/// Must be made before the test has threads. The process ends with the object.
class distant_crowd {
public:
  distant_crowd(size_t hosts, misdeed deed);
  ~distant_crowd();

  distant_crowd(const distant_crowd&) = delete;
  distant_crowd& operator=(const distant_crowd&) = delete;

  /// The hosts in the form of the option `--upstream`.
  const std::vector<std::string>& upstreams() const noexcept {
    return upstreams_;
  }

  /// The origin of the host with this number.
  std::string url(size_t i) const;

  /// Continues the process, or stops it.
  void run(bool does) const;

private:
  pid_t process_ = 0;
  int life_ = -1; ///< The process ends when this is closed.
  std::vector<std::string> upstreams_;
};

} // namespace weir::tests
