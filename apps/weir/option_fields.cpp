#include "apps/weir/option_fields.hpp"

#include "net/address_guard.hpp"
#include "net/url.hpp"

#include <functional>
#include <strings.h>

namespace weir::apps {

namespace {

using namespace std::chrono;

/// Lets the option read and write this member.
template <class T>
void bind(option& x, T settings::*member) {
  x.get = [member](const settings& from) -> option_value {
    return from.*member;
  };
  x.set = [member](settings& to, const option_value& value) -> result<void> {
    to.*member = std::get<T>(value);
    return {};
  };
}

/// Binds a member that has a range. `shown` turns the member into the value of
/// the option, and `meant` turns that back.
/// @param loss What a value must be so that it comes back unchanged.
template <class T, class Shown, class Meant>
void bind(option& x, T settings::*member, const limits::option_range<T>& range,
          Shown shown, Meant meant, const char* loss = "") {
  using value_type = std::decay_t<decltype(shown(range.min))>;
  x.get = [=](const settings& from) -> option_value {
    return shown(from.*member);
  };
  x.set = [=](settings& to, const option_value& value) -> result<void> {
    const auto wanted = std::get<value_type>(value);
    if (!(shown(range.min) <= wanted && wanted <= shown(range.max)))
      return fail(ec::invalid_argument);
    if (shown(meant(wanted)) != wanted)
      return fail(ec::invalid_argument, loss);
    to.*member = meant(wanted);
    return {};
  };
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

option& option_group::begin(value_kind kind, std::string_view name,
                            std::string_view meaning) {
  auto& out = out_.emplace_back();
  out.name = name;
  out.kind = kind;
  out.group = heading_;
  out.meaning = meaning;
  return out;
}

void option_group::add(std::string_view name, std::string settings::*member,
                       std::string_view meaning, std::string_view form,
                       std::string_view example) {
  auto& out = begin(value_kind::text, name, meaning);
  out.form = form;
  out.example = example;
  bind(out, member);
}

void option_group::add(std::string_view name,
                       std::vector<std::string> settings::*member,
                       std::string_view meaning, std::string_view form,
                       std::string_view example) {
  auto& out = begin(value_kind::list, name, meaning);
  out.form = form;
  out.example = example;
  bind(out, member);
}

void option_group::add(std::string_view name, bool settings::*member,
                       std::string_view meaning) {
  bind(begin(value_kind::boolean, name, meaning), member);
}

void option_group::add(std::string_view name, double settings::*member,
                       const limits::option_range<double>& range,
                       std::string_view meaning) {
  auto& out = begin(value_kind::real, name, meaning);
  out.real_range = range;
  bind(out, member, range, std::identity{}, std::identity{});
}

void option_group::add(std::string_view name, uint64_t settings::*member,
                       const limits::option_range<uint64_t>& range,
                       std::string_view meaning, value_kind kind) {
  const auto shown = [](uint64_t x) {
    return static_cast<int64_t>(x);
  };
  const auto meant = [](int64_t x) {
    return static_cast<uint64_t>(x);
  };
  auto& out = begin(kind, name, meaning);
  out.range = {shown(range.min), shown(range.max)};
  bind(out, member, range, shown, meant);
}

void option_group::add(std::string_view name, seconds settings::*member,
                       const limits::option_seconds& range,
                       std::string_view meaning) {
  const auto shown = [](seconds x) {
    return int64_t{milliseconds{x}.count()};
  };
  const auto meant = [](int64_t x) {
    return duration_cast<seconds>(milliseconds{x});
  };
  auto& out = begin(value_kind::duration, name, meaning);
  out.range = {shown(range.min), shown(range.max)};
  bind(out, member, range, shown, meant, "whole seconds");
}

void option_group::add_upstreams(std::string_view name,
                                 std::string_view meaning) {
  constexpr std::string_view relay = "relay:";
  constexpr std::string_view pds = "pds:";
  auto& out = begin(value_kind::list, name, meaning);
  out.form = "relay:URL|pds:URL";
  out.example = "relay:https://bsky.network";
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
}

} // namespace weir::apps
