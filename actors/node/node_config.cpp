#include "actors/node/node_config.hpp"

#include "actors/node/memory_plan.hpp"
#include "atproto/identifiers.hpp"
#include "base/limits.hpp"
#include "net/address_guard.hpp"
#include "wire/filter.hpp"
#include "wire/limits.hpp"
#include "wire/nsid_case.hpp"

#include <set>
#include <string_view>

namespace weir::actors {

namespace {

using problem_list = std::vector<std::string>;

// Names are those of the options, which users can change.
void add(problem_list& out, std::string_view name, std::string sentence) {
  out.push_back(std::string{name} + ": " + std::move(sentence));
}

bool is_control(char x) noexcept {
  return static_cast<unsigned char>(x) < 0x20 || x == 0x7f;
}

/// Whether a request can have this name; IPv6 addresses need no entry.
bool is_host_name(std::string_view x) noexcept {
  return !x.empty() && std::ranges::all_of(x, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

std::string number_text(double x) {
  auto out = std::to_string(x);
  out.erase(out.find_last_not_of('0') + 1);
  return out.ends_with('.') ? out.substr(0, out.size() - 1) : out;
}

std::string number_text(uint64_t x) {
  return std::to_string(x);
}

std::string number_text(std::chrono::seconds x) {
  return std::to_string(x.count()) + "s";
}

void check_ranges(problem_list& out, const node_config& x) {
  using namespace limits;
  const auto check = [&out](std::string_view name, auto value,
                            const auto& range) {
    if (!(range.min <= value && value <= range.max))
      add(out, name,
          number_text(value) + " is not from " + number_text(range.min) + " to "
            + number_text(range.max));
  };
  check("plc_per_second", x.plc_per_second, plc_per_second_range);
  check("pds_events_per_second", x.pds_events_per_second,
        pds_events_per_second_range);
  check("sync_parallelism", x.sync_parallelism, sync_parallelism_range);
  check("sync_per_host", x.sync_per_host, sync_per_host_range);
  check("retry_backoff_min", x.retry_backoff_min, retry_backoff_range);
  check("retry_backoff_max", x.retry_backoff_max, retry_backoff_range);
  check("identity_refresh_min", x.identity_refresh_min, identity_refresh_range);
  check("listing_interval", x.listing_interval, listing_interval_range);
  check("listing_pause", x.listing_pause, listing_pause_range);
  check("completeness_interval", x.completeness_interval,
        completeness_interval_range);
  check("listing_requests_per_hour", x.listing_requests_per_hour,
        listing_requests_range);
  check("listing_grace", x.listing_grace, listing_grace_range);
  check("gone_grace", x.gone_grace, gone_grace_range);
  check("repo_bytes_max", x.repo_bytes_max, repo_bytes_range);
  check("memory_limit", x.memory_limit, memory_limit_range);
  check("disk_reserve", x.disk_reserve, disk_reserve_range);
  check("log_retention", x.log_retention, log_retention_range);
  check("consumer_retry", x.consumer_retry, consumer_retry_range);
  check("consumer_window_events", x.consumer_window_events,
        consumer_window_events_range);
  check("consumer_window_bytes", x.consumer_window_bytes,
        consumer_window_bytes_range);
  check("consumer_attempts_max", x.consumer_attempts_max,
        consumer_attempts_range);
  check("threads", x.threads, threads_range);
  check("readers", x.readers, readers_range);
  check("partitions", x.partitions, partitions_range);
  if (x.consumer_window_events < x.partitions)
    add(out, "consumer_window_events",
        number_text(x.consumer_window_events)
          + " is less than partitions, and each of them needs one event: raise it, "
            "or make a data_dir with fewer partitions");
  if (x.retry_backoff_min > x.retry_backoff_max)
    add(out, "retry_backoff_min",
        number_text(x.retry_backoff_min)
          + " is more than retry_backoff_max; lower it, or raise that");
}

void check_bind(problem_list& out, std::string_view name,
                const std::string& text, bool protected_by_password) {
  const auto at = net::endpoint::parse(text);
  if (!at)
    add(out, name,
        "\"" + text
          + "\" is not ADDRESS:PORT, such as 127.0.0.1:2480 or "
            "[::1]:0");
  else if (!at->address.is_loopback() && !protected_by_password)
    add(out, name,
        text
          + " can be reached from other machines and there is no password; "
            "set admin_password_file, or listen on 127.0.0.1");
}

void check_faces(problem_list& out, const node_config& x) {
  constexpr auto password = limits::admin_password_bytes_range;
  if (x.data_dir.empty())
    add(out, "data_dir", "is empty; name a directory, such as weir-data");
  else if (std::ranges::any_of(x.data_dir, is_control)
           || x.data_dir.find_first_not_of(' ') == std::string::npos)
    add(out, "data_dir",
        "\"" + x.data_dir + "\" is no name of a directory: it is blank, or has "
        "control characters");
  if (x.data_dir.starts_with('~') || x.data_dir.starts_with('$'))
    add(out, "data_dir",
        "\"" + x.data_dir
          + "\" is not read by a shell; write the path out, such as /var/lib/weir");
  check_bind(out, "bind", x.bind, !x.admin_password.empty());
  check_bind(out, "operations_bind", x.operations_bind,
             !x.admin_password.empty());
  if (x.bind == x.operations_bind && !x.bind.ends_with(":0"))
    add(out, "operations_bind",
        x.bind + " is what bind listens on; give one of them another port");
  if (!x.admin_password.empty()
      && (x.admin_password.size() < password.min
          || x.admin_password.size() > password.max))
    add(out, "admin_password_file",
        "a password has " + number_text(password.min) + " to "
          + number_text(password.max) + " bytes");
  for (const auto& name : x.allowed_hosts)
    if (!is_host_name(name))
      add(out, "allowed_hosts",
          "\"" + name
            + "\" is not a host name, which has letters, digits, dots and hyphens; "
              "leave scheme and port out, name each host, since there are no "
              "patterns, and write one with other letters as a browser sends it: "
              "xn--...");
}

/// The part of the URL after the origin that would be dropped, such as a path.
std::string_view behind_origin(std::string_view url) {
  const auto end = url.find_first_of("/?#", url.find("://") + 3);
  const auto out = url.substr(std::min(end, url.size()));
  return out == "/" ? "" : out;
}

/// The URL when it is the origin of a server and may be used.
std::optional<net::url> check_url(problem_list& out, std::string_view name,
                                  const std::string& text,
                                  const net::address_guard& guard) {
  if (!text.starts_with("https://")
      && !(guard.allow_private() && text.starts_with("http://"))) {
    add(out, name,
        "\"" + net::without_user(text)
          + "\" must begin with https://, or with http:// where "
            "allow_private_addresses is set");
    return std::nullopt;
  }
  const auto parsed = net::parse_url(text);
  if (!parsed) {
    add(out, name,
        "\"" + net::without_user(text) + "\" is not a URL such as https://example.com: "
          + parsed.error().context);
    return std::nullopt;
  }
  const auto allowed = guard.check_url(*parsed);
  if (!allowed && !net::is_host(parsed->host)) {
    add(out, name,
        text + ": \"" + parsed->host
          + "\" is not a host name, such as bsky.network");
    return std::nullopt;
  }
  if (!allowed) {
    add(out, name,
        text + ": " + allowed.error().context
          + " (allow_private_addresses permits it)");
    return std::nullopt;
  }
  if (const auto more = behind_origin(text); !more.empty())
    add(out, name,
        text + " must end with the host or port: " + parsed->origin()
          + "; leave out \"" + std::string{more} + "\"");
  return *parsed;
}

void check_upstreams(problem_list& out, const node_config& x,
                     const net::address_guard& guard) {
  if (x.upstreams.size() > limits::upstreams_max)
    add(out, "upstream",
        "more than " + number_text(limits::upstreams_max)
          + " are too many; name fewer");
  std::set<std::string> seen;
  for (const auto& each : x.upstreams) {
    const auto found = check_url(out, "upstream", each.url, guard);
    if (!found)
      continue;
    if (!seen.insert(found->origin()).second)
      add(out, "upstream", each.url + " is there twice; leave one of them out");
  }
}

void check_tracking(problem_list& out, const node_config& x) {
  if (x.mode == tracking_mode::signal && x.signal_collections.empty())
    add(out, "signal_collection",
        "mode signal needs at least one, such as fm.teal.alpha.feed.play");
  if (x.mode != tracking_mode::signal && !x.signal_collections.empty())
    add(out, "signal_collection",
        "only mode signal reads it, and this one is "
          + std::string{wire::to_string(x.mode)}
          + "; set mode = \"signal\", or leave it out");
  for (const auto& each : x.signal_collections)
    if (!atproto::valid_nsid(each))
      add(out, "signal_collection",
          "\"" + each
            + "\" is not the name of a collection, such as "
              "fm.teal.alpha.feed.play; no patterns here");
    else if (const auto meant = wire::with_small_authority(each))
      add(out, "signal_collection",
          "\"" + each
            + "\" has large letters in its domain, as no record has; did you mean "
            + *meant + "?");
  if (x.signal_collections.size() > limits::filter_patterns_max)
    add(out, "signal_collection",
        "more than " + number_text(limits::filter_patterns_max)
          + " are too many; name fewer");
  if (x.mode != tracking_mode::manual && x.upstreams.empty())
    add(out, "upstream",
        "mode " + std::string{wire::to_string(x.mode)}
          + " needs one, such as relay:https://bsky.network");
  const auto filter = wire::collection_filter::parse(x.collections);
  if (!filter)
    add(out, "collections", filter.error().context);
}

/// A limit that is too small for the other options is refused, not raised.
void check_memory(problem_list& out, const node_config& x) {
  const auto plan = plan_memory(x);
  const auto limit = number_text(x.memory_limit);
  if (x.partitions * limits::partition_memory_min > x.memory_limit)
    add(out, "partitions",
        number_text(x.partitions) + " of them need a memory_limit of "
          + number_text(x.partitions * limits::partition_memory_min)
          + " bytes, and it is " + limit
          + ": raise it, or make a data_dir with fewer");
  if (x.consumer_window_bytes > plan.delivery)
    add(out, "consumer_window_bytes",
        number_text(x.consumer_window_bytes) + " is more than "
          + number_text(plan.delivery) + ", a sixteenth of memory_limit ("
          + limit + "): lower it, or raise memory_limit");
  if (x.sync_parallelism * fetch_bytes_min > fetch_bytes(x))
    add(out, "sync_parallelism",
        number_text(x.sync_parallelism) + " fetches need a memory_limit of "
          + number_text(memory_for_fetches(x.sync_parallelism))
          + " bytes, and it is " + limit
          + ": raise it, or fetch fewer at the same time");
  if (plan.upstream_window
      < std::min(limits::upstream_window_min, x.most.bytes))
    add(out, "memory_limit",
        limit + " bytes are too little for " + number_text(x.upstreams.size())
          + " upstreams: raise it, or follow fewer");
}

} // namespace

std::vector<std::string> node_config::problems() const {
  problem_list out;
  const net::address_guard guard{allow_private_addresses};
  check_faces(out, *this);
  check_upstreams(out, *this, guard);
  check_url(out, "plc_url", plc_url, guard);
  if (!handle_resolver_url.empty())
    check_url(out, "handle_resolver_url", handle_resolver_url, guard);
  check_tracking(out, *this);
  check_ranges(out, *this);
  check_memory(out, *this);
  return out;
}

} // namespace weir::actors
