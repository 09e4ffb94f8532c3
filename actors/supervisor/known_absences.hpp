#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace weir::actors {

/// Repos that a relay's listing leaves out and that are at their hosts all the
/// same. A relay need not carry every host, and lists again and again: what was
/// answered is not asked because of the same relay for
/// `limits::known_absence_memory`, up to twice that. When another relay leaves
/// the repo out as well, that is news. Without CAF or clock.
///
/// # Limits
/// `most` are remembered. The others are asked about with each listing, as
/// often as `question_machine` lets them.
class known_absences {
public:
  explicit known_absences(size_t most) : most_(most) {
    // nop
  }

  /// A listing of this relay left it out.
  /// @returns whether its host is to be asked. If not, the host has said since an
  /// earlier one that it is there: this relay does not carry it.
  bool on_left_out(uint32_t relay, const atproto::did& repo,
                   const std::string& pds, steady_time now);

  /// The host said what the account is.
  void on_told(const atproto::did& repo, const std::string& pds);

  size_t size() const noexcept { return young_.size() + old_.size(); }

  /// Memory that all of it holds, about.
  size_t bytes() const noexcept {
    return size() * limits::known_absence_bytes;
  }

private:
  struct absence {
    /// A bit of each relay, by its number. Where two share one, a repo that the
    /// second loses is asked about later.
    uint64_t relays = 0;
    bool told = false; ///< Since the last of these.
  };

  void forget_old(steady_time now);
  absence* find(uint64_t key);

  size_t most_;
  std::optional<steady_time> turned_; ///< When the young ones became old.
  std::unordered_map<uint64_t, absence> young_; ///< By account and host.
  std::unordered_map<uint64_t, absence> old_;
};

} // namespace weir::actors
