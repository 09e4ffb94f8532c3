#pragma once

#include "tests/sim/scene.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// Repos that are removed from the node by hand, and added again at the end.
///
/// What was erased is gone: from the node's answer on, no record that it had of
/// such a repo comes to the application, except those that were on their way to
/// it. The check runs often enough to see such a record before those of a new
/// life.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class removals {
public:
  explicit removals(scene& x) : scene_(x) {
    // nop
  }

  ~removals();

  removals(const removals&) = delete;
  removals& operator=(const removals&) = delete;

  /// @param app_is_away The application has no connection to the node.
  void remove(const std::string& did, bool app_is_away);

  /// A node that ended before it answered may have removed a repo or not, so
  /// the request is repeated.
  /// @returns whether the node carried out all requests
  bool ask_again();

  /// The account was added.
  void note_added(const std::string& did);

  /// @returns whether the node did so
  bool add_all_again();

  const std::set<std::string>& removed() const noexcept { return removed_; }

  /// Repos that were ever removed, whether or not they are tracked again.
  const std::set<std::string>& ever() const noexcept { return ever_; }

  /// What came of a repo that is gone; empty: nothing.
  const std::string& wrong() const noexcept { return wrong_; }

private:
  /// A repo of which no event may come any more.
  struct erased {
    steady_time since;
    uint64_t last = 0; ///< The last operation before it was gone.
    /// Number of its records that came until nothing was on its way.
    uint64_t came = 0;
    bool none_on_its_way = false;
  };

  void watch(const std::string& did);
  void look();
  void judge(const std::string& did, erased& x, const apps::event_copy& copy);
  void arm();

  scene& scene_;
  std::set<std::string> removed_;
  std::set<std::string> ever_;
  std::set<std::string> wanted_; ///< Removals that the node has not confirmed.
  bool app_is_away_ = false;
  std::map<std::string, erased> erased_; ///< Repos that are watched, by DID.
  std::optional<timeline::key> next_;
  std::string wrong_;
};

/// Asks the node to do something with one repo; false: it does not.
bool order(scene& x, const std::string& what, const std::string& did);

} // namespace weir::sim
