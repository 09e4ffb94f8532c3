#pragma once

#include "apps/demo/demo.hpp"
#include "simnet/network.hpp"

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::apps {

/// The faults of the demo in a fixed order: requests that fail from the start,
/// then one fault after the other while accounts are active.
///
/// # Ownership and threads
/// Borrows the network. One thread.
class demo_faults {
public:
  demo_faults(simnet::network& network, const demo_options& options);

  /// Orders requests that are slow, fail, are cut off or refused. Call it
  /// before the node starts, so that its first fetches are affected.
  void order_requests();

  /// Number of faults still to come.
  size_t steps_left() const noexcept { return steps_.size() - next_; }

  /// Causes the next fault.
  void step() { steps_[next_++](); }

  /// Call this after the last fault: accounts that moved write once more, since
  /// their repositories verify only after that (protocol-coverage.md 11.3).
  void settle();

  /// Number of faults by kind that had an effect.
  std::map<std::string, uint64_t> injected() const;

  /// How many of those have left no difference.
  /// @param wrong Accounts whose copy differs from the truth.
  uint64_t healed(const std::set<std::string>& wrong) const;

  /// Faults that could not be carried out, and orders that affected no request.
  std::vector<std::string> misses() const;

private:
  using action = std::function<void()>;

  void plan();
  void add(simnet::fault_kind kind, size_t count = 1);
  void silence(std::initializer_list<simnet::fault_kind> kinds);
  void inject(simnet::fault x);
  void order(simnet::fault_kind kind, size_t count,
             std::chrono::milliseconds time);
  std::string any_active_account();

  struct order_placed {
    simnet::fault_kind kind;
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
  std::vector<std::string> deactivated_; ///< Accounts to reactivate.
  std::vector<std::string> taken_down_;  ///< One of these comes back, too.
  std::vector<std::string> migrated_;
};

} // namespace weir::apps
