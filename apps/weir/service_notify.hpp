#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

namespace weir::apps {

/// Tells the service manager that started the program how far it is: the
/// protocol of sd_notify(3), one datagram for each message, to the socket that
/// the variable NOTIFY_SOCKET names (a unit with Type=notify). Without that
/// variable it says nothing.
///
/// Written here, and not taken from libsystemd: the protocol is one `sendto`,
/// which its manual page invites programs to write themselves, while the
/// library would bring three decompressors and a cryptographic library into a
/// process that reads bytes from strangers, and into every container.
///
/// # Ownership and threads
/// Of the main thread alone.
///
/// # Limits
/// A message waits at most `limits::service_message_wait`.
///
/// # Errors
/// A socket that takes no message is one warning in the log for each message;
/// the node goes on.
class service_notify {
public:
  /// @param address A path, or `@` and a name in the abstract namespace. Null
  /// or empty: nobody listens.
  explicit service_notify(const char* address);

  /// The node answers on its ports. `status` is what `systemctl status` shows.
  void ready(std::string_view status);

  /// It reads its configuration again, and is done with that. Says nothing
  /// before `ready`: the manager would take the end of it for the start's.
  void reloading();
  void reloaded();

  /// It will end.
  void stopping(std::string_view status);

  /// What it does, in words.
  void status(std::string_view text);

private:
  void tell(const std::string& message) const;

  std::string address_;
  bool was_ready_ = false;
};

} // namespace weir::apps
