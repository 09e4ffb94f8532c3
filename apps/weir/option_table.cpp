#include "apps/weir/option_table.hpp"

#include "actors/node/limits.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/limits.hpp"
#include "apps/weir/option_fields.hpp"
#include "base/joined.hpp"

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
  option_group x{out, "Where the node lives and listens"};
  x.add("data_dir", &settings::data_dir,
        "Directory of the store. It is made when it is absent.", "DIRECTORY");
  x.add("partitions", &settings::partitions, partitions_range,
        "Stores of the data directory, each with a writer of its own; a repo "
        "is in one of them. More than one helps where a single writer cannot "
        "keep up. It is chosen when the directory is made and never changes.");
  x.add("bind", &settings::bind,
        "Data port: Tap's wire and the repository API. Port 0 takes a free "
        "one. Addresses other than loopback need admin_password_file.",
        "ADDRESS:PORT");
  x.add("operations_bind", &settings::operations_bind,
        "Operations port: metrics and health. When this is not set and bind "
        "has port 0, a free port is taken here, too.",
        "ADDRESS:PORT");
  x.add("allowed_hosts", &settings::allowed_hosts,
        "Names that the Host header of a request may have, besides loopback "
        "names and the bound address.",
        "NAME,...", "weir.example.com");
  x.add("admin_password_file", &settings::admin_password_file,
        "File with the password of the user admin, at least 16 bytes. Empty: "
        "no password is needed.",
        "FILE", "/run/credentials/weir/password");
  x.add("open_probes", &settings::open_probes,
        "Whether /livez and /readyz of the operations port answer everybody "
        "without the password. Programs on this machine never need it there.");
}

void add_upstreams(options& out) {
  option_group x{out, "What the node follows"};
  x.add_upstreams("upstream", "Streams to follow: relay:URL or pds:URL. The "
                              "flag is given once for each.");
  x.add("on_future_cursor", &settings::on_future_cursor, future_cursor_words,
        "What to do when an upstream says that our cursor is in its future, or "
        "sends numbers from before our cursor: begin a new epoch there "
        "(reset), or stop following it (stop).");
  x.add("assume_contiguous_seq", &settings::assume_contiguous_seq,
        "After a reconnect, treat a first number that is not the next one as a "
        "loss of events. Only for upstreams whose numbers have no gaps.");
  x.add(
    "pds_events_per_second", &settings::pds_events_per_second,
    pds_events_per_second_range,
    "Events per second that are read from one PDS; further ones wait there. An "
    "event that fails verification counts as 50. A relay has no such limit.");
  x.add("plc_url", &settings::plc_url,
        "URL of the directory of did:plc identities.", "URL");
  x.add("plc_per_second", &settings::plc_per_second, plc_per_second_range,
        "The most DID documents that are requested per second, from this "
        "directory and from the hosts of did:web identities together. The "
        "directory gets fewer requests while its answers are slow, and none "
        "while it limits us (429).");
  x.add("handle_resolver_url", &settings::handle_resolver_url,
        "Server whose com.atproto.identity.resolveHandle answers for handles. "
        "Empty: DNS and the handle's own host are asked.",
        "URL", "http://127.0.0.1:2582");
  x.add("identity_refresh_min", &settings::identity_refresh_min,
        identity_refresh_range,
        "Shortest time between two look-ups of one identity.");
  x.add("allow_private_addresses", &settings::allow_private_addresses,
        "Connect to private addresses, to any port and without TLS. For "
        "development and simulated networks only.");
  x.add("ca_file", &settings::ca_file,
        "PEM file with the only certificate authorities to trust. Empty: those "
        "of the machine.",
        "FILE", "/etc/ssl/own-ca.pem");
}

void add_tracking(options& out) {
  option_group x{out, "What is kept"};
  x.add(
    "mode", &settings::mode, mode_words,
    "Which repos are tracked. manual: those that are added by hand; signal: "
    "also those with a record in a signal collection; full-network: all that "
    "the upstreams list, once their DID documents agree.");
  x.add("signal_collection", &settings::signal_collections,
        "In mode signal: collections whose records make a repo tracked. Relays "
        "are asked which repos have some (listReposByCollection), and a pds: "
        "upstream is asked about each of its accounts (describeRepo).",
        "NSID,...", "fm.teal.alpha.feed.play");
  x.add(
    "collections", &settings::collections,
    "Collections whose records are kept: exact names, or patterns such as "
    "app.bsky.feed.*. Empty: all. After a change, records that are no longer "
    "kept are deleted from the copies, and applications get these deletions.",
    "NSID,...", "app.bsky.feed.post");
}

void add_history(options& out) {
  option_group x{out, "How history is fetched"};
  x.add("sync_parallelism", &settings::sync_parallelism, sync_parallelism_range,
        "Repos fetched at the same time.");
  x.add("sync_per_host", &settings::sync_per_host, sync_per_host_range,
        "Repos fetched at the same time from one host.");
  x.add("retry_backoff_min", &settings::retry_backoff_min, retry_backoff_range,
        "Wait after the first failure of a repo. It doubles with each further "
        "failure.");
  x.add("retry_backoff_max", &settings::retry_backoff_max, retry_backoff_range,
        "Longest wait between two tries.");
  x.add("listing_interval", &settings::listing_interval, listing_interval_range,
        "Longest time between two readings of the whole list of repos of an "
        "upstream.");
  x.add("listing_requests_per_hour", &settings::listing_requests_per_hour,
        listing_requests_range,
        "Pages of a thousand repos that are requested per hour for the lists "
        "of one upstream, on average. So short lists are read again sooner. A "
        "list that is new, or due by listing_interval, is read in any case.");
  x.add("listing_pause", &settings::listing_pause, listing_pause_range,
        "Shortest time between the end of a list and its next reading, however "
        "short the list is, unless events may have been missed. "
        "listing_interval is still the longest time.");
  x.add("completeness_interval", &settings::completeness_interval,
        completeness_interval_range,
        "Pause between two scans of all repos while some are not complete. A "
        "scan counts the complete repos and begins the repair of others.");
  x.add("listing_grace", &settings::listing_grace, listing_grace_range,
        "How long the stream may take to bring a revision that a list already "
        "names.");
  x.add(
    "gone_grace", &settings::gone_grace, gone_grace_range,
    "When a host does not know a repo, or the directory says that an identity "
    "is gone, it is asked again after this time before anything is erased.");
  x.add("repo_bytes_max", &settings::repo_bytes_max, repo_bytes_range,
        "Largest repo that is fetched.", value_kind::size);
}

void add_engine(options& out) {
  option_group x{out, "Store and machine"};
  x.add("memory_limit", &settings::memory_limit, memory_limit_range,
        "Memory of the whole program; queues and caches get shares of it. Each "
        "of the sync_parallelism fetches needs 32 MiB of it.",
        value_kind::size);
  x.add("disk_reserve", &settings::disk_reserve, disk_reserve_range,
        "Space that stays free on the disk of data_dir. Below it nothing new "
        "is taken in; below half of it requests that write are refused. 0: 2 "
        "GiB or 5 % of the disk, whichever is more.",
        value_kind::size);
  x.add("log_retention", &settings::log_retention, log_retention_range,
        "How long the log keeps what is not current any more: versions of "
        "records that were replaced or deleted, deletions and commits. What "
        "the application has not acked stays longer, and the current version "
        "of each record always stays. 0s: all of it stays for ever.");
  x.add("threads", &settings::threads, threads_range,
        "Threads that do the work; 0: one per core. Each partition has one "
        "more, which writes to disk.");
  x.add("readers", &settings::readers, readers_range,
        "Threads that read from disk.");
}

void add_delivery(options& out) {
  option_group x{out, "How events are delivered"};
  x.add("consumer_retry", &settings::consumer_retry, consumer_retry_range,
        "An event that is not acked within this time is sent again. From the "
        "second time on there is a pause before that, which doubles up to ten "
        "minutes.");
  x.add(
    "consumer_window_events", &settings::consumer_window_events,
    consumer_window_events_range,
    "The most events that are on their way to a consumer at the same time.");
  x.add("consumer_window_bytes", &settings::consumer_window_bytes,
        consumer_window_bytes_range,
        "The most bytes of events that are on their way to a consumer at the "
        "same time.",
        value_kind::size);
  x.add("consumer_attempts_max", &settings::consumer_attempts_max,
        consumer_attempts_range,
        "How often an event is sent before it becomes a dead letter. With 0 an "
        "event that was sent is never given up.");
  x.add("consumer_disable_acks", &settings::consumer_disable_acks,
        "Do not wait for acks: an event counts as acked when it was sent.");
}

void add_log(options& out) {
  option_group x{out, "Log, on standard error"};
  x.add("log_level", &settings::log_level, level_words,
        "The least important level of lines that are written.");
  x.add("log_format", &settings::log_format, layout_words,
        "Automatic: text on a terminal, JSON elsewhere.");
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
      return "one of " + joined(words);
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
