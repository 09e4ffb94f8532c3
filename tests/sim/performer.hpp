#pragma once

#include "tests/sim/clients.hpp"
#include "tests/sim/comparison.hpp"
#include "tests/sim/deaths.hpp"
#include "tests/sim/deeds.hpp"
#include "tests/sim/last_words.hpp"
#include "tests/sim/removals.hpp"
#include "tests/sim/scene.hpp"
#include "tests/sim/service_manager.hpp"

#include <array>
#include <map>
#include <set>
#include <string>

namespace weir::sim {

/// Carries out deeds in a scene, and repairs everything at the end.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class performer {
public:
  explicit performer(scene& x);

  /// Lets time pass; a node that failed or was killed is started again.
  void run_for(std::chrono::microseconds x) { manager_.run_for(x); }

  void perform(const deed& x);

  /// All copies were equal at the end of the last round. So what streams held
  /// back has come, wrong answers of directories were corrected, and what no
  /// stream told was found.
  void begin_round() { may_.late = may_.misled = may_.silent = false; }

  /// Ends all faults of a round: servers answer, the clock is right, the disk
  /// has no faults, the node runs. Repos that were removed are added again.
  void mend();

  /// Repeats the requests to the node at the end of a round that it could not
  /// carry out because it had to start anew first.
  void ask_refused();

  /// Calls `last_words::say_to_waiting` once, when its time has come.
  void say_to_waiting();

  /// How often each deed took effect, by name.
  const std::map<std::string, uint64_t>& counts() const noexcept {
    return counts_;
  }

  uint64_t count_of(deed_kind x) const;

  /// What clients of the node suffered; empty: nothing.
  const std::string& wrong_for_clients() const noexcept {
    return clients_.wrong();
  }

  /// What came of repos that are gone; empty: nothing.
  const std::string& wrong_of_removed() const noexcept {
    return removals_.wrong();
  }

  /// The differences that are permitted at the end.
  const allowances& may() const noexcept { return may_; }

  const service_manager& manager() const noexcept { return manager_; }

  /// Starts the node for the first time.
  result<void> start();

private:
  void perform_fault(const deed& x);
  void disturb_road(const deed& x);
  void ask_node(const deed& x);
  void plan_end(const deed& x);
  void plan_writes(const deed& x);
  void count(const deed& x);
  size_t host_of(const deed& x) const;
  const std::string& origin_of(const deed& x) const;
  uint16_t port_of(const deed& x) const { return sim::port_of(origin_of(x)); }
  std::vector<std::string> servers() const;
  std::string account(const deed& x) const;

  void let_enemies_fail();

  scene& scene_;
  clients clients_;
  deaths deaths_;
  service_manager manager_;
  std::map<std::string, uint64_t> counts_;
  removals removals_;
  last_words last_words_;
  bool refused_ = false; ///< The node did not carry out all requests.
  /// When the longest pause of a look-up that had failed is over.
  std::optional<steady_time> look_ups_again_;
  allowances may_;
};

} // namespace weir::sim
