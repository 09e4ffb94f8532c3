#include "tests/system/followed_network.hpp"

#include <boost/json.hpp>

#include <stdexcept>
#include <thread>

namespace weir::tests {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

simnet::network_options options(uint64_t seed, size_t accounts,
                                uint64_t records,
                                const simnet::traffic_mix& mix, size_t hosts) {
  simnet::network_options out;
  out.population.hosts = hosts;
  out.mix = mix;
  out.population.seed = seed;
  out.population.accounts = accounts;
  out.population.records = records;
  return out;
}

std::string compare_account(const simnet::expected_account& x,
                            const apps::copied_account& copied) {
  const auto& did = x.account.id.str();
  const bool active = x.account.status == simnet::standing::active;
  if (copied.active != active || copied.status != to_string(x.account.status))
    return did + " is " + copied.status + ", not " + to_string(x.account.status)
           + "\n";
  if (x.account.status == simnet::standing::deleted && !copied.records.empty())
    return did + " was deleted and has records\n";
  if (!active)
    return {};
  if (copied.handle != x.account.handle)
    return did + " is called " + copied.handle + "\n";
  size_t equal = 0;
  for (const auto& each : x.records) {
    const auto found = copied.records.find(each.path);
    equal
      += found != copied.records.end() && found->second == each.id.to_text();
  }
  if (equal == x.records.size() && equal == copied.records.size())
    return {};
  return did + ": " + std::to_string(equal) + " of "
         + std::to_string(x.records.size()) + " records are equal, "
         + std::to_string(copied.records.size()) + " are there\n";
}

} // namespace

followed_network::followed_network(uint64_t seed, size_t accounts,
                                   uint64_t records,
                                   const simnet::traffic_mix& mix,
                                   size_t hosts)
  : life_(options(seed, accounts, records, mix, hosts)) {
  constexpr size_t io_threads = 2;
  urls_ = life_.start(io_threads).value();
}

std::vector<std::string>
followed_network::arguments(const std::string& data_dir,
                            std::vector<std::string> more) const {
  std::vector<std::string> out{
    "run",         "--config",    std::string{WEIR_CONF_DIR} + "/demo.toml",
    "--data-dir",  data_dir,      "--bind",
    "127.0.0.1:0", "--upstream",  "relay:" + urls_.relay,
    "--plc-url",   urls_.plc,     "--handle-resolver-url",
    urls_.plc,     "--log-level", "info"};
  std::move(more.begin(), more.end(), std::back_inserter(out));
  return out;
}

std::string followed_network::difference(const apps::event_copy& copy,
                                         const std::string& left_out) {
  std::string out;
  for (const auto& x : life_.truth().expected()) {
    const auto& did = x.account.id.str();
    const auto copied = copy.accounts().find(did);
    if (did == left_out)
      continue;
    out += copied == copy.accounts().end() ? did + " is not known\n"
                                           : compare_account(x, copied->second);
  }
  for (const auto& [did, ignored] : copy.accounts())
    if (!life_.truth().find(did))
      out += did + " is not of this network\n";
  return out;
}

node_addresses parse_ready(const std::string& line) {
  std::error_code bad;
  const auto value = json::parse(line, bad);
  const auto* ready = bad ? nullptr : value.if_object();
  if (ready == nullptr || !ready->contains("ready"))
    return {};
  return {std::string{ready->at("data").as_string()},
          std::string{ready->at("operations").as_string()}};
}

apps::node_status status_of(apps::web_client& web, const node_addresses& at) {
  const auto answer = web.get(at.operations + "/status");
  if (!answer || answer->status != 200)
    throw std::runtime_error("the node does not tell its status");
  const auto value = json::parse(as_text(answer->body)).as_object();
  const auto number = [](const json::object& in, std::string_view name) {
    return in.at(name).to_number<uint64_t>();
  };
  apps::node_status out;
  const auto& repos = value.at("repos").as_object();
  for (const auto& each : repos)
    out.repos += number(repos, each.key());
  out.synced = number(repos, "synced");
  out.records = number(value, "records");
  out.log_end = number(value, "log_end");
  out.outbox = number(value, "outbox");
  return out;
}

repo_work work_of(apps::web_client& web, const node_addresses& at) {
  const auto answer = web.get(at.data + "/repos?limit=1000");
  if (!answer || answer->status != 200)
    throw std::runtime_error("the node does not list its repos");
  repo_work out;
  const auto page = json::parse(as_text(answer->body));
  for (const auto& x : page.at("repos").as_array()) {
    if (x.at("account").as_string() != "active")
      continue;
    const std::string_view status = x.at("status").as_string();
    ++(status == "synced" ? out.none
       : status == "error" ? out.failed : out.open);
  }
  return out;
}

bool eventually(std::chrono::seconds at_most,
                const std::function<bool()>& reached) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!reached()) {
    if (std::chrono::steady_clock::now() >= until)
      return false;
    std::this_thread::sleep_for(50ms);
  }
  return true;
}

std::string tail_of(const std::string& text, size_t lines) {
  size_t at = text.size();
  while (at > 0 && (text[at - 1] != '\n' || lines-- > 0))
    --at;
  return text.substr(at);
}

} // namespace weir::tests
