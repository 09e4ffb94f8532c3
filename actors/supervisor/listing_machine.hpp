#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_streams.hpp"
#include "actors/supervisor/listing_budget.hpp"
#include "actors/supervisor/seen_names.hpp"
#include "actors/supervisor/seen_pages.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

struct listing_options {
  /// The longest time from one audit of an upstream to the next.
  std::chrono::seconds interval = limits::listing_interval_range.standard;
  /// What all listings of an upstream may ask for on average: short ones come
  /// again sooner.
  size_t requests_per_hour = limits::listing_requests_range.standard;
  /// The shortest time from the end of one to the next, however short it is.
  std::chrono::seconds pause = limits::listing_pause_range.standard;
  /// A stream that is quiet for so long has told all.
  std::chrono::seconds grace = limits::listing_grace_range.standard;
  /// Rest of a listing that is not trusted; doubles with each further page.
  std::chrono::seconds mistrust_min = limits::listing_mistrust_min;
  /// After a failed page, or a listing that is not offered; doubles with each
  /// further one.
  std::chrono::seconds retry_min = limits::listing_retry_min;
  std::chrono::seconds retry_max = limits::listing_retry_max;
  size_t pages_max = limits::listing_pages_max;
  size_t idle_pages_max = limits::listing_idle_pages_max;
  uint64_t salt = 0; ///< Of `seen_names`.
};

/// Which repos: all of an upstream, or those with records in a collection.
struct listing_id {
  uint32_t upstream = 0;
  std::string collection; ///< Empty: all.

  friend auto operator<=>(const listing_id&, const listing_id&) = default;
};

/// Pages through `listRepos` and `listReposByCollection` of each upstream, one
/// page at a time, again when events may have been missed, soon after each
/// start of the node and by interval (protocol-coverage.md 9,
/// hostile-inputs.md 2.1.29: endless listings; completeness.md, The terms).
///
/// What was never listed is listed at once. Later a listing waits until the
/// stream has told what its host knew: of a stream that lags behind most repos
/// would differ, and their events are on their way. It waits for at most
/// `limits::listing_doubt_max`.
///
/// A listing goes on after a failure or a restart where it was: its row is
/// written when all repos of a page have been taken. It is read as fast as it
/// comes, however long it is, as long as it names repos that it did not name
/// before. All listings of an upstream share one budget: what is due only by
/// interval waits for it, and also when their host asks us to wait, they do.
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
    std::optional<request> fetch;
    std::optional<row> write;
    std::optional<steady_time> timer;
    bool finished = false; ///< It came to its end.
    bool audited = false;  ///< Its host's: it was not cut short, nor refused.
    bool cut_short = false; ///< It had no end, or named nobody new any more.
    std::optional<listing_id> whole; ///< It named all there are, in one run.
  };

  explicit listing_machine(listing_options options) : options_(options) {
    // nop
  }

  /// What an earlier start wrote.
  void restore(row known);

  /// Repos are to be compared at this position. What was listed at the same
  /// one since the start is not listed again before the interval is over,
  /// unless the stream has none: events may have been missed since, so it is
  /// listed again, when the listing that runs is through.
  effects on_wanted(const listing_id& what, const position& noted,
                    steady_time now, wall_time wall);

  /// The clock was behind and is right now. What a listing shows is not believed
  /// while it lies beyond the clock, so all are compared once more.
  effects on_clock_set(steady_time now, wall_time wall);

  /// Whether one that began in this epoch of its upstream was compared, cut
  /// short or refused, or fails: who was left out of it is to be proved in
  /// another way.
  bool is_compared(const listing_id& what, uint32_t epoch) const;

  /// So many requests more were made for a page than the one for itself.
  void on_asked(const listing_id& what, size_t requests, steady_time now) {
    host_of(what).budget.charge(now, requests);
  }

  /// A page came. One with the same repos as one of the last pages that were
  /// taken counts as one without any.
  /// @param repos Hashes of their DIDs, in any order.
  void on_lines(const listing_id& what, const std::vector<uint64_t>& repos);

  /// All of a page was taken, or it failed.
  /// @param lines Of the page.
  /// @param wait What its host asks for when it failed; 0: nothing.
  effects on_page(const listing_id& what, const result<std::string>& cursor,
                  size_t lines, steady_time now,
                  std::chrono::seconds wait = std::chrono::seconds{0});

  /// What a page claims is mostly not so: its listing goes on behind it, but
  /// not before a rest, whatever the host wishes.
  effects on_mistrust(const listing_id& what, const std::string& cursor,
                      steady_time now);

  /// A page claims what the directory does not know, because it is wrong: the
  /// page comes again, after a rest that grows up to `mistrust_min`.
  effects on_unproved(const listing_id& what, steady_time now);

  effects on_timer(const upstream_board& board, steady_time now,
                   wall_time wall);

  uint64_t finished() const noexcept { return finished_; }

private:
  struct state {
    bool running = false;
    bool in_run = false; ///< It is under way, though it may rest.
    bool whole = false; ///< No page is missing so far.
    bool cut = false;   ///< It began again, and did not come to an end since.
    std::optional<position> again; ///< Wanted anew, at this position.
    std::chrono::seconds retry{0}; ///< The wait after the last page failed.
    bool known = false;  ///< Wanted since the start.
    bool begins = false; ///< Anew when it is due; else where it was.
    std::chrono::seconds mistrust{0}; ///< The last rest because of it.
    std::chrono::seconds doubt{0};    ///< The same, of the directory.
    std::chrono::seconds missing{0};  ///< The same, since it is not offered.
    std::optional<steady_time> rests_until;
    size_t pages = 0;
    size_t idle_pages = 0;
    seen_pages seen;       ///< Of this run.
    seen_names names;      ///< Of this run.
    std::optional<uint64_t> print; ///< Of the page that came, and is not taken.
    std::optional<steady_time> due;
    /// It came to its end, and is due by interval: when there is budget.
    std::optional<steady_time> ended;
    /// Due, and waiting for its stream.
    struct patience {
      wall_time since;
      steady_time last;
    };
    std::optional<patience> waits;
    uint32_t compared = 0; ///< Epoch of the last one that came to its end.
    storage::listing_row row;

    /// The page that came was taken. One that was not is the same when it comes
    /// again, and does not count as one that came before.
    /// @returns whether an earlier one had the same repos
    bool take_print() {
      const auto x = std::exchange(print, std::nullopt);
      return x && seen.repeats(*x);
    }
  };

  /// What the listings of one upstream have in common.
  struct host_state {
    listing_budget budget;
    std::optional<steady_time> rests_until; ///< As it asked.
  };

  host_state& host_of(const listing_id& what);
  effects ask(const listing_id& what, state& x, steady_time now);
  steady_time rest_of(const listing_id& what, const state& x) const;
  effects put_off(state& x, bool anew, steady_time until);
  void forget_run(state& x);
  effects resume(const listing_id& what, state& x, steady_time now);
  effects begin(const listing_id& what, state& x, const position& noted,
                steady_time now);
  effects finish_missing(const listing_id& what, state& x, steady_time now);
  effects rest(state& x, std::chrono::microseconds wait, steady_time now);
  effects pause(state& x, std::chrono::seconds wait, steady_time now);
  static bool begins_again(state& x);
  effects await_stream(state& x, steady_time now, wall_time wall);
  bool may_begin(const listing_id& what, state& x, const upstream_board& board,
                 steady_time now) const;
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

  /// The rest after one that did no good.
  std::chrono::seconds longer(std::chrono::seconds last) const {
    return std::clamp(last * 2, options_.mistrust_min,
                      std::max(options_.mistrust_min, options_.interval));
  }

  std::chrono::seconds retry_most(const listing_id& what);
  effects finish(const listing_id& what, state& x, std::chrono::seconds least,
                 steady_time now);
  effects take_failure(const listing_id& what, state& x, const error& why,
                       std::chrono::seconds wait, steady_time now);
  std::optional<steady_time> next_due() const;

  listing_options options_;
  std::map<listing_id, state> listings_;
  std::map<uint32_t, host_state> hosts_; ///< By upstream.
  uint64_t runs_ = 0;
  uint64_t finished_ = 0;
};

} // namespace weir::actors
