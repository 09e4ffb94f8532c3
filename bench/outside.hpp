#pragma once

#include "base/error.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <sys/types.h>

namespace weir::bench {

/// Everything around a node, in a process of its own, so that a node's figures
/// are its own: the network of a corpus, and an application.
///
/// # Ownership
/// Owned by the main thread, which alone calls it. The process ends with the
/// object, or with its maker.
///
/// # Errors
/// `unreachable`: the process could not start, or is gone.
class outside {
public:
  /// Starts this program again, to serve the corpus.
  static result<std::unique_ptr<outside>>
  start(const std::filesystem::path& corpus);

  ~outside();

  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;

  const std::string& plc_url() const noexcept { return plc_url_; }

  const std::string& relay_url() const noexcept { return relay_url_; }

  pid_t id() const noexcept { return id_; }

  /// An application attaches to the node and acks all it gets.
  result<void> attach(const std::string& data_url);

  /// All live events are there at once.
  result<void> play();

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

/// First argument with which this program is that process.
constexpr const char* outside_command = "outside";

/// The other side: serves until its standard input ends. Returns the exit
/// status.
int run_outside(const std::string& corpus);

} // namespace weir::bench
