#include "actors/node/node.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/option_flags.hpp"
#include "apps/weir/stop_signal.hpp"
#include "base/version.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
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

int run(const flag_values& flags) {
  raise_descriptor_limit();
  stop_signal stop;
  auto loaded = load_settings(flags, process_environment());
  for (const auto& x : loaded.problems)
    std::cerr << "weir: " << x << "\n";
  if (!loaded.problems.empty())
    return refused;
  configure_log(loaded.values);
  if (loaded.values.upstreams.empty())
    log::warn("no_upstream",
              {{"hint", "repos are fetched once and then not followed"}});
  auto node
    = actors::node::start(std::move(loaded.values), [&stop](const error& x) {
        stop.fail(x);
      });
  if (!node) {
    std::cerr << "weir: cannot start: " << node.error().context << "\n";
    return refused;
  }
  print_ready(**node);
  stop.wait();
  const watchdog limit{drain_patience};
  (*node)->stop();
  node->reset();
  const auto reason = stop.failure();
  if (!reason)
    return all_good;
  log::error("node_failed", {{"reason", to_string(*reason)}});
  return failed;
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
