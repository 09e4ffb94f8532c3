#include "bench/bench_node.hpp"

#include "bench/machine.hpp"

#include <sstream>
#include <thread>

namespace weir::bench {

namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 1ms;

actors::node_config make_config(const outside& network,
                                const std::filesystem::path& data_dir,
                                node_settings settings) {
  actors::node_config out;
  out.data_dir = data_dir.string();
  out.bind = out.operations_bind = "127.0.0.1:0";
  out.upstreams = {{network.relay_url(), true}};
  out.plc_url = network.plc_url();
  out.allow_private_addresses = true;
  out.mode = actors::tracking_mode::full_network;
  if (settings == node_settings::standard)
    return out;
  out.handle_resolver_url = network.plc_url();
  out.plc_per_second = 5'000;
  out.sync_parallelism = 8;
  out.retry_backoff_min = 1s;
  out.retry_backoff_max = 2s;
  out.identity_refresh_min = 1s;
  return out;
}

} // namespace

result<std::unique_ptr<bench_node>>
bench_node::start(const outside& network, const std::filesystem::path& dir,
                  node_settings settings) {
  std::unique_ptr<bench_node> out{new bench_node};
  auto made = scratch_dir::make(dir);
  if (!made)
    return made.error();
  out->data_dir_ = std::move(*made);
  auto started
    = actors::node::start(make_config(network, out->data_dir_.path(), settings),
                          [self = out.get()](const error& x) {
                            const std::lock_guard lock{self->guard_};
                            self->failure_ = x;
                          });
  if (!started)
    return started.error();
  out->node_ = std::move(*started);
  out->find_counters(network.relay_url());
  return out;
}

/// The registry returns existing metrics by name.
void bench_node::find_counters(const std::string& relay) {
  auto& all = node_->metrics();
  operations_ = &all.counter("weir_journal_operations_total", {});
  fetches_ = &all.counter("weir_backfill_finished_total", {}, "result", "ok");
  commits_ = &all.counter("weir_repo_events_total", {}, "result", "applied");
  cursor_ = &all.gauge("weir_upstream_cursor", {}, "upstream", relay);
}

uint64_t bench_node::number(const std::string& name) const {
  std::istringstream page{node_->metrics().render()};
  for (std::string word; page >> word;)
    if (double value = 0; word == name && page >> value)
      return static_cast<uint64_t>(value);
    else
      page.clear(); // The name was found in a comment line.
  return 0;
}

std::string bench_node::state() const {
  std::string out = "fetches " + std::to_string(fetches());
  for (const auto* x : {"weir_repos_tracked", "weir_repos_synced",
                        "weir_records", "weir_consumer_backlog_events"})
    out += std::string{", "} + x + " " + std::to_string(number(x));
  return out + ", cursor " + std::to_string(cursor())
         + "; stream events: applied " + std::to_string(commits()) + " "
         + other_events();
}

std::string bench_node::other_events() const {
  std::istringstream page{node_->metrics().render()};
  std::string out;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("weir_repo_events_total{") && !line.ends_with(" 0")
        && line.find("applied") == std::string::npos) {
      const auto from = line.find('"') + 1;
      out += (out.empty() ? "" : ", ")
             + line.substr(from, line.find('"', from) - from)
             + line.substr(line.find("} ") + 1);
    }
  return out;
}

result<void> bench_node::until(const std::string& what,
                               std::chrono::seconds patience,
                               const std::function<bool()>& reached) const {
  const auto end = steady_seconds() + static_cast<double>(patience.count());
  while (!reached()) {
    {
      const std::lock_guard lock{guard_};
      if (failure_.code != ec::none)
        return fail(failure_.code, "the node failed: " + failure_.context);
    }
    if (steady_seconds() > end)
      return fail(ec::limit_reached, what + " took more than "
                                       + std::to_string(patience.count())
                                       + " s; " + state());
    std::this_thread::sleep_for(look_interval);
  }
  return {};
}

} // namespace weir::bench
