#pragma once

#include "actors/node/node.hpp"
#include "apps/demo/consumer.hpp"
#include "net/http_client.hpp"
#include "simnet/network.hpp"
#include "tests/sim/comparison.hpp"
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
  /// @param alter Changes what was drawn from the seed, if anything.
  scene(uint64_t seed, trace& log,
        const std::function<void(run_settings&)>& alter = {});
  ~scene();

  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  /// Opens the network's ports.
  result<void> open();

  // -- the node ---------------------------------------------------------------

  result<void> start_node();

  /// In good order.
  void stop_node();

  /// As `kill -9` ends it, or a power failure: from now on nothing that the node
  /// does reaches disk or network. With `power` the disk may lose what was not
  /// synced. Also in the middle of a call to the disk.
  void die(bool power);

  /// Afterwards, when none of its calls is under way: takes it away, and the
  /// disk is as it was left.
  void end_killed_node();

  bool node_runs() const noexcept { return node_ != nullptr; }

  /// Why the node said that it cannot go on; `ec::none`: it did not.
  const error& failure() const noexcept { return failure_; }

  /// How often repos went from one status to another, in all lives: "pending to
  /// syncing" and so on.
  const std::map<std::string, uint64_t>& status_changes() const noexcept {
    return status_changes_;
  }

  // -- asking it --------------------------------------------------------------

  /// Status and body of `GET target` at the data port.
  result<std::pair<int, std::string>> get(const std::string& target);

  result<std::pair<int, std::string>> post(const std::string& target,
                                           std::string body);

  /// The same as `get`, of a client that goes on with something else.
  void send_get(const std::string& target);

  /// Where clients of the node run.
  virtual_net::machine& clients_machine() noexcept { return *app_machine_; }

  /// The network as the node has to have it, whoever it tracks: what the life
  /// that runs, or was the last, keeps of each account.
  std::vector<simnet::expected_account> expected() const;

  /// All repos as the node lists them, by DID.
  result<node_repos> repos();

  /// The last operation of each partition that is on its disk. 0: it does not run,
  /// or has none.
  std::vector<uint64_t> last_operations() const;

  /// The longest that bytes have lain in a connection of the node without its
  /// reading on, counted from `begin` at the earliest, in words; empty: for less
  /// than `patience`.
  std::string stuck_connection(steady_time begin,
                               std::chrono::microseconds patience) const;

  /// Connections that the node gave up since its start because nothing was in
  /// the way and it did not read them.
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
  trace& log() noexcept { return trace_; }

  /// What the node asked the network for was more than it promises: a sentence.
  const std::string& waste() const noexcept;

  const thrift_watch& thrift() const noexcept { return *thrift_; }

  const listing_watch& listings() const noexcept { return listings_; }

  /// How the name of a server is answered.
  void set_naming(const std::string& origin, naming how);

  /// The way to a server is as good as at the start.
  void mend_road(uint16_t port);

  /// Ports of servers: hosts by number, then the relay, then the directory.
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
  std::unique_ptr<random_source> random_;      ///< Of the schedule.
  std::unique_ptr<random_source> node_random_; ///< Of the node.
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
  size_t lives_ = 0; ///< That were begun.
  bool stopping_ = false;
  error failure_;
  std::map<std::string, uint64_t> status_changes_;
  net::http_client_ptr web_;
  std::unique_ptr<apps::demo_consumer> application_;
};

/// Port of an origin.
uint16_t port_of(const std::string& origin);

} // namespace weir::sim
