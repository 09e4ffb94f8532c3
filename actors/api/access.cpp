#include "actors/api/access.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"
#include "base/log.hpp"
#include "base/parse_number.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

/// Compares digests, so that neither content nor length leaks.
bool equal_secret(std::string_view x, std::string_view y) {
  return atproto::same_secret(atproto::sha256(as_bytes(x)),
                              atproto::sha256(as_bytes(y)));
}

/// Whether an Authorization header names the user admin with this password.
bool is_right(std::string_view header, const std::string& password) {
  const auto space = header.find(' ');
  if (space == std::string_view::npos
      || net::lower_case(header.substr(0, space)) != "basic")
    return false;
  const auto decoded = atproto::decode_base64(header.substr(space + 1));
  return decoded && equal_secret(as_text(*decoded), "admin:" + password);
}

bool is_port(std::string_view x) {
  return parse_number<uint16_t>(x).value_or(0) > 0;
}

/// The text after `http://<host>` or `https://<host>`, if the URL begins so.
std::optional<std::string> behind_origin(std::string_view url,
                                         std::string_view host) {
  const auto text = net::lower_case(url);
  for (const std::string_view scheme : {"http://", "https://"}) {
    const auto own = std::string{scheme} + net::lower_case(host);
    if (text.starts_with(own))
      return text.substr(own.size());
  }
  return std::nullopt;
}

/// The host of `name`, `name:port`, `[v6]` or `[v6]:port`, in lower case and
/// without the dot that may end a full name; nothing when the text is none of
/// these. The port may be empty (RFC 3986, 3.2.3).
std::optional<std::string> host_of(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos)
    return std::nullopt;
  const auto end = std::min(authority.find(':', bracket), authority.size());
  const auto rest = authority.substr(end);
  if (end == 0 || (bracket > 0 && end != bracket + 1)
      || (rest.size() > 1 && !is_port(rest.substr(1))))
    return std::nullopt;
  auto out = net::lower_case(authority.substr(0, end));
  if (out.size() > 1 && out.ends_with('.'))
    out.pop_back();
  return out;
}

/// True when a browser reports that a page of another origin made the request
/// (hostile-inputs.md 2.2.4): by Origin, which must be http or https and name
/// the requested host, by Sec-Fetch-Site, or by Referer. Clients that are not
/// browsers send none of these.
bool comes_from_elsewhere(const net::incoming_request& x,
                          std::string_view host) {
  if (const auto* origin = x.header("origin"); origin != nullptr)
    if (const auto rest = behind_origin(*origin, host); !rest || !rest->empty())
      return true;
  if (const auto* site = x.header("sec-fetch-site"); site != nullptr)
    if (*site != "same-origin" && *site != "none")
      return true;
  if (const auto* page = x.header("referer"); page != nullptr) {
    const auto rest = behind_origin(*page, host);
    return !rest || (!rest->empty() && rest->front() != '/');
  }
  return false;
}

} // namespace

bool access_control::host_allowed(std::string_view authority) const {
  const auto host = host_of(authority);
  return host
         && (is_loopback_name(*host)
             || std::ranges::find(options_.hosts, *host)
                  != options_.hosts.end());
}

std::optional<net::http_reply>
access_control::refuse(port on, net::incoming_request& x) {
  const auto* host = x.header("host");
  if (host == nullptr || !host_allowed(*host))
    return net::error_reply(
      403, "HostNotAllowed",
      "the Host header names none of the node's: loopback names, its address, "
      "or one of allowed_hosts, where it can be added");
  // A page of another origin must not reach a local node (also WebSockets).
  if (comes_from_elsewhere(x, *host))
    return net::error_reply(403, "OriginNotAllowed",
                            "pages of other origins are refused: ask from a "
                            "server, or let a proxy serve both");
  return check_credential(on, x);
}

std::optional<net::http_reply>
refuse_content_type(const net::incoming_request& x) {
  const auto* type = x.header("content-type");
  auto plain = type == nullptr
                 ? std::string{}
                 : net::lower_case(type->substr(0, type->find(';')));
  while (!plain.empty() && (plain.back() == ' ' || plain.back() == '\t'))
    plain.pop_back(); // RFC 9110, 5.6.6: spaces are allowed before a `;`.
  if (plain != "application/json")
    return net::error_reply(415, "InvalidContentType",
                            "a POST needs the header Content-Type: "
                            "application/json");
  const auto* encoding = x.header("content-encoding");
  if (encoding != nullptr && net::lower_case(*encoding) != "identity")
    return net::error_reply(415, "InvalidContentType",
                            "bodies are not compressed here: leave out "
                            "Content-Encoding, and send the JSON as it is");
  return std::nullopt;
}

std::optional<net::http_reply>
access_control::check_credential(port on, net::incoming_request& x) {
  const auto secret = password();
  if (secret.empty())
    return std::nullopt;
  x.open_to_all = is_open(on, x);
  if (x.open_to_all)
    return std::nullopt;
  const auto* header = x.header("authorization");
  if (header != nullptr && is_right(*header, secret))
    return std::nullopt; // However many others at this address guess.
  if (header != nullptr && guesses(x.peer)) {
    auto out = net::error_reply(
      429, "TooManyFailures",
      "wrong user or password again: after many from one address further wrong "
      "ones are answered late, and the right one at once");
    out.delay = limits::auth_failure_delay;
    out.headers.push_back(
      {"Retry-After",
       std::to_string(std::chrono::seconds{limits::auth_lock}.count())});
    return out;
  }
  auto out = net::error_reply(401, "AuthenticationRequired",
                              header == nullptr
                                ? "the password of the user admin is needed "
                                  "(basic authentication)"
                                : "that is not the user admin with the "
                                  "password of admin_password_file");
  out.headers.push_back({"WWW-Authenticate", "Basic realm=\"weir\""});
  return out;
}

void access_control::set_password(const std::string& x) {
  const std::lock_guard guard{mutex_};
  options_.password = x;
  failures_.clear();
}

/// A monitor on this machine needs no password; but a proxy on this machine
/// forwards requests of anybody. `open_probes` is about the port that has these
/// routes.
bool access_control::is_open(port on, const net::incoming_request& x) const {
  if (x.path != "/livez" && x.path != "/readyz")
    return false;
  const auto passed_on = x.header("x-forwarded-for") != nullptr
                         || x.header("forwarded") != nullptr;
  return (options_.open_probes && on == port::operations)
         || (x.peer.is_loopback() && !passed_on);
}

/// Counts a wrong password. True when this address had too many before.
bool access_control::guesses(const net::ip_address& peer) {
  const std::lock_guard guard{mutex_};
  if (failures_.size() >= limits::auth_peers_max && !failures_.contains(peer))
    failures_.clear(); // After a flood of addresses the count starts anew.
  auto& x = failures_[peer];
  const auto now = time_.steady_now();
  if (x.count == 0 || now - x.since > limits::auth_lock) {
    x = {0, now};
    name(peer, now);
  }
  return ++x.count > limits::auth_failures_max;
}

/// Someone with many addresses must not fill the disk with log lines.
void access_control::name(const net::ip_address& peer, steady_time now) {
  const auto verdict = lines_.take(now);
  if (verdict == line_budget::verdict::line)
    log::warn("wrong_password", {{"peer", net::to_string(peer)}});
  else if (verdict == line_budget::verdict::last)
    log::warn(
      "wrong_password",
      {{"peer", net::to_string(peer)},
       {"hint",
        "there are many; no further addresses are named for a minute"}});
}

} // namespace weir::actors
