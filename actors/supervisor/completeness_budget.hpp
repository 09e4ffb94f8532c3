#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace weir::actors {

/// How much may be done about the incomplete repos that a look at all rows
/// (`completeness_laps`) finds. Without CAF, clock or store.
///
/// # Limits
/// A limited number of REPOs is woken per interval; the next look goes on with
/// the first repo that had to wait. About `limits::uncovered_asked_per_host`
/// repos of one host are asked about in an hour. When a host has more of them,
/// each hour asks about another part, so that no repo waits behind repos that
/// can never be proved. Memory is the same however many hosts there are.
class completeness_budget {
public:
  /// @param salt Random, so that nobody can choose hosts that share a budget.
  explicit completeness_budget(uint64_t salt = 0) : salt_(salt) {}

  /// A look begins.
  void on_begin();

  /// All rows were looked at.
  void on_end();

  /// Whether the REPO of this repo may be woken now; counts it if so. Call it
  /// in the order of the rows.
  bool may_wake(const atproto::did& repo, steady_time now);
// Counts a repo about which its host should be asked.
// @returns whether it is in the part that is asked about in this hour.
  /// @returns whether it belongs to those that are asked about in this hour.
  bool has_turn(const atproto::did& repo, const std::string& pds,
                steady_time now);

  /// Whether this host may be asked about one more repo now. Counts it if so.
  bool may_ask(const std::string& pds, steady_time now);

private:
  using counts = std::array<uint32_t, limits::uncovered_host_slots>;

  size_t slot_of(const std::string& pds) const;
  void begin_hour(steady_time now);

  uint64_t salt_;
  std::optional<steady_time> woken_since_;
  size_t woken_ = 0;
  atproto::did first_;  ///< The first repo that may be woken in this look.
  atproto::did missed_; ///< The first repo that had to wait.
  uint64_t hour_ = 0;
  std::optional<steady_time> asked_since_;
  std::unique_ptr<counts> asked_ = std::make_unique<counts>();
  /// Repos to be asked about, by host: in the last whole look, and in this one.
  std::unique_ptr<counts> before_ = std::make_unique<counts>();
  std::unique_ptr<counts> now_ = std::make_unique<counts>();
};

} // namespace weir::actors
