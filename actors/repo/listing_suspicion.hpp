#pragma once

#include "actors/repo/repo_turn.hpp"
#include "actors/support/limits.hpp"

#include <algorithm>
#include <optional>

namespace weir::actors {

/// A difference that a listing, or the host itself, showed and no event has
/// shown so far.
struct suspicion {
  repo_listed seen;
  wall_time since;
  steady_time due; ///< The time of the next look at it.
  /// After this time it is decided, however late the stream is.
  steady_time last;
};

/// What a listing said of a repo and the stream did not say yet. The event may
/// still be on its way, so nothing follows from the listing for a while.
class listing_suspicion {
public:
  const std::optional<suspicion>& get() const noexcept { return open_; }

  bool is_due(const now_time& now) const noexcept {
    return open_ && open_->due <= now.steady;
  }

  /// Opens a suspicion, unless one is open.
  void open(const repo_listed& seen, repo_turn& t) {
    if (!open_)
      open_
        = suspicion{seen, t.now.wall, t.now.steady + t.settings.listing_grace,
                    t.now.steady + limits::listing_doubt_max};
    t.arm(open_->due);
  }

  /// The stream is late, so the decision is put off.
  void put_off(repo_turn& t) {
    open_->due = t.now.steady
                 + std::max<std::chrono::seconds>(t.settings.listing_grace,
                                                  limits::listing_doubt_step);
  }

  void close() noexcept { open_.reset(); }

private:
  std::optional<suspicion> open_;
};

} // namespace weir::actors
