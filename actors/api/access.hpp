#pragma once

#include "actors/api/limits.hpp"
#include "base/line_budget.hpp"
#include "net/http_server.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

struct access_options {
  /// Basic auth `admin:<password>`; empty: no credential is asked for.
  std::string password;
  /// Host header names allowed besides loopback names.
  std::vector<std::string> hosts;
  bool open_probes = false; ///< Whoever asks; from loopback they always are.
};

/// The one check in front of every route, upgrades included
/// (hostile-inputs.md 2.2.1, 2.2.2, 2.2.4): Host allow-list, foreign Origin,
/// credential. Of an address that had many wrong passwords, further wrong ones
/// are answered later; the right one never is: who guesses may share the
/// address, that of a proxy for example. The log names an address with wrong
/// ones once in `limits::auth_lock`, and so many addresses in that time:
/// `limits::auth_lines_max`.
///
/// `/livez` and `/readyz` need no credential on loopback, unless a proxy passes
/// them on, or with `open_probes`.
///
/// # Threads
/// Any.
class access_control {
public:
  access_control(access_options options, const clock& time);

  /// The refusal, or nothing when the request may go on.
  std::optional<net::http_reply> refuse(const net::incoming_request& x);

  /// From now on.
  void set_password(const std::string& x);

private:
  struct failures {
    size_t count = 0;
    steady_time since;
  };

  bool is_open(const net::incoming_request& x) const;
  bool host_allowed(std::string_view authority) const;
  std::optional<net::http_reply> check_credential(
    const net::incoming_request& x);
  std::string password() const;
  static bool is_right(std::string_view header, const std::string& password);
  bool guesses(const net::ip_address& peer);
  void name(const net::ip_address& peer, steady_time now);

  access_options options_; ///< The password is guarded.
  const clock& time_;
  mutable std::mutex mutex_;
  std::map<net::ip_address, failures> failures_;
  /// The last line names one, too.
  line_budget lines_{limits::auth_lines_max - 1, limits::auth_lock};
};

/// A POST is JSON (hostile-inputs.md 2.2.4): pages of other origins cannot send
/// that without asking. The refusal, or nothing.
std::optional<net::http_reply>
refuse_content_type(const net::incoming_request& x);

} // namespace weir::actors
