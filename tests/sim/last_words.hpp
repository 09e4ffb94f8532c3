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

/// Makes hosts speak at the end of a round, when all faults have ended, about
/// accounts that the node cannot know or must consider gone, and about which no
/// other event would come.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class last_words {
public:
  explicit last_words(scene& x) : scene_(x) {
    // nop
  }

  /// @param host The host that it affects; none: all hosts.
  void note(const deed& x, std::optional<size_t> host);

  void say();

  /// Makes accounts write whose copies are equal to their sources and wait only
  /// for a look-up, in a node that put their REPOs to sleep because it has
  /// memory for few and that never scans its rows; or that lack a rev which a
  /// forged frame named, in a run without the listing that takes it back.
  /// Called when failed look-ups are repeated.
  /// @returns whether the node could be asked.
  bool say_to_waiting();

  /// Makes the relay repeat what it told of repos that were not tracked.
  /// @param removed The repos that were not tracked for a while.
  void say_of_relay(const std::set<std::string>& removed);

private:
  bool is_disowned(const simnet::account_view& x,
                   const node_repos& known) const;
  bool is_unproved(const simnet::account_view& x,
                   const node_repos& known) const;
  bool is_taken_for_deleted(const simnet::account_view& x,
                            const node_repos& known) const;
  bool is_unlooked() const;
  std::optional<node_repos> list() const;

  scene& scene_;
  bool denied_ = false; ///< Some accounts may be unknown, and no listing comes.
  /// For how long, in this round, each host denied that it has repos or said
  /// that they are inactive.
  std::map<size_t, std::chrono::microseconds> denied_for_;
  /// Hosts whose streams began their seqs anew, at values so low that the
  /// node's may be among them.
  std::set<size_t> renumbered_;
};

} // namespace weir::sim
