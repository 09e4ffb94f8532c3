#include "tests/sim/scene.hpp"

#include "actors/support/limits.hpp"
#include "apps/demo/evidence.hpp"
#include "net/url.hpp"
#include "tests/sim/heap_census.hpp"
#include "tests/sim/scope.hpp"

#include <boost/json.hpp>

#include <sstream>
#include <string_view>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

constexpr auto answer_patience = 60s;
constexpr size_t node_loops = 2;
constexpr auto reconnect_delay = 2s;

/// No server here speaks TLS, and reading the machine's certificates takes most
/// of a node's start, so all nodes of the process share them.
const net::tls_client_ptr& trusted_certificates() {
  const heap::heap_scope outside{tests::heap_of_world};
  static const auto all = net::tls_client::make().value();
  return all;
}

} // namespace

uint16_t port_of(const std::string& origin) {
  return net::parse_url(origin).value().port;
}

scene::scene(uint64_t seed, trace& log,
             const std::function<void(run_settings&)>& alter)
  : trace_(log), settings_(draw_settings(seed, true_clock_, alter)),
    random_(seeded_random(seed ^ 0x9e3779b97f4a7c15u)),
    node_random_(seeded_random(seed + 1)), net_(time_, log),
    steps_(time_, net_, *random_, log, settings_.speed),
    world_machine_(net_.add("world", 1)), app_machine_(net_.add("app", 1)),
    life_(std::make_unique<simnet::network>(settings_.world)) {
  steps_.set_syncs(
    [this] { return disk_faults_.calls_of_maker(tests::io_call::sync); });
  net::http_client_options options;
  options.guard = net::address_guard{true};
  options.time = &true_clock_;
  web_ = net::make_http_client(app_machine_, options);
  application_ = std::make_unique<apps::demo_consumer>(
    app_machine_, "http://" + settings_.node.bind, reconnect_delay,
    [this](const auto&... x) { delivered_.note(x...); });
}

scene::~scene() {
  try {
    if (node_) {
      die(false);
      end_killed_node();
    }
    time_.clear(); // Drops the ends of faults that still last.
    application_->stop();
    life_->stop();
    steps_.run_for(10s);
  } catch (const spins_forever&) {
    // The error was already reported.
  }
  application_.reset();
  web_.reset();
  world_machine_->halt();
  app_machine_->halt();
  world_machine_->drop_work();
  app_machine_->drop_work();
  time_.clear();
}

result<void> scene::open() {
  auto urls = life_->start(world_machine_, world_machine_->loop(0));
  if (!urls)
    return urls.error();
  urls_ = std::move(*urls);
  for (size_t i = 0; i < urls_.hosts.size(); ++i)
    mend_road(port_of_host(i));
  mend_road(port_of_relay());
  mend_road(port_of_directory());
  for (const auto& x : urls_.hosts)
    set_naming(x, naming::found);
  set_naming(urls_.relay, naming::found);
  set_naming(urls_.plc, naming::found);
  application_->start();
  watch_requests();
  return {};
}

/// Observes what the node's machine writes to servers of the network.
void scene::watch_requests() {
  thrift_promises promises;
  promises.look_ups_per_second = settings_.node.plc_per_second;
  promises.directory = port_of_directory();
  promises.only_clients_invent = settings_.world.hostile.empty();
  promises.is_known = [this](const std::string& did) {
    return life_->truth().find(did).has_value();
  };
  promises.events = [this](uint16_t port) { return events_of(port); };
  thrift_.emplace(std::move(promises));
  net_.set_tap([this](const virtual_loop& from, uint16_t server,
                      uint64_t number, std::string_view written) {
    if (from.name().starts_with("node")) {
      thrift_->on_request(time_.now(), server, number, written);
      listings_.on_request(server, written, events_of(server));
    } else if (from.name().starts_with("world"))
      thrift_->on_answer(time_.now(), number, written);
  });
  net_.set_wait_tap([this, name = net::parse_url(urls_.plc).value().host](
                      const std::string& machine, uint16_t server,
                      const std::string& looked_up, auto took) {
    if (machine == "node"
        && (server == port_of_directory() || looked_up == name))
      thrift_->on_wait(time_.now(), took);
  });
}

uint64_t scene::events_of(uint16_t port) {
  if (port == port_of_relay())
    return static_cast<uint64_t>(life_->truth().relay_log()->newest());
  for (size_t i = 0; i < urls_.hosts.size(); ++i)
    if (port == port_of_host(i))
      return static_cast<uint64_t>(life_->truth().host_log(i).newest());
  return 0;
}

const std::string& scene::waste() const noexcept {
  static const std::string none;
  return thrift_ ? thrift_->broken() : none;
}

void scene::set_naming(const std::string& origin, naming how) {
  net_.set_naming(net::parse_url(origin).value().host, how);
}

uint16_t scene::port_of_host(size_t host) const {
  return port_of(urls_.hosts.at(host));
}

uint16_t scene::port_of_relay() const {
  return port_of(urls_.relay);
}

uint16_t scene::port_of_directory() const {
  return port_of(urls_.plc);
}

actors::node_config scene::node_config() const {
  auto out = settings_.node;
  out.collections = filter_of_life();
  out.plc_url = out.handle_resolver_url = urls_.plc;
  if (settings_.follows != following::relay)
    for (const auto& x : urls_.hosts)
      out.upstreams.push_back({x, false});
  if (settings_.follows != following::hosts)
    out.upstreams.push_back({urls_.relay, true});
  return out;
}

std::vector<std::string> scene::filter_of_life() const {
  const auto& all = settings_.filters;
  return all.empty() ? std::vector<std::string>{}
                     : all[(lives_ - 1) % all.size()];
}

std::vector<simnet::expected_account> scene::expected() const {
  auto out = life_->truth().expected();
  leave_what_is_kept(out, filter_of_life());
  return out;
}

// -- the node -----------------------------------------------------------------

result<void> scene::start_node() {
  node_machine_ = net_.add("node", node_loops);
  thrift_->begin_life();
  failure_ = {};
  ++lives_;
  actors::node_seams seams;
  seams.time = &node_clock_;
  seams.random = node_random_.get();
  seams.disk = &disk_faults_;
  seams.transport = node_machine_;
  seams.tls = trusted_certificates();
  seams.run = &steps_;
  // In every other minute the reported memory is so large that the store's
  // caches are released, whatever happens at that time.
  seams.resident = [this] {
    const bool has_grown = time_.now().micros / 60'000'000 % 2 == 1;
    return has_grown ? limits::heap_return_bytes : uint64_t{0};
  };
  trace_.note(time_.now(), "node", "starts");
  const heap::heap_scope owner{heap::tag_of("start")};
  auto started = actors::node::start(
    node_config(),
    [this](const error& why) {
      if (failure_.code == ec::none)
        failure_ = why;
    },
    std::move(seams));
  if (!started) {
    node_machine_->halt();
    node_machine_->drop_work();
    return started.error();
  }
  node_ = std::move(*started);
  return {};
}

void scene::stop_node() {
  if (!node_)
    return;
  trace_.note(time_.now(), "node", "stops");
  end_node();
  steps_.run_for(0s);
  node_machine_->halt();
  node_machine_->drop_work();
}

/// A node that does not end is left alone, because it cannot be destroyed.
void scene::end_node() {
  auto node = std::move(node_);
  stopping_ = true;
  try {
    node->stop();
  } catch (const spins_forever&) {
    static_cast<void>(node.release());
    throw;
  }
  stopping_ = false;
  note_status_changes(node->metrics());
}

void scene::die(bool power) {
  trace_.note(time_.now(), "node", power ? "loses power" : "is killed");
  if (power)
    disk_.cut_power(*random_);
  else
    disk_.kill();
  // A node that is stopping continues, but nothing of it reaches the disk.
  if (node_machine_ && !stopping_)
    node_machine_->halt();
}

void scene::end_killed_node() {
  if (node_)
    end_node();
  if (node_machine_) {
    node_machine_->halt();
    node_machine_->drop_work();
  }
  disk_.power_on();
  disk_faults_.heal();
}

void scene::note_status_changes(const metrics_registry& from) {
  constexpr std::string_view name
    = "weir_repo_status_changes_total{change=\"";
  std::istringstream page{from.render()};
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(name))
      continue;
    const auto end = line.find('"', name.size());
    status_changes_[line.substr(name.size(), end - name.size())]
      += std::stoull(line.substr(line.rfind(' ')));
  }
}

void scene::mend_road(uint16_t port) {
  auto& way = net_.to(port);
  way = road{};
  way.latency = port == port_of_directory() ? settings_.directory_latency
                                            : settings_.latency;
  if (port != port_of_directory())
    way.bytes_per_second = settings_.rate;
  for (auto i = settings_.world.population.hosts; i < urls_.hosts.size(); ++i)
    if (port == port_of_host(i))
      way.bytes_per_second = settings_.enemy_rate;
  net_.resume(port);
}

// -- asking it ----------------------------------------------------------------

result<std::pair<int, std::string>> scene::ask(net::http_request request) {
  std::optional<result<net::http_response>> answer;
  web_->get(std::move(request),
            [&answer](result<net::http_response> x) { answer = std::move(x); });
  steps_.run_while(answer_patience, [&] { return answer.has_value(); });
  if (!answer)
    throw spins_forever{"the node's API does not answer"};
  if (!*answer)
    return answer->error();
  return std::pair{(*answer)->status, std::string{as_text((*answer)->body)}};
}

namespace {

net::http_request request_to(const std::string& node,
                             const std::string& target) {
  net::http_request out;
  out.target = net::parse_url("http://" + node).value().with_target(target);
  return out;
}

} // namespace

result<std::pair<int, std::string>> scene::get(const std::string& target) {
  return ask(request_to(settings_.node.bind, target));
}

void scene::send_get(const std::string& target) {
  web_->get(request_to(settings_.node.bind, target), [](const auto&) {
    // nop
  });
}

result<std::pair<int, std::string>> scene::post(const std::string& target,
                                                std::string body) {
  auto request = request_to(settings_.node.bind, target);
  request.method = "POST";
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = std::move(body);
  return ask(std::move(request));
}

namespace {

node_repo read_repo(const boost::json::object& row) {
  node_repo out;
  out.status = row.at("status").as_string().c_str();
  out.account = row.at("account").as_string().c_str();
  if (const auto* rev = row.if_contains("rev"))
    out.rev = rev->as_string().c_str();
  out.records
    = static_cast<uint64_t>(row.at("record_count").to_number<int64_t>());
  const auto* complete = row.if_contains("complete");
  if (complete != nullptr && complete->is_bool())
    out.complete = complete->as_bool();
  if (const auto* reason = row.if_contains("reason"))
    out.reason = reason->as_string().c_str();
  return out;
}

} // namespace

std::string
scene::stuck_connection(steady_time begin,
                        std::chrono::microseconds patience) const {
  const auto [passed, port] = net_.longest_unread(*node_machine_, begin);
  if (passed < patience)
    return {};
  return "for " + std::to_string(passed / 1s)
         + " s nobody has read what is there from port " + std::to_string(port);
}

uint64_t scene::stalled_connections() const {
  return node_ ? apps::metric_total(node_->metrics().render(),
                                    "weir_upstream_stalls_total")
               : 0;
}

result<node_repos> scene::repos() {
  node_repos out;
  std::string cursor;
  do {
    auto answer = get("/repos?limit=1000"
                      + (cursor.empty() ? "" : "&cursor=" + cursor));
    if (!answer)
      return answer.error();
    const auto page = boost::json::parse(answer->second).as_object();
    for (const auto& x : page.at("repos").as_array())
      out.emplace(x.as_object().at("did").as_string().c_str(),
                  read_repo(x.as_object()));
    const auto* next = page.if_contains("cursor");
    cursor = next != nullptr && next->is_string() ? next->as_string().c_str()
                                                  : "";
  } while (!cursor.empty());
  return out;
}

std::vector<uint64_t> scene::last_operations() const {
  std::vector<uint64_t> out(settings_.node.partitions);
  if (!node_)
    return out;
  const auto page = node_->metrics().render();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = apps::metric_total(page, "weir_partition_oplog_seq",
                                "\"" + std::to_string(i) + "\"");
  return out;
}

} // namespace weir::sim
