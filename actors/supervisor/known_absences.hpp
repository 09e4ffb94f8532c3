#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Remembers repos that a relay's listing leaves out although their hosts have
/// them. A relay need not carry every host, and it is listed again and again:
/// once a host has answered, it is not asked again because of the same relay
/// for `limits::known_absence_memory`, and at most twice that. When another
/// relay leaves the repo out, too, the host is asked again. No CAF, no clock.
///
/// # Limits
/// At most `most` repos are remembered. The hosts of others are asked after
/// each listing, as often as `question_machine` allows.
class known_absences {
public:
  explicit known_absences(size_t most) : most_(most) {}

  /// A listing of this relay left the repo out.
  /// @returns whether its host is to be asked. If not, the host has confirmed
  /// the account since an earlier listing: this relay does not carry it.
  bool on_left_out(uint32_t relay, const atproto::did& repo,
                   const std::string& pds, steady_time now) {
    forget_old(now);
    const auto key = key_of(repo, pds);
    const auto bit = uint64_t{1} << (relay % 64);
    if (auto* known = find(key)) {
      if ((known->relays & bit) == 0) {
        known->relays |= bit;
        known->answered = false;
      }
      return !known->answered;
    }
    if (size() < most_)
      young_.emplace(key, absence{bit, false});
    return true;
  }

  /// The host answered what the account's status is.
  void on_answered(const atproto::did& repo, const std::string& pds) {
    if (auto* known = find(key_of(repo, pds)))
      known->answered = true;
  }

  size_t size() const noexcept { return young_.size() + old_.size(); }

  /// The approximate memory in bytes.
  size_t bytes() const noexcept { return size() * limits::known_absence_bytes; }

private:
  static uint64_t key_of(const atproto::did& repo, const std::string& pds) {
    return atproto::stable_hash(repo.str() + ' ' + pds);
  }

  struct absence {
    /// One bit for each relay, by its number. When two relays share a bit, a
    /// repo that the second one loses is asked about later.
    uint64_t relays = 0;
    /// The host has answered since the last of these bits was set.
    bool answered = false;
  };

  void forget_old(steady_time now) {
    if (!turned_)
      turned_ = now;
    if (now - *turned_ < limits::known_absence_memory)
      return;
    if (now - *turned_ >= 2 * limits::known_absence_memory)
      young_.clear();
    old_ = std::exchange(young_, {});
    turned_ = now;
  }

  absence* find(uint64_t key) {
    for (auto* all : {&young_, &old_})
      if (const auto i = all->find(key); i != all->end())
        return &i->second;
    return nullptr;
  }

  size_t most_;
  std::optional<steady_time> turned_; ///< When the young ones became old.
  std::unordered_map<uint64_t, absence> young_; ///< Keys: account and host.
  std::unordered_map<uint64_t, absence> old_;
};

} // namespace weir::actors
