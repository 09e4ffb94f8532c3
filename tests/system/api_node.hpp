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

/// What a request of a test says; the bytes on the wire are made from it.
struct plain_request {
  std::string method = "GET";
  std::string path = "/";
  /// Host is added unless it is here; an empty value leaves it out.
  std::map<std::string, std::string> headers;
  std::string body;
};

struct plain_reply {
  int status = 0; ///< 0: the connection ended without an answer.
  std::string head;
  std::string body;
};

/// A node under test, with or without a password, that follows nothing.
///
/// # Ownership
/// The process ends with the object.
///
/// # Errors
/// A process that has ended by itself, or grown by more than `may_grow_by` at
/// any time since it was ready, fails the test.
class api_node {
public:
  static constexpr std::string_view password = "correct horse battery";
  /// Basic auth of `admin` with that password.
  static constexpr const char* credential
    = "Basic YWRtaW46Y29ycmVjdCBob3JzZSBiYXR0ZXJ5";

  explicit api_node(bool with_password,
                    std::vector<std::string> more_arguments = {});
  ~api_node();

  api_node(const api_node&) = delete;
  api_node& operator=(const api_node&) = delete;

  /// Sets another bound than the usual one (hostile-inputs.md: 16 MiB).
  void may_grow_by(size_t bytes) { growth_bytes_max_ = bytes; }

  /// Ends the process by `signal` and starts it anew on the same folder.
  void restart(int signal);

  /// One connection from `source`, one request, one answer.
  plain_reply ask(uint16_t port, const plain_request& x,
                  const char* source = nullptr) const;

  /// A request that opens a WebSocket, with `more` headers.
  static plain_request upgrade(const std::string& path,
                               std::map<std::string, std::string> more = {});

  /// The line that says where it is reached.
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
