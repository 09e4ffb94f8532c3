#pragma once

#include "base/error.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <sys/types.h>

namespace weir::bench {

/// Everything around a node: the network of a corpus, and an application. It
/// runs in another process, so that the node's figures do not include it.
///
/// # Ownership
/// The main thread owns and calls it. The process ends with this object, or
/// with the process that made it.
///
/// # Errors
/// `unreachable` when the process could not start or has ended.
class outside {
public:
  /// Starts this program again to serve the corpus.
  static result<std::unique_ptr<outside>>
  start(const std::filesystem::path& corpus);

  ~outside();

  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;

  const std::string& plc_url() const noexcept { return plc_url_; }

  const std::string& relay_url() const noexcept { return relay_url_; }

  pid_t id() const noexcept { return id_; }

  /// Connects an application to the node, which acks all that it gets.
  result<void> attach(const std::string& data_url);

  /// Makes all live events available at once.
  result<void> play() {
    const auto answer = order("play");
    return answer ? result<void>{} : answer.error();
  }

  /// Plays as many live events a second from now on.
  result<void> play_steadily(unsigned events_per_second) {
    const auto answer = order("rate " + std::to_string(events_per_second));
    return answer ? result<void>{} : answer.error();
  }

private:
  outside() = default;

  result<std::string> order(const std::string& line);
  result<std::string> read_line();

  pid_t id_ = -1;
  int orders_ = -1;
  int answers_ = -1;
  std::string plc_url_;
  std::string relay_url_;
};

/// The first argument that makes this program that process.
constexpr const char* outside_command = "outside";

/// The main function of that process: serves until its standard input ends.
/// Returns the exit status.
int run_outside(const std::string& corpus);

} // namespace weir::bench
