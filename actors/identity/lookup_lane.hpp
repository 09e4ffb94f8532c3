#pragma once

#include "atproto/identifiers.hpp"
#include "base/token_bucket.hpp"

#include <array>
#include <deque>
#include <optional>

namespace weir::actors {

/// Why an identity is looked up. In each round the first two come before the
/// others.
enum class lookup_cause : uint8_t {
  rotation, ///< Something says that a known document changed.
  newcomer, ///< Nothing is known of it.
  again,    ///< A known document is old, or was read a moment ago.
  retry,    ///< Its last look-up failed.
  last_ = retry
};

struct queued_lookup {
  atproto::did repo;
  lookup_cause cause = lookup_cause::again;
};

/// Look-ups of one kind: who waits, in rounds of their causes, and how many
/// are under way. No clock, no network.
class lookup_lane {
public:
  /// @param retries_per_second Look-ups that failed before.
  /// @param places Look-ups under way at a time.
  lookup_lane(double retries_per_second, size_t places);

  void push(queued_lookup x);

  /// Whose turn it is: a look-up that is under way from now on. None while all
  /// places are taken.
  std::optional<queued_lookup> take(steady_time now);

  /// A look-up is over. One that succeeds costs the share of retries nothing,
  /// so that all are made soon when a directory is back.
  void end(lookup_cause cause, bool succeeded, steady_time now);

  /// When `take` has somebody, unless one ends before; none: not before that.
  std::optional<steady_time> due(steady_time now) const;

  /// That wait or are under way.
  size_t size() const noexcept;

private:
  size_t places_;
  size_t running_ = 0;
  token_bucket retries_;
  std::array<std::deque<queued_lookup>, 4> queues_; ///< By cause.
  size_t turn_ = 0;
};

} // namespace weir::actors
