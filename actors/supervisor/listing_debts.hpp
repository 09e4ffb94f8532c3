#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "actors/support/limits_health.hpp"
#include "base/error.hpp"
#include "base/position.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Tracks which upstreams owe a listing because their events may have been
/// missed, and do not deliver it. Until it is compared, it is not known which
/// repos are stale. The result is reported to HEALTH. No clock, threads or I/O.
class listing_debts {
public:
  explicit listing_debts(bool discovers = false) noexcept
    : discovers_(discovers) {}

  /// What is wrong with the listing of an upstream. Empty: the problem is over.
  using report = std::optional<std::string>;

  /// Restores the state of an earlier start.
  /// @param compared A listing ended at this position.
  void restore(uint32_t upstream, const position& known, bool compared) {
    auto& x = debts_[upstream];
    x.known = known;
    x.compared = compared ? known : position{};
  }

  /// All repos are to be compared at this position. A position without a seq
  /// belongs to a stream that never brought an event.
  void on_wanted(uint32_t upstream, const position& at) {
    auto& x = debts_[upstream];
    x.after_loss |= x.known.defined() && x.known.epoch != at.epoch;
    x.known = at;
    x.owed |= at != x.compared || at.seq == 0;
  }

  report on_page(uint32_t upstream) {
    auto& x = debts_[upstream];
    const auto is_over = std::exchange(x.rests, false) || !x.offered;
    x.offered = true;
    if (!x.from_the_beginning)
      x.failures = 0;
    return is_over && x.failures == 0 ? report{std::string{}} : std::nullopt;
  }

  /// A page failed.
  /// @param wait For this time the host asks not to be asked.
  report on_failed(uint32_t upstream, const error& why,
                   std::chrono::seconds wait = {}) {
    auto& x = debts_[upstream];
    if (!x.owed)
      return std::nullopt;
    if (why.code == ec::not_found) {
      x.offered = false;
      if (x.after_loss)
        return "it offers no listing: what was lost cannot be found";
      if (!discovers_)
        return std::nullopt;
      return "it offers no listing, by which repos are found: " + why.context;
    }
    x.rests = wait >= limits::health_rest_min;
    if (x.rests)
      return "it asked not to be asked for its listing for "
             + std::to_string(wait.count()) + " seconds";
    // The listing is read from its start again, so its earlier pages come
    // before the one that failed.
    x.from_the_beginning = why.code == ec::malformed;
    if (++x.failures < limits::health_listing_failures_min)
      return std::nullopt;
    return (x.after_loss
              ? "a listing that has to be compared after a loss fails: "
              : "its listing after the start fails: ")
           + to_string(why);
  }

  /// Most claims of a page are false, so the page was not accepted.
  report on_mistrusted(uint32_t upstream) {
    if (!debts_[upstream].owed)
      return std::nullopt;
    return "most accounts that it lists have no document that says so";
  }

  /// A listing has ended: it was compared at `at`, or it is not offered.
  report on_ended(uint32_t upstream, const position& at) {
    auto& x = debts_[upstream];
    if (!x.offered)
      return std::nullopt;
    x = debt{at, at};
    return std::string{};
  }

private:
  struct debt {
    position known;    ///< The position at which a listing was last wanted.
    position compared; ///< The position at which a listing has ended.
    bool owed = false;
    bool after_loss = false; ///< False: it is the listing after each start.
    bool offered = true;
    bool rests = false; ///< Its host asked us to wait for a long time.
    /// Its last failure made the listing begin anew.
    bool from_the_beginning = false;
    size_t failures = 0;             ///< Failures in a row.
  };

  bool discovers_ = false;
  std::map<uint32_t, debt> debts_;
};

/// Tracks which upstreams could not report which repos have records of a signal
/// collection, so that quiet repos of theirs may be missing. The result is
/// reported to HEALTH. No clock, threads or I/O in here.
class unknown_holders {
public:
  /// What is wrong at an upstream. Empty string: the problem is over.
  using report = std::optional<std::string>;

  /// The listings that say it: a relay has one for each signal collection. Each
  /// repo of a PDS is asked about, for all of them at once (`of_pds`).
  static std::vector<std::string> wanted(bool relay,
                                         std::vector<std::string> of_relay,
                                         const std::string& of_pds) {
    if (!relay)
      of_relay.assign(of_pds.empty() ? 0 : 1, of_pds);
    return of_relay;
  }

  /// Whether a failed page of `collection` leaves open which accounts of a PDS
  /// have such records. A page that was asked for too early comes later.
  static bool stay_unknown(const std::string& collection,
                           const std::string& of_pds, const error& why) {
    return !collection.empty() && collection == of_pds
           && why.code != ec::rate_limited;
  }

  /// A page came.
  /// @param unanswered Accounts that its host could not describe, or all of its
  ///        accounts when the host denies every one.
  void on_page(const listing_id& what, size_t unanswered) {
    auto& x = listings_[what];
    x.offered = true;
    x.passed_over |= unanswered > 0;
    if (!x.from_the_beginning)
      x.failures = 0;
  }

  /// A page failed, or its host does not describe accounts.
  report on_failed(const listing_id& what, const error& why) {
    auto& x = listings_[what];
    if (why.code == ec::rate_limited) { // Its page goes on where it was.
      x.failures = 0;
      return std::nullopt;
    }
    x.offered = why.code != ec::not_found;
    // The listing is read from its start again, so its earlier pages come
    // before the one that failed.
    x.from_the_beginning = why.code == ec::malformed;
    if (x.from_the_beginning)
      x.passed_over = false;
    if (x.offered && ++x.failures < limits::health_listing_failures_min)
      return std::nullopt;
    x.trouble = "it is not known which accounts there have records of the "
                "signal collection: "
                + to_string(why);
    return trouble_of(what.upstream);
  }

  /// A listing has ended, or is not offered.
  report on_ended(const listing_id& what) {
    auto& x = listings_[what];
    if (!x.offered)
      return std::nullopt;
    const auto passed_over = x.passed_over;
    x = state{};
    if (passed_over)
      x.trouble = "it is not known of some accounts there whether they have "
                  "records of the signal collection: describeRepo failed, or "
                  "knows none of those that are listed";
    return trouble_of(what.upstream);
  }

  /// Whether its last listing covered all accounts.
  bool knows(const listing_id& what) const {
    const auto i = listings_.find(what);
    return i != listings_.end() && i->second.offered
           && i->second.trouble.empty();
  }

private:
  struct state {
    bool offered = true;
    /// Its last failure made the listing begin anew.
    bool from_the_beginning = false;
    /// Accounts of the run under way were passed over.
    bool passed_over = false;
    size_t failures = 0;             ///< Failures in a row.
    std::string trouble;             ///< Empty: all accounts were answered for.
  };

  /// The problem of the upstream's first listing that has one.
  std::string trouble_of(uint32_t upstream) const {
    for (const auto& [what, x] : listings_)
      if (what.upstream == upstream && !x.trouble.empty())
        return x.trouble;
    return {};
  }

  std::map<listing_id, state> listings_;
};

} // namespace weir::actors
