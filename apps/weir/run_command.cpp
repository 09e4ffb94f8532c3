#include "actors/node/node.hpp"
#include "actors/node/write_trials.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/option_flags.hpp"
#include "apps/weir/process_limits.hpp"
#include "apps/weir/reload.hpp"
#include "apps/weir/service_notify.hpp"
#include "apps/weir/stop_signal.hpp"
#include "base/crash_point.hpp"
#include "base/log_writer.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/version.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "storage/disk/store_identity.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace weir::apps {

namespace {

using namespace std::chrono_literals;

/// True when a write to standard output finds room, or fails at once.
bool output_has_room() {
  pollfd x{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&x, 1, 0) == 1;
}

/// Waits for whoever reads it, but not when the program must end.
void print_ready(const actors::node& x, stop_signal& stop) {
  while (!output_has_room())
    if (stop.wait_for(log::line_writer::patience))
      return;
  std::cout << R"({"ready":true,"version":")" << version() << R"(","data":")"
            << x.data_url() << R"(","operations":")" << x.operations_url()
            << R"(","log_epoch":")" << x.log_epoch() << "\"}" << std::endl;
}

/// The `ADDRESS:PORT` of a URL.
std::string address_of(const std::string& url) {
  return url.substr(url.rfind('/') + 1);
}

std::string urls_of(const settings& x) {
  std::string out;
  for (const auto& each : x.upstreams)
    out += (out.empty() ? "" : ", ") + each.url;
  return out.empty() ? "none" : out;
}

/// @param x Begins with `http`.
std::string socket_url(const std::string& x) {
  return "ws" + x.substr(4);
}

/// Whether there already is a store, before the node makes one.
bool is_kept(const std::string& data_dir) {
  const auto found
    = storage::read_store_identity(storage::posix_disk(), data_dir);
  return found && *found;
}

void log_start(const settings& x, const actors::node& node, bool kept) {
  const auto held = node.holdings();
  log::info(
    "started",
    {{"version", version()},
     {"data", node.data_url()},
     {"operations", node.operations_url()},
     {"data_dir",
      std::filesystem::absolute(x.data_dir).lexically_normal().string()},
     {"store", kept ? "kept" : "new"},
     {"log_epoch", node.log_epoch()},
     {"store_bytes", held.store_bytes},
     {"repos", held.repos},
     {"mode", wire::to_string(x.mode)},
     {"upstreams", urls_of(x)}});
  if (held.outdated > 0)
    log::info("collections_changed",
              {{"repos", held.outdated},
               {"hint", "they were fetched under other collections, and are "
                        "fetched again"}});
  const auto most = memory_bytes_max();
  if (most > 0 && x.memory_limit > most)
    log::warn("memory_limit_too_large",
              {{"memory_limit", x.memory_limit},
               {"memory", most},
               {"hint", "the node may use more memory than there is, and would "
                        "then be killed: set memory_limit to at most half of "
                        "it"}});
  if (x.upstreams.empty())
    log::warn("no_upstream",
              {{"hint", "repos are fetched once and then not followed; set "
                        "upstream to follow a relay or a PDS"}});
  if (x.mode != actors::tracking_mode::manual || held.repos > 0)
    return;
  const auto password = x.admin_password_file.empty()
                          ? std::string{}
                          : "-u admin:$(cat " + x.admin_password_file + ") ";
  log::info("next_step",
            {{"hint", "no repo is tracked yet; this adds one: curl " + password
                        + "-X POST " + node.data_url()
                        + "/repos/add -H 'Content-Type: "
                          "application/json' -d "
                          "'{\"dids\":[\"did:plc:...\"]}'"}});
  log::info("next_step",
            {{"hint", "its events arrive on the WebSocket "
                        + socket_url(node.data_url())
                        + "/channel; --mode full-network or signal "
                          "tracks repos by itself"}});
}

/// Starts a node. Errors: the reason why it did not start; `ec::cancelled` when
/// the program was asked to end meanwhile.
result<std::unique_ptr<actors::node>> start_node(settings& wanted, bool kept,
                                                 stop_signal& stop) {
  actors::node_seams seams;
  seams.end_wanted = [&stop] {
    return stop.requested();
  };
  seams.opened = [&wanted, kept](const actors::node& x) {
    log_start(wanted, x, kept);
  };
  auto out = actors::node::start(
    wanted,
    [&stop](const error& x) {
      stop.fail(x);
    },
    std::move(seams));
  if (!out)
    return out.error();
  (*out)->set_admin_password(wanted.admin_password); // It may have changed.
  wanted.bind = address_of((*out)->data_url());
  wanted.operations_bind = address_of((*out)->operations_url());
  return out;
}

void say_ready(service_notify& manager, const actors::node& node,
               stop_signal& stop, bool first) {
  if (first)
    print_ready(node, stop);
  manager.ready("answers at " + node.data_url() + " and "
                + node.operations_url());
}

/// The exit status when no node was started.
int end_without_node(service_notify& manager, const error& why) {
  const bool is_asked = why.code == ec::cancelled;
  manager.stopping(is_asked ? "asked to end" : "cannot start: " + why.context);
  if (is_asked)
    return all_good;
  log::write_last_words("weir: cannot start: " + printable(why.context) + "\n");
  return refused;
}

/// The disk had no space for a node that starts anew. Waits, with the ports
/// closed. Returns the exit status, or nothing when it is to be tried again.
/// @param pause The pause before this start; becomes the one after it.
std::optional<int> put_off(service_notify& manager, stop_signal& stop,
                           const error& why, std::chrono::seconds& pause) {
  pause = actors::pause_after_refusal(pause);
  log::warn("start_put_off",
            {{"reason", why.context}, {"seconds", pause.count()}});
  manager.status("waits for space to start anew: " + why.context);
  if (!stop.wait_for(pause))
    return std::nullopt;
  return end_without_node(manager, fail(ec::cancelled));
}

void say_stopping(service_notify& manager, const std::optional<error>& reason) {
  const auto why = reason ? to_string(*reason) : std::string{"a signal"};
  log::info("stopping", {{"reason", why}});
  if (reason && reason->code == ec::disk_full)
    manager.status("restarts because the disk was full");
  else
    manager.stopping("stops: " + why);
}

/// Runs one node. Returns its exit status, or nothing when the disk was full
/// and the next node can continue on the same ports.
/// @param pause None for the first node of the process. Otherwise how long
/// was waited since a start failed for lack of space; 0: there was none.
std::optional<int> live(running_settings& all, service_notify& manager,
                        std::optional<std::chrono::seconds>& pause) {
  std::unique_ptr<actors::node> node;
  stop_signal stop{[&] {
    manager.reloading();
    all.reload(node.get());
    manager.reloaded();
  }};
  const watchdog limit{stop, drain_patience};
  manager.status("opens the store");
  const auto kept = is_kept(all.values().data_dir);
  auto started = start_node(all.values(), kept, stop);
  if (started) {
    node = std::move(*started);
    say_ready(manager, *node, stop, !pause);
    pause = 0s;
    stop.wait();
  } else if (pause && started.error().code == ec::disk_full) {
    return put_off(manager, stop, started.error(), *pause);
  } else if (started.error().code != ec::cancelled || !stop.failure()) {
    return end_without_node(manager, started.error());
  }
  const auto reason = stop.failure();
  say_stopping(manager, reason);
  node.reset(); // Stops it.
  log::info("stopped");
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

/// Logged once, since a restart inside of the process changes nothing about it.
void warn_of_descriptors(uint64_t allowed) {
  if (allowed < descriptors_enough)
    log::warn(
      "few_descriptors",
      {{"descriptors", allowed},
       {"enough", descriptors_enough},
       {"hint", "the system allows the node no more files and sockets than "
                "this; with many applications or hosts some wait for a "
                "connection: raise ulimit -n, or LimitNOFILE of the service"}});
}

int refuse(const std::vector<std::string>& problems) {
  std::string text;
  for (const auto& x : problems)
    text += "weir: " + x + "\n";
  log::write_last_words(text);
  return refused;
}

int run(const flag_values& flags) {
  explain_aborts();
  const auto descriptors = raise_descriptor_limit();
  auto loaded = load_settings(flags, process_environment());
  if (auto x = check_descriptors(descriptors); !x)
    loaded.problems.push_back(x.error().context);
  if (!loaded.problems.empty())
    return refuse(loaded.problems);
  configure_log(loaded.values);
  warn_of_descriptors(descriptors);
  warn_of(loaded.others);
  running_settings all{flags, std::move(loaded.values)};
  service_notify manager{std::getenv("NOTIFY_SOCKET")};
  std::optional<int> status;
  std::optional<std::chrono::seconds> pause;
  while (!status)
    status = live(all, manager, pause);
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
