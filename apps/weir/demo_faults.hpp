#pragma once

#include "apps/weir/demo_options.hpp"
#include "simnet/network.hpp"

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::apps {

/// What goes wrong in the demo, in a fixed order: requests that fail from the
/// start, and one fault after the other while accounts are busy.
///
/// # Ownership and threads
/// Borrows the network. One thread.
class demo_faults {
public:
  demo_faults(simnet::network& network, const demo_options& options);

  /// Requests that will be slow, fail, be cut off or refused. Before the node
  /// starts, so that its first fetches meet them.
  void order_requests();

  /// Faults still to come.
  size_t steps_left() const noexcept { return steps_.size() - next_; }

  /// The next one.
  void step();

  /// After the last one: accounts that moved write once more, as their
  /// repositories verify again only then (protocol-coverage.md 11.3).
  void settle();

  /// By kind, of those that hit something.
  std::map<std::string, uint64_t> injected() const;

  /// Of those, without the ones whose trace is still there.
  /// @param wrong Accounts whose copy differs from the truth.
  uint64_t healed(const std::set<std::string>& wrong) const;

  /// Faults that could not be carried out, and orders that hit nothing.
  std::vector<std::string> misses() const;

private:
  using action = std::function<void()>;

  void plan();
  void add(simnet::fault_kind kind, size_t count = 1);
  void silence(std::initializer_list<simnet::fault_kind> kinds);
  void inject(simnet::fault x);
  void order(simnet::fault_kind kind, simnet::request_fault what, size_t count,
             std::chrono::milliseconds time);
  std::string any_active_account();

  struct order_placed {
    simnet::fault_kind kind;
    simnet::request_fault what;
    uint64_t count = 0;
  };

  simnet::network& network_;
  const demo_options options_;
  std::unique_ptr<random_source> random_;
  std::vector<action> steps_;
  size_t next_ = 0;
  std::vector<simnet::fault_record> done_;
  std::vector<order_placed> orders_;
  std::vector<std::string> misses_;
  std::vector<std::string> deactivated_; ///< To come back,
  std::vector<std::string> taken_down_;  ///< one of them, too.
  std::vector<std::string> migrated_;
};

} // namespace weir::apps
