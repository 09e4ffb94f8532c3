#pragma once

#include "tests/sim/scene.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// Repos that somebody takes from the node by hand, and adds again in the end.
///
/// What was erased is gone: from the node's answer on, no record that it had of
/// such a repo comes to the application, but for those that were on their way to
/// it. It is looked at often enough to see one before those of a new life.
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

  /// @param app_is_away It has no connection to the node.
  void remove(const std::string& did, bool app_is_away);

  /// A node that ended before it answered may have removed a repo or not: whoever
  /// asked asks again.
  /// @returns whether it did all.
  bool ask_again();

  /// Somebody added it.
  void note_added(const std::string& did);

  /// @returns whether the node did it.
  bool add_all_again();

  const std::set<std::string>& removed() const noexcept { return removed_; }

  /// Whoever was removed, and may be there again.
  const std::set<std::string>& ever() const noexcept { return ever_; }

  /// What came of a repo that is gone; empty: nothing.
  const std::string& wrong() const noexcept { return wrong_; }

private:
  /// A repo of which nothing may come any more.
  struct erased {
    steady_time since;
    uint64_t last = 0; ///< The last operation before it was gone.
    uint64_t came = 0; ///< Records of it, until nothing was on its way.
    bool none_on_its_way = false;
  };

  void watch(const std::string& did);
  void look();
  void judge(const std::string& did, erased& x, const apps::event_copy& copy);
  void arm();

  scene& scene_;
  std::set<std::string> removed_;
  std::set<std::string> ever_;
  std::set<std::string> wanted_; ///< Until the node says that it did.
  bool app_is_away_ = false;
  std::map<std::string, erased> erased_; ///< Watched, by DID.
  std::optional<timeline::key> next_;
  std::string wrong_;
};

/// Has the node do something with one repo; false: it does not.
bool order(scene& x, const std::string& what, const std::string& did);

} // namespace weir::sim
