#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_budget.hpp"
#include "actors/supervisor/listing_repeats.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

struct listing_options {
  /// The longest time from one audit of an upstream to the next.
  std::chrono::seconds interval = limits::listing_interval_range.standard;
  /// The requests that all listings of an upstream may make in an hour, on
  /// average. With more of them, short listings are repeated sooner.
  size_t requests_per_hour = limits::listing_requests_range.standard;
  /// The shortest time from the end of a listing to the next one, however short
  /// the listing is.
  std::chrono::seconds pause = limits::listing_pause_range.standard;
  /// A stream that is quiet for this time has delivered all events.
  std::chrono::seconds grace = limits::listing_grace_range.standard;
  size_t pages_max = limits::listing_pages_max;
  uint64_t salt = 0; ///< The salt of `seen_names`.
};

/// Which repos are listed: all of an upstream, or those with records in a
/// collection.
struct listing_id {
  uint32_t upstream = 0;
  std::string collection; ///< Empty: all repos.

  friend auto operator<=>(const listing_id&, const listing_id&) = default;
};

/// The claims of a page are decided, or were dropped.
struct page_verdict {
  listing_id what;
  bool trusted = true;
  bool proved = true;   ///< False: the directory was found to be wrong.
  bool has_room = true; ///< False: the page has to come again.

  /// Whether the listing is to blame.
  bool blames() const noexcept { return has_room && !trusted && proved; }
};

/// Reads the pages of `listRepos` and `listReposByCollection` of each upstream,
/// one page at a time: again when events may have been missed, soon after each
/// start of the node, and by interval (protocol-coverage.md 9,
/// hostile-inputs.md 2.1.29: endless listings; completeness.md, The terms).
///
/// What was never listed is listed at once. A later listing waits until the
/// stream has delivered the events that its host had: if the stream lags
/// behind, most repos would differ although their events are on their way. The
/// listing waits for at most `limits::listing_wait_max`.
///
/// After a failure or a restart, a listing goes on where it was: its row is
/// written when all repos of a page have been taken. It is read as fast as
/// pages come, as long as it names repos that it did not name before. All
/// listings of an upstream share one budget, for which those wait that are due
/// only by interval. When their host asks us to wait, all of them wait.
class listing_machine {
public:
  struct request {
    listing_id what;
    std::string cursor; ///< Empty: from the beginning.
  };

  struct row {
    listing_id what;
    storage::listing_row value;
  };

  struct effects {
    std::optional<request> fetch{};
    std::optional<row> write{};
    std::optional<steady_time> timer{};
    bool finished = false; ///< A listing came to its end.
    bool audited = false; ///< It was neither cut short nor refused.
    /// The listing was endless, or named no new repos any more.
    bool cut_short = false;
    /// This listing named all repos that there are, in one run.
    std::optional<listing_id> whole{};
  };

  explicit listing_machine(listing_options options) : options_(options) {}

  void restore(row known) {
    listings_[known.what].row = std::move(known.value);
  }

  /// Repos are to be compared at this position. A listing that was read at the
  /// same position since the start is not read again before the interval is
  /// over, unless the stream has no position: then events may have been missed
  /// since, and the listing is read again after the one that is under way.
  effects on_wanted(const listing_id& what, const position& noted,
                    steady_time now, wall_time wall);

  /// The clock was behind and is right now. Revs beyond the clock are not
  /// believed, so all listings are compared once more.
  effects on_clock_set(steady_time now, wall_time wall);

  /// Whether a listing that began in this epoch of its upstream was compared,
  /// cut short or refused, or fails. Repos that it did not prove have to be
  /// proved in another way.
  bool is_compared(const listing_id& what, uint32_t epoch) const;

  /// A page needed this many requests beside its own.
  void on_asked(const listing_id& what, size_t requests, steady_time now) {
    host_of(what).budget.charge(now, requests);
  }

  /// A page came. A page with the same repos as one of the last accepted pages
  /// counts as a page without repos.
  /// @param repos Hashes of their DIDs, in any order.
  void on_lines(const listing_id& what, const std::vector<uint64_t>& repos);

  /// The whole page was taken, or it failed.
  /// @param lines The number of lines of the page.
  /// @param wait The time for which its host asked after a failure; 0: none.
  effects on_page(const listing_id& what, const result<std::string>& cursor,
                  size_t lines, steady_time now,
                  std::chrono::seconds wait = std::chrono::seconds{0});

  /// The whole page was judged, and taken if it is trusted. When its listing is
  /// to blame, it goes on with the next page, but only after a rest, whatever
  /// the host wishes. When the directory was wrong, the page is requested again
  /// after a rest that grows up to `limits::listing_mistrust_min`.
  effects on_verdict(const page_verdict& x, const std::string& cursor,
                     size_t lines, steady_time now);

  effects on_timer(const upstream_board& board, steady_time now,
                   wall_time wall);

  uint64_t finished() const noexcept { return finished_; }

private:
  struct state {
    bool running = false;
    bool in_run = false; ///< It is under way, though it may be resting.
    bool whole = false; ///< No page is missing so far.
    bool cut = false;   ///< It began again, and has not come to an end since.
    /// Wanted anew, at this position, after the present run.
    std::optional<position> again;
    std::chrono::seconds retry{0}; ///< The wait after the last page failed.
    bool known = false;  ///< It was wanted since the start.
    bool begins = false; ///< It begins anew when it is due, or else goes on.
    std::chrono::seconds mistrust{0}; ///< The last rest because of mistrust.
    std::chrono::seconds unproved{
      0}; ///< The last rest because of the directory.
    std::chrono::seconds missing{0}; ///< The last rest as it is not offered.
    std::optional<steady_time> rests_until;
    size_t pages = 0;
    size_t idle_pages = 0;
    seen_pages seen;       ///< The pages of this run.
    seen_names names;      ///< The names of this run.
    std::optional<uint64_t> print; ///< The hash of the page under way.
    std::optional<steady_time> due;
    /// The time of its end; it is due by interval.
    std::optional<steady_time> ended;
    /// The listing is due, and waits for its stream.
    struct patience {
      wall_time since;
      steady_time last;
    };
    std::optional<patience> waits;
    /// The epoch of the last listing that came to its end.
    uint32_t compared = 0;
    storage::listing_row row;

    /// The page that came was taken. A page that was not taken comes again with
    /// the same content, which does not count as a repetition.
    /// @returns whether an earlier page had the same repos
    bool take_print() {
      const auto x = std::exchange(print, std::nullopt);
      return x && seen.repeats(*x);
    }
  };

  /// What the listings of one upstream have in common.
  struct host_state {
    listing_budget budget;
    std::optional<steady_time> rests_until; ///< The host asked for it.
  };

  effects on_mistrust(const listing_id& what, const std::string& cursor,
                      steady_time now);
  effects on_unproved(const listing_id& what, steady_time now);
  host_state& host_of(const listing_id& what);
  effects ask(const listing_id& what, state& x, steady_time now);
  steady_time rest_of(const listing_id& what, const state& x) const;
  effects put_off(state& x, bool anew, steady_time until);
  void forget_run(state& x);
  effects resume(const listing_id& what, state& x, steady_time now);
  effects begin(const listing_id& what, state& x, const position& noted,
                steady_time now);
  effects finish_missing(const listing_id& what, state& x, steady_time now);
  effects rest(state& x, steady_time due);
  effects pause(state& x, std::chrono::seconds wait, steady_time now);
  static bool begins_again(state& x);
  effects await_stream(state& x, steady_time now, wall_time wall);
  bool may_begin(const listing_id& what, state& x, const upstream_board& board,
                 steady_time now) const;
  /// What is due by interval alone waits for the pause, and until the budget of
  /// its upstream has paid for all requests, but not longer than the interval.
  steady_time due_of(const listing_id& what, const state& x) const {
    auto out = *x.due;
    const auto i = hosts_.find(what.upstream);
    if (i == hosts_.end())
      return out;
    if (x.ended)
      out = std::max(out, std::min(std::max(i->second.budget.free_at(),
                                            *x.ended + options_.pause),
                                   *x.ended + options_.interval));
    return std::max(out, i->second.rests_until.value_or(steady_time{}));
  }

  /// The next rest, longer than the last one, which did not help.
  static std::chrono::seconds longer(std::chrono::seconds last,
                                     std::chrono::seconds least,
                                     std::chrono::seconds most) {
    return std::clamp(last * 2, least, std::max(least, most));
  }

  std::chrono::seconds retry_most(const listing_id& what);
  effects finish(const listing_id& what, state& x, std::chrono::seconds least,
                 steady_time now);
  effects take_failure(const listing_id& what, state& x, const error& why,
                       std::chrono::seconds wait, steady_time now);
  std::optional<steady_time> next_due() const;

  listing_options options_;
  std::map<listing_id, state> listings_;
  std::map<uint32_t, host_state> hosts_; ///< Keys: upstreams.
  uint64_t runs_ = 0;
  uint64_t finished_ = 0;
};

} // namespace weir::actors
