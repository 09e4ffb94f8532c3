#pragma once

#include "tests/sim/comparison.hpp"
#include "tests/sim/deeds.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// What hosts say at the end of a round, when all is mended, of accounts that the
/// node cannot know or has to take for gone, and of which nobody else would speak.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class last_words {
public:
  explicit last_words(scene& x) : scene_(x) {
    // nop
  }

  /// @param host Whom it happens to; none: all of them.
  void note(const deed& x, std::optional<size_t> host);

  void say();

  /// What the relay told of repos that nobody tracked, it tells again.
  /// @param removed Those that were not tracked for a while.
  void say_of_relay(const std::set<std::string>& removed);

private:
  bool is_disowned(const simnet::account_view& x,
                   const node_repos& known) const;
  bool is_unproved(const simnet::account_view& x,
                   const node_repos& known) const;
  bool is_taken_for_deleted(const simnet::account_view& x,
                            const node_repos& known) const;
  bool is_unlooked() const;

  scene& scene_;
  bool denied_ = false; ///< Some may be unknown, and no listing comes.
  /// How long hosts said in this round that they have no such repos, or that these
  /// are away.
  std::map<size_t, std::chrono::microseconds> denied_for_;
  /// Hosts whose streams began their numbers anew, from so few that ours may be among
  /// them.
  std::set<size_t> renumbered_;
};

} // namespace weir::sim
