#include "net/url.hpp"

#include "base/parse_number.hpp"
#include "net/http_types.hpp"
#include "net/ip_address.hpp"
#include "net/limits.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include <algorithm>
#include <exception>
#include <optional>

namespace weir::net {

namespace {

error refuse(std::string_view why) {
  return fail(ec::invalid_argument, "bad URL: " + std::string{why});
}

/// Explains in our own words, since "leftover" and the like of the parser do
/// not help people.
error refuse_form(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x7e;
      }))
    return refuse(
      "it holds a letter that is not ASCII; a host name has another "
      "form for URLs, such as xn--bcher-kva.example");
  return refuse("it is not written as a URL is, such as https://bsky.network");
}

std::optional<scheme> parse_scheme(std::string_view lower) noexcept {
  for (auto x : {scheme::http, scheme::https, scheme::ws, scheme::wss})
    if (lower == to_string(x))
      return x;
  return std::nullopt;
}

bool is_host_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'
         || c == '.' || c == '_';
}

result<std::string> parse_host(const boost::urls::url_view_base& from) {
  using boost::urls::host_type;
  auto encoded = from.encoded_host();
  auto host = lower_case({encoded.data(), encoded.size()});
  switch (from.host_type()) {
    case host_type::ipv4:
      return host;
    case host_type::ipv6: {
      auto address
        = ip_address::parse(std::string_view{host}.substr(1, host.size() - 2));
      if (!address)
        return refuse("not an IPv6 address");
      return to_string(*address);
    }
    case host_type::name:
      if (!host.empty() && std::all_of(host.begin(), host.end(), is_host_char))
        return host;
      return refuse("no host, or not a host name");
    default:
      return refuse("no host");
  }
}

result<uint16_t> parse_port(const boost::urls::url_view_base& from,
                            uint16_t fallback) {
  auto digits = from.port();
  if (digits.empty())
    return fallback;
  const auto port = parse_number<uint16_t>({digits.data(), digits.size()});
  if (port.value_or(0) == 0)
    return refuse("not a port");
  return *port;
}

result<url> convert(const boost::urls::url_view_base& from) {
  auto known
    = parse_scheme(lower_case({from.scheme().data(), from.scheme().size()}));
  if (!known)
    return refuse("only http, https, ws and wss are spoken");
  if (from.has_userinfo())
    return refuse("it holds a user name; leave out what stands before the @");
  url x;
  x.scheme = *known;
  auto host = parse_host(from);
  if (!host)
    return host.error();
  x.host = std::move(*host);
  auto port = parse_port(from, x.default_port());
  if (!port)
    return port.error();
  x.port = *port;
  auto path = from.encoded_path();
  // Boost takes a bad port for the start of the path.
  if (!path.empty() && path.front() != '/')
    return refuse("not a port");
  if (!path.empty())
    x.target.assign(path.data(), path.size());
  if (from.has_query()) {
    auto query = from.encoded_query();
    x.target += '?';
    x.target.append(query.data(), query.size());
  }
  return x;
}

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
         || c == '~';
}

} // namespace

std::string_view to_string(scheme x) noexcept {
  constexpr std::string_view names[]{"http", "https", "ws", "wss"};
  return names[static_cast<size_t>(x)];
}

std::string url::authority() const {
  auto v6 = host.find(':') != std::string::npos;
  auto x = v6 ? '[' + host + ']' : host;
  return port == default_port() ? x : x + ':' + std::to_string(port);
}

std::string url::origin() const {
  return std::string{net::to_string(scheme)} + "://" + authority();
}

url url::as_websocket() const {
  auto x = *this;
  x.scheme = secure() ? net::scheme::wss : net::scheme::ws;
  return x;
}

url url::as_http() const {
  auto x = *this;
  x.scheme = secure() ? net::scheme::https : net::scheme::http;
  return x;
}

url url::with_target(std::string x) const {
  auto copy = *this;
  copy.target = std::move(x);
  return copy;
}

std::string to_string(const url& x) {
  return x.origin() + x.target;
}

std::string without_user(std::string_view text) {
  const auto scheme = text.find("://");
  const auto begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto at = text.substr(0, text.find_first_of("/?#", begin)).rfind('@');
  if (at == std::string_view::npos || at < begin)
    return std::string{text};
  return std::string{text.substr(0, begin)} + "..."
         + std::string{text.substr(at)};
}

result<url> parse_url(std::string_view text) {
  if (text.size() > limits::url_bytes_max)
    return refuse("it is too long");
  auto parsed = boost::urls::parse_uri({text.data(), text.size()});
  if (!parsed)
    return refuse_form(text);
  return convert(*parsed);
}

result<url> resolve_reference(const url& base, std::string_view reference) {
  if (reference.size() > limits::url_bytes_max)
    return refuse("it is too long");
  auto parsed
    = boost::urls::parse_uri_reference({reference.data(), reference.size()});
  if (!parsed)
    return refuse_form(reference);
  try {
    boost::urls::url whole{to_string(base)};
    if (auto done = whole.resolve(*parsed); !done)
      return refuse(done.error().message());
    return convert(whole);
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
}

std::string percent_encode(std::string_view x) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(x.size());
  for (auto c : x) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    auto byte = static_cast<uint8_t>(c);
    out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

result<std::string> percent_decode(std::string_view x, bool plus_is_space) {
  std::string out;
  out.reserve(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == '\0')
      return fail(ec::malformed, "NUL in a URL");
    if (x[i] != '%') {
      out += plus_is_space && x[i] == '+' ? ' ' : x[i];
      continue;
    }
    auto high = i + 2 < x.size() ? hex_value(x[i + 1]) : -1;
    auto low = i + 2 < x.size() ? hex_value(x[i + 2]) : -1;
    auto byte = high * 16 + low;
    if (high < 0 || low < 0 || byte == 0)
      return fail(ec::malformed, "bad percent encoding");
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

void append_query(std::string& target, std::string_view name,
                  std::string_view value) {
  target += target.find('?') == std::string::npos ? '?' : '&';
  target += percent_encode(name) + '=' + percent_encode(value);
}

} // namespace weir::net
