#include "apps/weir/option_table.hpp"

#include "actors/node/limits.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_completeness.hpp"
#include "actors/supervisor/limits_streams.hpp"
#include "actors/support/limits.hpp"
#include "apps/weir/option_fields.hpp"

#include <algorithm>
#include <array>

namespace weir::apps {

namespace {

using namespace limits;

constexpr std::array<std::string_view, 3> mode_words{"manual", "signal",
                                                     "full-network"};
constexpr std::array<std::string_view, 2> future_cursor_words{"reset", "stop"};
constexpr std::array<std::string_view, 5> level_words{"debug", "info", "warn",
                                                      "error", "off"};
constexpr std::array<std::string_view, 3> layout_words{"automatic", "text",
                                                       "json"};

using options = std::vector<option>;

void add_faces(options& out) {
  constexpr auto group = "Where the node lives and listens";
  out.push_back(text_option(&settings::data_dir,
                            {group, "data_dir",
                             "Directory of the store; made when it is absent.",
                             "DIRECTORY"}));
  out.push_back(text_option(
    &settings::bind,
    {group, "bind",
     "Data port: Tap's wire and the repository API. Port 0 takes a free one. "
     "Anything but loopback needs admin_password_file.",
     "ADDRESS:PORT"}));
  out.push_back(text_option(
    &settings::operations_bind,
    {group, "operations_bind",
     "Operations port: metrics and health. Follows bind to a free port when "
     "that has port 0 and this is not set.",
     "ADDRESS:PORT"}));
  out.push_back(list_option(
    &settings::allowed_hosts,
    {group, "allowed_hosts",
     "Names that the Host header of a request may have, besides loopback "
     "names and the bound address.",
     "NAME,...", "weir.example.com"}));
  out.push_back(text_option(
    &settings::admin_password_file,
    {group, "admin_password_file",
     "File with the password of the user admin, at least 16 bytes. Empty: no "
     "password is asked for.",
     "FILE", "/run/credentials/weir/password"}));
  out.push_back(flag_option(
    &settings::open_probes,
    {group, "open_probes",
     "Whether /livez and /readyz of the operations port answer without the "
     "password, whoever asks. Programs of this machine never need it there."}));
}

void add_upstreams(options& out) {
  constexpr auto group = "What the node follows";
  out.push_back(upstream_option(
    {group, "upstream",
     "Streams to follow: relay:URL or pds:URL. As a flag, once for each.",
     "relay:URL|pds:URL", "relay:https://bsky.network"}));
  out.push_back(choice_option(
    &settings::on_future_cursor, future_cursor_words,
    {group, "on_future_cursor",
     "When an upstream says that our cursor lies in its future, or goes on "
     "with what lies before it: begin a new epoch there, or stop "
     "following it."}));
  out.push_back(flag_option(
    &settings::assume_contiguous_seq,
    {group, "assume_contiguous_seq",
     "Take a first number after a reconnect that is not the next one for a "
     "loss. Only for upstreams that number without holes."}));
  out.push_back(count_option(
    value_kind::number, &settings::pds_events_per_second,
    pds_events_per_second_range,
    {group, "pds_events_per_second",
     "Events a second that one PDS may send; more wait there. One that is not "
     "what it claims counts as 50. A relay may send as many as can be taken."}));
  out.push_back(
    text_option(&settings::plc_url,
                {group, "plc_url", "Directory of did:plc identities.", "URL"}));
  out.push_back(real_option(
    &settings::plc_per_second, plc_per_second_range,
    {group, "plc_per_second",
     "DID documents asked for a second at most, of that directory and of the "
     "hosts of did:web identities together. The directory is asked for fewer "
     "while its answers are slow, and for none while it limits us (429)."}));
  out.push_back(text_option(
    &settings::handle_resolver_url,
    {group, "handle_resolver_url",
     "Server whose com.atproto.identity.resolveHandle answers for handles. "
     "Empty: DNS and the handle's own host are asked.",
     "URL", "http://127.0.0.1:2582"}));
  out.push_back(
    duration_option(&settings::identity_refresh_min, identity_refresh_range,
                    {group, "identity_refresh_min",
                     "Shortest time between two looks at one identity."}));
  out.push_back(flag_option(
    &settings::allow_private_addresses,
    {group, "allow_private_addresses",
     "Connect to private addresses, to any port and without TLS. For "
     "development and simulated networks only."}));
  out.push_back(text_option(
    &settings::ca_file,
    {group, "ca_file",
     "PEM file with the only certificate authorities to trust. Empty: the "
     "machine's.",
     "FILE", "/etc/ssl/own-ca.pem"}));
}

void add_tracking(options& out) {
  constexpr auto group = "What is kept";
  out.push_back(choice_option(
    &settings::mode, mode_words,
    {group, "mode",
     "Which repos are tracked: those that are added by hand, also those with "
     "a record in a signal collection, or all that the upstreams list, once "
     "their DID documents agree."}));
  out.push_back(list_option(
    &settings::signal_collections,
    {group, "signal_collection",
     "In mode signal: collections whose records make a repo tracked. Relays "
     "are asked who has some (listReposByCollection), and a pds: upstream about "
     "each of its accounts (describeRepo).",
     "NSID,...", "fm.teal.alpha.feed.play"}));
  out.push_back(list_option(
    &settings::collections,
    {group, "collections",
     "Collections whose records are kept: exact names, or patterns such as "
     "app.bsky.feed.*. Empty: all. Once it is changed, what is kept no more is "
     "deleted from the copies, as applications are told.",
     "NSID,...", "app.bsky.feed.post"}));
}

void add_history(options& out) {
  constexpr auto group = "How history is fetched";
  out.push_back(count_option(
    value_kind::number, &settings::sync_parallelism, sync_parallelism_range,
    {group, "sync_parallelism", "Repos fetched at the same time."}));
  out.push_back(count_option(
    value_kind::number, &settings::sync_per_host, sync_per_host_range,
    {group, "sync_per_host", "Repos fetched at the same time from one host."}));
  out.push_back(duration_option(
    &settings::retry_backoff_min, retry_backoff_range,
    {group, "retry_backoff_min",
     "Wait after the first failure of a repo; it doubles with each further "
     "one."}));
  out.push_back(duration_option(
    &settings::retry_backoff_max, retry_backoff_range,
    {group, "retry_backoff_max", "Longest wait between two tries."}));
  out.push_back(duration_option(
    &settings::retry_scan, retry_scan_range,
    {group, "retry_scan", "How often repos that are due are looked for."}));
  out.push_back(
    duration_option(&settings::listing_interval, listing_interval_range,
                    {group, "listing_interval",
                     "How often an upstream's whole list of repos is read at "
                     "least."}));
  out.push_back(count_option(
    value_kind::number, &settings::listing_requests_per_hour,
    listing_requests_range,
    {group, "listing_requests_per_hour",
     "Pages of a thousand repos that lists of one upstream may cost in an "
     "hour, on average: short lists are read again sooner. A list that is due "
     "anyway, or new, costs what it costs."}));
  out.push_back(duration_option(
    &settings::listing_pause, listing_pause_range,
    {group, "listing_pause",
     "How long after its end such a list is read again at the earliest, however "
     "short it is, unless events may have been missed; listing_interval is "
     "still the longest."}));
  out.push_back(duration_option(
    &settings::completeness_interval, completeness_interval_range,
    {group, "completeness_interval",
     "How long after a look at all repos, which counts those that are complete "
     "and mends others, the next begins while some are not."}));
  out.push_back(duration_option(
    &settings::listing_grace, listing_grace_range,
    {group, "listing_grace",
     "How long a revision that a list names may still be on its way in the "
     "stream."}));
  out.push_back(duration_option(
    &settings::gone_grace, gone_grace_range,
    {group, "gone_grace",
     "A host that knows nothing of a repo is asked again after this, and a "
     "directory that says that an identity is gone, before anything is "
     "erased."}));
  out.push_back(
    count_option(value_kind::size, &settings::repo_bytes_max, repo_bytes_range,
                 {group, "repo_bytes_max", "Largest repo that is fetched."}));
}

void add_engine(options& out) {
  constexpr auto group = "Store and machine";
  out.push_back(count_option(
    value_kind::size, &settings::memory_limit, memory_limit_range,
    {group, "memory_limit",
     "Memory of the whole program: queues and caches are shares of it. Each "
     "of sync_parallelism needs 32 MiB of it."}));
  out.push_back(count_option(
    value_kind::size, &settings::disk_reserve, disk_reserve_range,
    {group, "disk_reserve",
     "Room that stays free on the disk of data_dir: below it nothing new is "
     "taken in, below half of it requests that write are refused. 0: 2 GiB or "
     "5 % of the disk, whichever is more."}));
  out.push_back(count_option(
    value_kind::number, &settings::threads, threads_range,
    {group, "threads", "Threads that do the work; 0: one a core."}));
  out.push_back(count_option(
    value_kind::number, &settings::router_shards, router_shards_range,
    {group, "router_shards", "Shards of the router; 0: two a core."}));
  out.push_back(
    count_option(value_kind::number, &settings::readers, readers_range,
                 {group, "readers", "Threads that read from disk."}));
  out.push_back(
    count_option(value_kind::number, &settings::io_threads, io_threads_range,
                 {group, "io_threads", "Threads that serve sockets."}));
}

void add_delivery(options& out) {
  constexpr auto group = "How events are delivered";
  out.push_back(duration_option(
    &settings::consumer_retry, consumer_retry_range,
    {group, "consumer_retry",
     "An event that is not acked within this time is sent again; from the second "
     "time on after a pause, which doubles up to ten minutes."}));
  out.push_back(
    count_option(value_kind::number, &settings::consumer_window_events,
                 consumer_window_events_range,
                 {group, "consumer_window_events",
                  "Events on their way to a consumer at the same time."}));
  out.push_back(count_option(
    value_kind::size, &settings::consumer_window_bytes,
    consumer_window_bytes_range,
    {group, "consumer_window_bytes", "Bytes on their way to it."}));
  out.push_back(
    count_option(value_kind::number, &settings::consumer_attempts_max,
                 consumer_attempts_range,
                 {group, "consumer_attempts_max",
                  "Times an event is sent before it becomes a dead letter; 0 "
                  "never gives up what was sent."}));
  out.push_back(
    flag_option(&settings::consumer_disable_acks,
                {group, "consumer_disable_acks",
                 "Do not wait for acks: what was sent counts as taken."}));
}

void add_log(options& out) {
  constexpr auto group = "Log, on standard error";
  out.push_back(choice_option(
    &settings::log_level, level_words,
    {group, "log_level", "The least important lines that are written."}));
  out.push_back(choice_option(
    &settings::log_format, layout_words,
    {group, "log_format", "Automatic: text on a terminal, JSON elsewhere."}));
}

options make_table() {
  options out;
  add_faces(out);
  add_upstreams(out);
  add_tracking(out);
  add_history(out);
  add_engine(out);
  add_delivery(out);
  add_log(out);
  return out;
}

std::string join(std::span<const std::string_view> words) {
  std::string out;
  for (const auto& x : words)
    out.append(out.empty() ? "" : ", ").append(x);
  return out;
}

std::string plain_number(double x) {
  return to_toml(value_kind::real, x);
}

} // namespace

std::string option::flag() const {
  auto out = "--" + std::string{name};
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::string option::variable() const {
  auto out = "WEIR_" + std::string{name};
  for (char& c : out)
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string option::requirement() const {
  switch (kind) {
    case value_kind::boolean:
      return "true or false";
    case value_kind::number:
      return "a whole number from " + std::to_string(range->min) + " to "
             + std::to_string(range->max);
    case value_kind::real:
      return "a number from " + plain_number(real_range->min) + " to "
             + plain_number(real_range->max);
    case value_kind::size:
      return "a size from " + format_size(range->min) + " to "
             + format_size(range->max);
    case value_kind::duration:
      return "a duration from " + format_duration(range->min) + " to "
             + format_duration(range->max);
    case value_kind::choice:
      return "one of " + join(words);
    case value_kind::list:
      return "a list of " + std::string{form};
    case value_kind::text:
      break;
  }
  return "a text: " + std::string{form};
}

std::span<const option> all_options() {
  static const auto table = make_table();
  return table;
}

const option* find_option(std::string_view name) {
  for (const auto& x : all_options())
    if (x.name == name)
      return &x;
  return nullptr;
}

} // namespace weir::apps
