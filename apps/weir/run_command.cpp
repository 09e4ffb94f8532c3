#include "actors/node/node.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/option_flags.hpp"
#include "apps/weir/stop_signal.hpp"
#include "base/crash_point.hpp"
#include "base/printable.hpp"
#include "base/version.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <optional>
#include <sys/resource.h>

namespace weir::apps {

namespace {

void print_ready(const actors::node& x) {
  std::cout << R"({"ready":true,"version":")" << version() << R"(","data":")"
            << x.data_url() << R"(","operations":")" << x.operations_url()
            << "\"}" << std::endl;
}

/// Sockets and tables share the descriptors: as many as the system allows.
void raise_descriptor_limit() {
  rlimit x{};
  if (getrlimit(RLIMIT_NOFILE, &x) != 0 || x.rlim_cur == x.rlim_max)
    return;
  x.rlim_cur = x.rlim_max;
  setrlimit(RLIMIT_NOFILE, &x);
}

/// `ADDRESS:PORT` of a face.
std::string address_of(const std::string& url) {
  return url.substr(url.rfind('/') + 1);
}

/// One life of a node; its exit status, or nothing when the disk was full and
/// the next one can go on where this one listened.
std::optional<int> live(settings& wanted, bool first) {
  stop_signal stop;
  actors::node_seams seams;
  seams.end_wanted = [&stop] {
    return stop.requested();
  };
  auto node = actors::node::start(
    wanted,
    [&stop](const error& x) {
      stop.fail(x);
    },
    std::move(seams));
  if (!node && node.error().code == ec::cancelled)
    return all_good;
  if (!node) {
    std::cerr << "weir: cannot start: " << printable(node.error().context)
              << "\n";
    return refused;
  }
  wanted.bind = address_of((*node)->data_url());
  wanted.operations_bind = address_of((*node)->operations_url());
  if (first)
    print_ready(**node);
  stop.wait();
  const watchdog limit{drain_patience};
  (*node)->stop();
  node->reset();
  const auto reason = stop.failure();
  if (!reason)
    return all_good;
  if (reason->code == ec::disk_full) {
    log::info("node_starts_anew", {{"reason", reason->context}});
    pass(crash_point::disk_resumed);
    return std::nullopt;
  }
  log::error("node_failed", {{"reason", to_string(*reason)}});
  return failed;
}

int run(const flag_values& flags) {
  raise_descriptor_limit();
  auto loaded = load_settings(flags, process_environment());
  for (const auto& x : loaded.problems)
    std::cerr << "weir: " << x << "\n";
  if (!loaded.problems.empty())
    return refused;
  configure_log(loaded.values);
  if (loaded.values.upstreams.empty())
    log::warn("no_upstream",
              {{"hint", "repos are fetched once and then not followed"}});
  std::optional<int> status;
  for (bool first = true; !status; first = false)
    status = live(loaded.values, first);
  return *status;
}

} // namespace

void add_run(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("run", "Run a node");
  auto flags = std::make_shared<option_flags>(*command);
  command->callback([flags, &status] {
    status = run(flags->values());
  });
}

} // namespace weir::apps
