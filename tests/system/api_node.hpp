#pragma once

#include "tests/support/net_raw_peer.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tests {

/// A test's request, from which the bytes on the wire are made.
struct plain_request {
  std::string method = "GET";
  std::string path = "/";
  /// The header Host is added unless it is given here; with an empty value it
  /// is left out.
  std::map<std::string, std::string> headers;
  std::string body;
};

struct plain_reply {
  int status = 0; ///< 0: the connection ended without an answer.
  std::string head;
  std::string body;
};

/// A node under test, with or without a password, that has no upstream.
///
/// # Ownership
/// The process ends with the object.
///
/// The test fails when the process ends by itself, or when its memory was at
/// any time more than `may_grow_by` above that at the ready line.
class api_node {
public:
  static constexpr std::string_view password = "correct horse battery";
  /// The header value for Basic auth of `admin` with that password.
  static constexpr const char* credential
    = "Basic YWRtaW46Y29ycmVjdCBob3JzZSBiYXR0ZXJ5";

  explicit api_node(bool with_password,
                    std::vector<std::string> more_arguments = {});
  ~api_node();

  api_node(const api_node&) = delete;
  api_node& operator=(const api_node&) = delete;

  /// Sets another limit than the usual one (hostile-inputs.md: 16 MiB).
  void may_grow_by(size_t bytes) { growth_bytes_max_ = bytes; }

  /// Ends the process with `signal` and starts it again on the same directory.
  void restart(int signal);

  /// Opens one connection from address `source`, sends one request, and returns
  /// the answer.
  plain_reply ask(uint16_t port, const plain_request& x,
                  const char* source = nullptr) const;

  /// A request that opens a WebSocket, with the headers of `more` added.
  static plain_request upgrade(const std::string& path,
                               std::map<std::string, std::string> more = {});

  /// The line in which the node names its addresses.
  const std::string& ready_line() const noexcept { return ready_line_; }

  uint16_t data = 0;       ///< Port.
  uint16_t operations = 0; ///< Port.

private:
  void start();
  void check_memory() const;

  temp_dir dir_;
  std::vector<std::string> arguments_;
  std::unique_ptr<program> process_;
  std::string ready_line_;
  size_t bytes_before_ = 0;
  size_t growth_bytes_max_ = 16 * megabyte;
};

} // namespace weir::tests
