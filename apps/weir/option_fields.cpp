#include "apps/weir/option_fields.hpp"

#include "base/option_range.hpp"
#include "net/address_guard.hpp"
#include "net/url.hpp"

#include <strings.h>

namespace weir::apps {

namespace {

using namespace std::chrono;

/// An option whose member has the value as it is.
template <class T>
option plain_option(value_kind kind, T settings::*member,
                    const option_text& x) {
  auto out = make_option(kind, x);
  out.get = [member](const settings& from) -> option_value {
    return from.*member;
  };
  out.set = [member](settings& to, const option_value& value) -> result<void> {
    to.*member = std::get<T>(value);
    return {};
  };
  return out;
}

template <class T>
bool outside(const limits::option_range<T>& range, T x) {
  return !(range.min <= x && x <= range.max);
}

/// The upstream that was probably meant when its kind is missing or wrong. For
/// `wss://a.example.com`, `a.example.com` and `tap:https://a.example.com` it is
/// `relay:https://a.example.com`.
std::optional<std::string> meant_upstream(std::string_view text) {
  const auto mark = text.find("://");
  const auto scheme = text.substr(0, std::min(mark, text.size()));
  const auto plain = scheme.ends_with("http") || scheme == "ws";
  const auto rest
    = mark == std::string_view::npos ? text : text.substr(mark + 3);
  const auto parsed
    = net::parse_url((plain ? "http://" : "https://") + std::string{rest});
  // A word without a dot may be anything.
  if (!parsed || !net::is_host(parsed->host)
      || (mark == std::string_view::npos
          && parsed->host.find('.') == std::string::npos))
    return std::nullopt;
  return (text.starts_with("pds") ? "pds:" : "relay:") + parsed->origin();
}

error not_an_upstream(std::string_view text) {
  const auto meant = meant_upstream(text);
  return fail(ec::invalid_argument,
              "a list of relay:URL or pds:URL"
                + (meant
                     ? "; did you mean " + *meant + "?"
                     : std::string{", such as relay:https://bsky.network"}));
}

} // namespace

option make_option(value_kind kind, const option_text& x) {
  option out;
  out.kind = kind;
  out.group = x.group;
  out.name = x.name;
  out.meaning = x.meaning;
  out.form = x.form;
  out.example = x.example;
  return out;
}

option text_option(std::string settings::*member, const option_text& x) {
  return plain_option(value_kind::text, member, x);
}

option flag_option(bool settings::*member, const option_text& x) {
  return plain_option(value_kind::boolean, member, x);
}

option list_option(std::vector<std::string> settings::*member,
                   const option_text& x) {
  return plain_option(value_kind::list, member, x);
}

option real_option(double settings::*member,
                   const limits::option_range<double>& range,
                   const option_text& x) {
  auto out = plain_option(value_kind::real, member, x);
  out.real_range = range;
  out.set
    = [member, range](settings& to, const option_value& value) -> result<void> {
    if (outside(range, std::get<double>(value)))
      return fail(ec::invalid_argument);
    to.*member = std::get<double>(value);
    return {};
  };
  return out;
}

option count_option(value_kind kind, uint64_t settings::*member,
                    const limits::option_range<uint64_t>& range,
                    const option_text& x) {
  const limits::option_range<int64_t> whole{static_cast<int64_t>(range.min),
                                            static_cast<int64_t>(range.max)};
  auto out = make_option(kind, x);
  out.range = whole;
  out.get = [member](const settings& from) -> option_value {
    return static_cast<int64_t>(from.*member);
  };
  out.set
    = [member, whole](settings& to, const option_value& value) -> result<void> {
    if (outside(whole, std::get<int64_t>(value)))
      return fail(ec::invalid_argument);
    to.*member = static_cast<uint64_t>(std::get<int64_t>(value));
    return {};
  };
  return out;
}

option duration_option(std::chrono::seconds settings::*member,
                       const limits::option_range<std::chrono::seconds>& range,
                       const option_text& x) {
  const limits::option_range<int64_t> whole{milliseconds{range.min}.count(),
                                            milliseconds{range.max}.count()};
  auto out = make_option(value_kind::duration, x);
  out.range = whole;
  out.get = [member](const settings& from) -> option_value {
    return int64_t{milliseconds{from.*member}.count()};
  };
  out.set
    = [member, whole](settings& to, const option_value& value) -> result<void> {
    const auto millis = std::get<int64_t>(value);
    if (outside(whole, millis))
      return fail(ec::invalid_argument);
    if (millis % 1000 != 0)
      return fail(ec::invalid_argument, "whole seconds");
    to.*member = duration_cast<seconds>(milliseconds{millis});
    return {};
  };
  return out;
}

option upstream_option(const option_text& x) {
  constexpr std::string_view relay = "relay:";
  constexpr std::string_view pds = "pds:";
  auto out = make_option(value_kind::list, x);
  out.get = [=](const settings& from) -> option_value {
    std::vector<std::string> texts;
    for (const auto& each : from.upstreams)
      texts.push_back(std::string{each.relay ? relay : pds} + each.url);
    return texts;
  };
  out.set = [=](settings& to, const option_value& value) -> result<void> {
    std::vector<actors::upstream_config> found;
    for (const auto& text : std::get<std::vector<std::string>>(value)) {
      const bool is_relay = text.starts_with(relay);
      const auto is_large = [&text](std::string_view kind) {
        return strncasecmp(text.c_str(), kind.data(), kind.size()) == 0;
      };
      if (!is_relay && !text.starts_with(pds)
          && (is_large(relay) || is_large(pds)))
        return fail(
          ec::invalid_argument,
          "a list of relay:URL or pds:URL, these words in small letters");
      if (!is_relay && !text.starts_with(pds))
        return not_an_upstream(text);
      found.push_back({text.substr((is_relay ? relay : pds).size()), is_relay});
    }
    to.upstreams = std::move(found);
    return {};
  };
  return out;
}

} // namespace weir::apps
