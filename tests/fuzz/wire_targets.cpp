#include "apps/weir/config_file.hpp"
#include "atproto/limits.hpp"
#include "tests/fuzz/target.hpp"
#include "wire/filter.hpp"
#include "wire/limits.hpp"
#include "wire/position.hpp"
#include "wire/problem.hpp"
#include "wire/repos_api.hpp"
#include "wire/repos_request_reader.hpp"
#include "wire/tap.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace weir::fuzz {

namespace {

using namespace wire;

void require_json(std::string_view text) {
  boost::system::error_code failed;
  boost::json::parse(text, failed);
  require(!failed, "what goes out is well-formed JSON");
}

result<repos_request> read_request(std::string_view text, size_t piece) {
  repos_request_reader reader;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    reader.put(text.substr(0, piece));
  return reader.finish();
}

/// A body has the same meaning in one piece and in many. Boost.JSON gives a
/// lone surrogate one reason in one piece ("illegal leading surrogate") and
/// another one in several, so reasons of malformed JSON are not compared.
void run_repos_request(std::string_view text) {
  const auto repos = read_request(text, SIZE_MAX);
  const auto pieces = read_request(text, 1 + text.size() % 7);
  require(repos.has_value() == pieces.has_value(), "pieces change nothing");
  if (!repos) {
    require(repos.error().code == pieces.error().code,
            "pieces change no code");
    require(repos.error().code == ec::malformed
              || repos.error().context == pieces.error().context,
            "pieces change no reason");
    return;
  }
  require(repos->dids == pieces->dids
            && repos->collections == pieces->collections,
          "pieces change no value");
  require(repos->dids.size() <= limits::request_dids_max, "DIDs are counted");
  auto dids = repos->dids;
  std::ranges::sort(dids);
  require(std::ranges::adjacent_find(dids) == dids.end(),
          "no DID comes twice");
}

/// JSON that clients send: acks, and bodies of requests.
void run_client_json(bytes_view input) {
  const auto text = as_text(input);
  if (const auto ack = parse_ack(text); ack && *ack)
    require(**ack <= static_cast<uint64_t>(limits::safe_integer_max),
            "an id can be told in JSON");
  run_repos_request(text);
  if (const auto fact = parse_account_fact(input)) {
    std::string out;
    append_tap_identity(1, "did:web:a.example.com", *fact, out);
    require_json(out);
  }
  std::string out;
  append_problem("Name", text, out);
  require_json(out);
}

std::vector<bytes> client_json_seeds() {
  return {to_bytes(R"({"type":"ack","id":9007199254740991})"),
          to_bytes(R"({"dids":["did:plc:ewvi7nxzyoun6zhxrhs64oiz"],)"
                   R"("collections":["a.b.c","d.e.*"]})"),
          to_bytes(R"({"mode":"signal","signal_collection":"a.b.c",)"
                   R"("collections":["*"]})"),
          to_bytes(R"({"handle":"a.test","is_active":false,)"
                   R"("status":"takendown"})")};
}

/// One pattern a line; each name is compared with a simple reading of them.
void run_filter(bytes_view input) {
  std::vector<std::string> patterns;
  auto text = as_text(input);
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    patterns.emplace_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  const auto filter = collection_filter::parse(patterns);
  if (!filter)
    return;
  const auto again = collection_filter::parse(filter->patterns());
  require(again && again->patterns() == filter->patterns(),
          "a filter has one normal form");
  auto names = patterns;
  for (const auto& x : patterns)
    names.push_back(x.substr(0, x.size() - std::min<size_t>(x.size(), 1))
                    + "post");
  const bool all = filter->matches_all();
  for (const auto& name : names) {
    const bool expected
      = all || std::ranges::any_of(patterns, [&name](const std::string& x) {
          const auto stem = std::string_view{x}.substr(0, x.size() - 1);
          return x == name || (x.ends_with(".*") && name.starts_with(stem));
        });
    require(filter->matches(name) == expected, "a pattern means one thing");
  }
}

std::vector<bytes> filter_seeds() {
  return {to_bytes("app.bsky.feed.post\napp.bsky.graph.*"), to_bytes("*"), {}};
}

/// The ids of events outside the node.
void run_event_number(bytes_view input) {
  decisions draw{input};
  const auto partitions = static_cast<uint16_t>(1 + draw.next());
  uint64_t number = 0;
  for (const auto x : draw.take(8))
    number = number << 8 | x;
  if (const auto place = place_of(number, partitions)) {
    const auto back = event_id(*place, partitions);
    require(back && *back == number, "an event has one number");
  }
}

std::vector<bytes> event_number_seeds() {
  std::vector<bytes> out;
  for (const int partitions : {1, 2, 16}) {
    bytes seed(9);
    seed.front() = static_cast<uint8_t>(partitions - 1);
    seed.back() = 200;
    out.push_back(std::move(seed));
  }
  return out;
}

/// The text of a configuration file. A value fits its option or is refused with
/// a reason.
void run_config(bytes_view input) {
  const auto given = apps::parse_config(as_text(input), "f.toml");
  for (const auto& x : given.values) {
    require(x.to != nullptr && x.origin.starts_with("f.toml:"),
            "a value has an option and a place");
    apps::settings into;
    const auto taken = x.to->set(into, x.value);
    require(!taken || x.to->get(into) == x.value
              || x.to->kind == apps::value_kind::list,
            "an option keeps what it took");
  }
  for (const auto& x : given.problems)
    require(x.starts_with("f.toml"), "a problem has a place");
}

std::vector<bytes> config_seeds() {
  return {to_bytes("bind = \"127.0.0.1:0\"\nallow_private_addresses = true\n"
                   "sync_parallelism = 8\nplc_per_second = 2.5\n"),
          to_bytes("memory_limit = \"2GiB\"\nretry_backoff_min = \"5s\"\n"
                   "mode = \"signal\"\ncollections = [\"a.b.c\", \"d.*\"]\n"),
          to_bytes("[node]\nx = 1\ny.z = {a = [1, 2.5, 'c']}\n")};
}

constexpr target group[] = {
  {"client_json", run_client_json, client_json_seeds},
  {"filter", run_filter, filter_seeds},
  {"event_number", run_event_number, event_number_seeds},
  {"config", run_config, config_seeds},
};

} // namespace

std::span<const target> wire_targets() {
  return group;
}

} // namespace weir::fuzz
