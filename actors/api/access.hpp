#pragma once

#include "actors/api/limits.hpp"
#include "actors/api/routes.hpp"
#include "base/line_budget.hpp"
#include "net/http_messages.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

struct access_options {
  /// Basic auth `admin:<password>`; empty: no credential is needed.
  std::string password;
  /// Names allowed in the Host header besides loopback names.
  std::vector<std::string> hosts;
  /// Probes are open to any address on the operations port; to loopback they
  /// always are.
  bool open_probes = false;
};

/// The one check before every route, also for upgrades (hostile-inputs.md
/// 2.2.1, 2.2.2, 2.2.4): the allowed hosts, foreign Origins, the credential.
/// After many wrong passwords from one address, further wrong ones are answered
/// late. The right one never is, because the address may be shared with the one
/// who guesses, for example that of a proxy. The log names an address with
/// wrong passwords once in `limits::auth_lock`, and at most
/// `limits::auth_lines_max` addresses in that time.
///
/// `/livez` and `/readyz` need no credential from loopback, unless a proxy
/// forwards the request, nor from anywhere with `open_probes` on the operations
/// port. Such a request proves nothing, so it gets `open_to_all`. A password
/// that comes with it is not read: otherwise somebody who guesses could see,
/// by the connections that are not cut, which one is right, and would never be
/// answered late.
///
/// # Threads
/// Any thread.
class access_control {
public:
  access_control(access_options options, const clock& time)
    : options_(std::move(options)), time_(time) {
    for (auto& host : options_.hosts)
      host = net::lower_case(host);
  }

  /// Returns the refusal, or nothing when the request may go on. It may set
  /// `x.open_to_all`.
  std::optional<net::http_reply> refuse(port on, net::incoming_request& x);

  /// Requests need this password from now on.
  void set_password(const std::string& x);

private:
  struct failures {
    size_t count = 0;
    steady_time since;
  };

  bool is_open(port on, const net::incoming_request& x) const;
  bool host_allowed(std::string_view authority) const;
  std::optional<net::http_reply>
  check_credential(port on, net::incoming_request& x);

  std::string password() const {
    const std::lock_guard guard{mutex_};
    return options_.password;
  }

  bool guesses(const net::ip_address& peer);
  void name(const net::ip_address& peer, steady_time now);

  access_options options_; ///< The mutex guards the password.
  const clock& time_;
  mutable std::mutex mutex_;
  std::map<net::ip_address, failures> failures_;
  /// The last allowed line names an address, too.
  line_budget lines_{limits::auth_lines_max - 1, limits::auth_lock};
};

/// A POST must be JSON (hostile-inputs.md 2.2.4), because pages of other
/// origins cannot send that without a preflight. Returns the refusal, or
/// nothing.
std::optional<net::http_reply>
refuse_content_type(const net::incoming_request& x);

} // namespace weir::actors
