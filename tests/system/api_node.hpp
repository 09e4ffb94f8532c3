#pragma once

#include "tests/support/net_raw_peer.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"

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
class api_node {
public:
  static constexpr std::string_view password = "correct horse battery";
  /// Basic auth of `admin` with that password.
  static constexpr const char* credential
    = "Basic YWRtaW46Y29ycmVjdCBob3JzZSBiYXR0ZXJ5";

  explicit api_node(bool with_password,
                    std::vector<std::string> more_arguments = {});

  /// Ends the process by `signal` and starts it anew on the same folder.
  void restart(int signal);

  /// One connection from `source`, one request, one answer.
  plain_reply ask(uint16_t port, const plain_request& x,
                  const char* source = nullptr) const;

  /// Memory of the process that is in RAM now.
  size_t resident_bytes() const { return process_->resident_bytes(); }

  /// A request that opens a WebSocket, with `more` headers.
  static plain_request upgrade(const std::string& path,
                               std::map<std::string, std::string> more = {});

  uint16_t data = 0;       ///< Port.
  uint16_t operations = 0; ///< Port.

private:
  void start();

  temp_dir dir_;
  std::vector<std::string> arguments_;
  std::unique_ptr<program> process_;
};

} // namespace weir::tests
