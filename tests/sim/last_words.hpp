#pragma once

#include "tests/sim/comparison.hpp"
#include "tests/sim/deeds.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>

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

private:
  bool is_disowned(const simnet::account_view& x,
                   const node_repos& known) const;

  scene& scene_;
  bool denied_ = false; ///< By the directory, and no listing comes.
  /// How long hosts said in this round that they have no such repos.
  std::map<size_t, std::chrono::microseconds> without_repos_;
};

} // namespace weir::sim
