#include "apps/demo/network.hpp"

#include "apps/weir/load_settings.hpp"
#include "atproto/json_fields.hpp"

#include <boost/json.hpp>

#include <cstdlib>

namespace weir::apps {

namespace {

namespace json = boost::json;

simnet::network_options network_options(const demo_options& x) {
  simnet::network_options out;
  out.population.seed = x.seed;
  out.population.accounts = x.accounts;
  out.population.records = x.records;
  out.population.hosts = x.hosts;
  return out;
}

/// Parses an answer with a JSON object. The error says why there is none.
result<json::object> read_object(const result<net::http_response>& answer) {
  if (!answer)
    return answer.error();
  auto out = atproto::parse_object(as_text(answer->body));
  if (answer->status != 200 || !out)
    return fail(ec::malformed,
                "the node answered " + std::to_string(answer->status));
  return out;
}

uint64_t count_at(const json::object& x, std::string_view key) {
  const auto* found = x.if_contains(key);
  return found != nullptr && found->is_int64()
           ? static_cast<uint64_t>(found->get_int64())
           : 0;
}

std::string string_at(const json::object& x, std::string_view key) {
  return std::string{atproto::text_at(x, key)};
}

} // namespace

demo_network::demo_network(const demo_options& options)
  : options_(options), web_(web_client::make()),
    life_(network_options(options)) {}

demo_network::~demo_network() {
  node_.reset();
  life_.stop();
  std::error_code ignored;
  if (!keep_ && !data_dir_.empty())
    std::filesystem::remove_all(data_dir_, ignored);
}

result<void> demo_network::start_network() {
  constexpr size_t io_threads = 2;
  auto urls = life_.start(io_threads);
  if (!urls)
    return urls.error();
  urls_ = std::move(*urls);
  return {};
}

result<void> demo_network::make_directory() {
  std::error_code bad;
  const auto base = std::filesystem::temp_directory_path(bad);
  auto name = (base / "weir-demo-XXXXXX").string();
  if (bad || mkdtemp(name.data()) == nullptr)
    return fail(ec::storage_failure,
                "no directory can be made in the temporary directory");
  data_dir_ = name;
  return {};
}

actors::node_config demo_network::make_config(bool usual_ports) const {
  loaded_settings settings;
  take_values(settings, parse_config(demo_toml, "demo.toml"));
  auto& out = settings.values;
  out.data_dir = data_dir_.string();
  if (!usual_ports)
    out.bind = out.operations_bind = "127.0.0.1:0";
  out.plc_url = urls_.plc;
  out.handle_resolver_url = urls_.plc;
  out.upstreams.clear();
  if (options_.direct)
    for (const auto& x : urls_.hosts)
      out.upstreams.push_back({x, false});
  else
    out.upstreams.push_back({urls_.relay, true});
  return out;
}

result<void>
demo_network::start_node(std::function<void(const error&)> on_failure) {
  if (auto ok = make_directory(); !ok)
    return ok;
  auto started = actors::node::start(make_config(true), on_failure);
  if (!started && started.error().code == ec::unreachable)
    started = actors::node::start(make_config(false), on_failure);
  if (!started)
    return started.error();
  node_ = std::move(*started);
  data_url_ = node_->data_url();
  operations_url_ = node_->operations_url();
  return {};
}

result<node_status> demo_network::status() {
  const auto object = read_object(web_->get(operations_url_ + "/status"));
  if (!object)
    return object.error();
  node_status out;
  if (const auto* counts = atproto::object_at(*object, "repos")) {
    for (const auto& each : *counts)
      out.repos += count_at(*counts, each.key());
    out.synced = count_at(*counts, "synced");
  }
  out.records = count_at(*object, "records");
  out.log_end = count_at(*object, "log_end");
  out.outbox = count_at(*object, "outbox");
  return out;
}

result<std::string> demo_network::metrics() {
  const auto answer = web_->get(operations_url_ + "/metrics");
  if (!answer)
    return answer.error();
  return std::string{as_text(answer->body)};
}

result<std::map<std::string, listed_repo>> demo_network::repos() {
  std::map<std::string, listed_repo> out;
  for (std::string cursor;;) {
    std::string target = "/repos";
    net::append_query(target, "limit", "500");
    if (!cursor.empty())
      net::append_query(target, "cursor", cursor);
    const auto page = read_object(web_->get(data_url_ + target));
    if (!page)
      return page.error();
    const auto* repos = atproto::array_at(*page, "repos");
    if (repos == nullptr)
      return fail(ec::malformed, "the node listed no repos");
    for (const auto& each : *repos) {
      const auto& x = each.as_object();
      out[string_at(x, "did")]
        = {string_at(x, "status"), string_at(x, "rev"),
           count_at(x, "record_count"), atproto::truth_at(x, "complete"),
           string_at(x, "reason")};
    }
    cursor = string_at(*page, "cursor");
    if (cursor.empty())
      return out;
  }
}

} // namespace weir::apps
