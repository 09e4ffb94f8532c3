#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

namespace weir::apps {

/// Reports the program's state to the service manager that started it. It uses
/// the protocol of sd_notify(3): one datagram for each message to the socket in
/// NOTIFY_SOCKET (a unit with Type=notify). Without that variable it does
/// nothing.
///
/// It does not use libsystemd. The protocol is one `sendto`, which the manual
/// page suggests programs write themselves, while the library would bring three
/// decompressors and a cryptographic library into a process that reads bytes
/// from strangers, and into every container.
///
/// # Ownership and threads
/// Only the main thread uses it.
///
/// # Limits
/// A message waits at most `limits::service_message_wait`.
///
/// # Errors
/// When the socket does not take a message, the log gets a warning, and the
/// node goes on.
class service_notify {
public:
  /// @param address A path, or `@` and a name in the abstract namespace. With
  /// null or an empty text nothing is reported.
  explicit service_notify(const char* address);

  /// The node answers on its ports. `systemctl status` shows `status`.
  void ready(std::string_view status);

  /// The configuration is being read again, and then has been. Nothing is sent
  /// before `ready`, since the manager would take the end of a reload for the
  /// end of the start.
  void reloading();
  void reloaded() {
    if (was_ready_)
      tell("READY=1");
  }

  /// The node is going to end.
  void stopping(std::string_view status);

  /// Says in words what the node does.
  void status(std::string_view text);

private:
  void tell(const std::string& message) const;

  std::string address_;
  bool was_ready_ = false;
};

} // namespace weir::apps
