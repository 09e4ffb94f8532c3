#include "actors/api/routes.hpp"

#include "actors/api/limits.hpp"
#include "base/nearest.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace weir::actors {

namespace {

constexpr size_t bulk = limits::bulk_body_bytes_max;
constexpr std::array<std::string_view, 2> pages{"limit", "cursor"};
constexpr std::array<std::string_view, 5> logs{"since", "did", "collection",
                                               "limit", "content"};
constexpr std::array<std::string_view, 5> streams{
  "collection", "since", "since_ms", "limit", "content"};
constexpr std::array<std::string_view, 1> contents{"content"};
constexpr std::array<std::string_view, 4> heads{"collection", "limit",
                                                "cursor", "content"};
constexpr std::array<std::string_view, 1> versions{"at"};
/// Bytes that are shown of an unknown name.
constexpr size_t shown_max = 64;

constexpr std::array table{
  route{port::data, "GET", "/", action::root},
  route{port::data, "GET", "/health", action::health},
  route{port::data, "GET", "/_health", action::version},
  route{port::data, "GET", "/xrpc/_health", action::version},
  route{port::data, "GET", "/channel", action::channel, {}, 0, {}, true},
  route{port::data, "POST", "/repos/add", action::add, {}, bulk,
        wire::add_members},
  route{port::data, "POST", "/repos/remove", action::remove, {}, bulk,
        wire::did_members},
  route{port::data, "POST", "/repos/resync", action::resync, {}, bulk,
        wire::did_members},
  route{port::data, "GET", "/repos", action::list, pages},
  // It stands before the pattern with a parameter, so that the static route
  // wins (SYNC-34).
  route{port::data, "GET", "/repos/errors", action::list_errors, pages},
  route{port::data, "GET", "/repos/:did", action::get_repo},
  route{port::data, "GET", "/config", action::get_config},
  route{port::data, "GET", "/resolve/:did", action::resolve},
  route{port::data, "GET", "/info/:did", action::info},
  route{port::data, "GET", "/v1/ops", action::operations, logs},
  route{port::data, "GET", "/v1/repos/:did/ops", action::stream_operations,
        streams},
  route{port::data, "GET", "/v1/repos/:did/ops/:collection/:index",
        action::one_operation, contents},
  route{port::data, "GET", "/v1/repos/:did/records", action::records, heads},
  route{port::data, "GET", "/v1/repos/:did/records/:collection/:rkey",
        action::one_record, versions},
  route{port::data, "GET", "/v1/dead-letters", action::dead_letters, pages},
  route{port::data, "POST", "/v1/dead-letters/retry", action::retry_letters,
        {}, limits::dead_letters_body_bytes_max, wire::letter_members},
  route{port::data, "POST", "/v1/dead-letters/drop", action::drop_letters,
        {}, limits::dead_letters_body_bytes_max, wire::letter_members},
  route{port::data, "GET", "/v1/status", action::short_status},
  route{port::data, "GET", "/v1/completeness", action::summary, pages},
  route{port::data, "GET", "/v1/repos/:did/completeness", action::completeness},
  route{port::data, "GET", "/stats/repo-count", action::repo_count},
  route{port::data, "GET", "/stats/record-count", action::record_count},
  route{port::data, "GET", "/stats/outbox-buffer", action::outbox_buffer},
  route{port::data, "GET", "/stats/resync-buffer", action::resync_buffer},
  route{port::data, "GET", "/stats/cursors", action::cursors},
  route{port::operations, "GET", "/metrics", action::metrics},
  route{port::operations, "GET", "/livez", action::live},
  route{port::operations, "GET", "/readyz", action::ready},
  route{port::operations, "GET", "/status", action::status},
  route{port::operations, "POST", "/backup", action::backup, {},
        limits::backup_body_bytes_max, wire::backup_members},
};

using path_parameters = std::vector<std::pair<std::string_view, std::string>>;

/// Takes the first part of a path, up to its slash, off the path. `last` says
/// that no slash followed.
std::string_view take_part(std::string_view& path, bool& last) {
  const auto end = path.find('/');
  const auto out = path.substr(0, end);
  last = end == path.npos;
  path.remove_prefix(last ? path.size() : end + 1);
  return out;
}

/// Returns the parameters when `path` fits the pattern, part by part.
std::optional<path_parameters> fit(std::string_view pattern,
                                   std::string_view path) {
  path_parameters out;
  for (bool pattern_ends = false, path_ends = false;;) {
    const auto wanted = take_part(pattern, pattern_ends);
    const auto part = take_part(path, path_ends);
    if (wanted.starts_with(':') && !part.empty())
      out.emplace_back(wanted.substr(1), part);
    else if (wanted != part)
      return std::nullopt;
    if (pattern_ends != path_ends)
      return std::nullopt;
    if (pattern_ends)
      return out;
  }
}

/// Paths hold a DID as it is, and are decoded: the port of a did:web name is
/// written %3A in it (protocol-coverage.md 4), and nothing else there has a
/// colon.
std::string did_text(std::string_view x) {
  constexpr std::string_view web = "did:web:";
  std::string out{x};
  if (const auto port = out.find(':', web.size());
      x.starts_with(web) && port != std::string::npos)
    out.replace(port, 1, "%3A");
  return out;
}

using named_value = std::pair<std::string, std::string>;

} // namespace

std::span<const route> all_routes() {
  return table;
}

const std::string&
matched_route::parameter(std::string_view name) const noexcept {
  static const std::string none;
  const auto found
    = std::ranges::find(parameters, name, &path_parameters::value_type::first);
  return found == parameters.end() ? none : found->second;
}

std::string unknown_parameter(const route& x,
                              const net::incoming_request& request) {
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(x.query, name) != x.query.end()) {
      if (std::ranges::count(request.query, name, &named_value::first) > 1)
        return name + " is there twice";
      continue;
    }
    const std::vector<std::string> known(x.query.begin(), x.query.end());
    return "there is no parameter \"" + name.substr(0, shown_max) + "\" here"
           + nearest_or_all(name, known);
  }
  return {};
}

boost::system::result<matched_route, route_miss>
find_route(port on, std::string_view method, std::string_view path,
           bool upgrade) {
  route_miss miss;
  if (method == "HEAD")
    method = "GET";
  for (const auto& x : all_routes()) {
    auto parameters = x.on == on ? fit(x.pattern, path) : std::nullopt;
    // A path that is in the table is not a parameter of another pattern.
    if (!parameters || (!miss.method.empty() && x.pattern != path))
      continue;
    if (x.upgrade && !upgrade && x.method != method) {
      // The same path with another method would be refused as well.
      miss.method = x.method;
      continue;
    }
    if (x.upgrade != upgrade) {
      (upgrade ? miss.plain : miss.upgrade) = true;
      continue;
    }
    if (x.method == method) {
      for (auto& [name, value] : *parameters)
        if (name == "did")
          value = did_text(value);
      return matched_route{&x, std::move(*parameters)};
    }
    miss.method = x.method;
  }
  return miss;
}

} // namespace weir::actors
