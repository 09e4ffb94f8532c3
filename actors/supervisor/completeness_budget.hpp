#pragma once

#include "actors/supervisor/limits_uncovered.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace weir::actors {

/// What looks at all rows (`completeness_laps`) may have done about repos that
/// are not complete. Without CAF, clock or store.
///
/// # Limits
/// So many repos are woken in a time; the next look goes on with the first that
/// had to wait. Of one host about `limits::uncovered_asked_per_host` repos are
/// asked about in an hour; of one that has more to ask about each hour asks
/// about another part, so that none waits behind those that cannot be proved.
/// Memory is the same however many hosts there are.
class completeness_budget {
public:
  /// @param salt Random: nobody can choose whose budget is shared.
  explicit completeness_budget(uint64_t salt = 0) : salt_(salt) {
    // nop
  }

  /// A look begins.
  void on_begin();

  /// All rows were looked at.
  void on_end();

  /// Whether this repo may be woken now; in the order of the rows. Counts it.
  bool may_wake(const atproto::did& repo, steady_time now);

  /// Counts a repo that its host should be asked about.
  /// @returns whether it belongs to those that are asked about in this hour.
  bool has_turn(const atproto::did& repo, const std::string& pds,
                steady_time now);

  /// Whether this host may be asked about one more repo now. Counts it.
  bool may_ask(const std::string& pds, steady_time now);

private:
  using counts = std::array<uint32_t, limits::uncovered_host_slots>;

  size_t slot_of(const std::string& pds) const;
  void begin_hour(steady_time now);

  uint64_t salt_;
  std::optional<steady_time> woken_since_;
  size_t woken_ = 0;
  atproto::did first_;  ///< That may be woken in this look.
  atproto::did missed_; ///< The first one that had to wait.
  uint64_t hour_ = 0;
  std::optional<steady_time> asked_since_;
  std::unique_ptr<counts> asked_ = std::make_unique<counts>();
  /// To be asked about: in the last whole look, and in this one.
  std::unique_ptr<counts> before_ = std::make_unique<counts>();
  std::unique_ptr<counts> now_ = std::make_unique<counts>();
};

} // namespace weir::actors
