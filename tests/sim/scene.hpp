#pragma once

#include "actors/node/node.hpp"
#include "apps/demo/consumer.hpp"
#include "net/http_client.hpp"
#include "simnet/network.hpp"
#include "tests/sim/comparison.hpp"
#include "tests/sim/delivery_watch.hpp"
#include "tests/sim/listing_watch.hpp"
#include "tests/sim/settings.hpp"
#include "tests/sim/thrift.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/memory_disk.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace weir::sim {

/// A network, a node that follows it, and an application that reads the node:
/// all of it in memory, on one thread, in virtual time.
///
/// # Ownership and threads
/// Owns everything. One thread.
class scene {
public:
  /// @param alter Changes the settings that were drawn from the seed, if given.
  scene(uint64_t seed, trace& log,
        const std::function<void(run_settings&)>& alter = {});
  ~scene();

  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  /// Opens the network's ports.
  result<void> open();

  // -- the node ---------------------------------------------------------------

  result<void> start_node();

  /// Stops the node in order.
  void stop_node();

  /// Ends the node as `kill -9` or a power failure does: from now on nothing
  /// that the node does reaches disk or network. With `power` the disk may lose
  /// what was not synced. May be called in the middle of a call to the disk.
  void die(bool power);

  /// Called after `die`, when none of the node's calls is under way: destroys
  /// the node and makes the disk available as it was left.
  void end_killed_node();

  bool node_runs() const noexcept { return node_ != nullptr; }

  /// The reason for which the node said that it cannot go on; `ec::none`: it
  /// did not.
  const error& failure() const noexcept { return failure_; }

  /// How often repos changed from one status to another, in all lives: "pending
  /// to syncing" and so on.
  const std::map<std::string, uint64_t>& status_changes() const noexcept {
    return status_changes_;
  }

  // -- asking it --------------------------------------------------------------

  /// Status and body of `GET target` at the data port.
  result<std::pair<int, std::string>> get(const std::string& target);

  result<std::pair<int, std::string>> post(const std::string& target,
                                           std::string body);

  /// Sends the same request as `get` for a client that does not wait for the
  /// answer.
  void send_get(const std::string& target);

  /// The machine on which clients of the node run.
  virtual_net::machine& clients_machine() noexcept { return *app_machine_; }

  /// The network as the node must have it, whichever accounts it tracks: what
  /// the running life, or the last one, keeps of each account.
  std::vector<simnet::expected_account> expected() const;

  /// All repos as the node lists them, by DID.
  result<node_repos> repos();

  /// The last operation of each partition that is on the node's disk. 0: the
  /// node does not run, or has none.
  std::vector<uint64_t> last_operations() const;

  /// The longest time for which bytes have been in a connection of the node
  /// without being read, counted from `begin` at the earliest, in words; empty
  /// when it is shorter than `patience`.
  std::string stuck_connection(steady_time begin,
                               std::chrono::microseconds patience) const;

  /// Number of connections that the node replaced since its start because it
  /// did not read them although nothing was in the way.
  uint64_t stalled_connections() const;

  // -- its parts --------------------------------------------------------------

  /// @pre the node runs
  metrics_registry& metrics() { return node_->metrics(); }

  const run_settings& settings() const noexcept { return settings_; }
  random_source& random() noexcept { return *random_; }
  timeline& time() noexcept { return time_; }
  stepper& steps() noexcept { return steps_; }
  virtual_net& net() noexcept { return net_; }
  virtual_clock& node_clock() noexcept { return node_clock_; }
  const virtual_clock& true_clock() const noexcept { return true_clock_; }
  simnet::network& life() noexcept { return *life_; }
  const simnet::network_urls& urls() const noexcept { return urls_; }
  tests::memory_disk& disk() noexcept { return disk_; }
  tests::fault_env& disk_faults() noexcept { return disk_faults_; }
  apps::demo_consumer& application() noexcept { return *application_; }

  delivery_watch& delivered() noexcept { return delivered_; }
  trace& log() noexcept { return trace_; }

  /// The first request of the node that broke its promises (thrift.hpp), as a
  /// sentence.
  const std::string& waste() const noexcept;

  const thrift_watch& thrift() const noexcept { return *thrift_; }

  const listing_watch& listings() const noexcept { return listings_; }

  /// Sets how look-ups of a server's name are answered.
  void set_naming(const std::string& origin, naming how);

  /// Restores the connection to a server to its first state.
  void mend_road(uint16_t port);

  /// Ports of servers.
  uint16_t port_of_host(size_t host) const;
  uint16_t port_of_relay() const;
  uint16_t port_of_directory() const;

private:
  actors::node_config node_config() const;
  std::vector<std::string> filter_of_life() const;
  void end_node();
  void note_status_changes(const metrics_registry& from);
  void watch_requests();
  uint64_t events_of(uint16_t port);
  result<std::pair<int, std::string>> ask(net::http_request request);

  timeline time_;
  virtual_clock true_clock_{time_};
  virtual_clock node_clock_{time_};
  trace& trace_;
  run_settings settings_;
  std::unique_ptr<random_source> random_; ///< Random source of the schedule.
  std::unique_ptr<random_source> node_random_; ///< Random source of the node.
  virtual_net net_;
  stepper steps_;
  tests::memory_disk disk_;
  tests::fault_env disk_faults_{disk_};
  std::shared_ptr<virtual_net::machine> world_machine_;
  std::shared_ptr<virtual_net::machine> node_machine_;
  std::shared_ptr<virtual_net::machine> app_machine_;
  std::unique_ptr<simnet::network> life_;
  simnet::network_urls urls_;
  std::optional<thrift_watch> thrift_;
  listing_watch listings_;
  std::unique_ptr<actors::node> node_;
  size_t lives_ = 0; ///< Number of lives that were begun.
  bool stopping_ = false;
  error failure_;
  std::map<std::string, uint64_t> status_changes_;
  net::http_client_ptr web_;
  delivery_watch delivered_; ///< Outlives the application, which tells it.
  std::unique_ptr<apps::demo_consumer> application_;
};

/// The port of an origin.
uint16_t port_of(const std::string& origin);

} // namespace weir::sim
