#pragma once

#include "actors/identity/limits.hpp"
#include "atproto/directory_export.hpp"
#include "atproto/limits.hpp"
#include "base/clock.hpp"
#include "base/token_bucket.hpp"
#include "storage/format/records.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

struct export_options {
  /// Origin of the directory; empty: its export is not read.
  std::string directory;
  size_t wanted_min = limits::export_wanted_min;
  std::chrono::seconds fresh = limits::export_fresh;
};

/// Reads the directory's export when single look-ups have cost as much as the
/// export would. Nobody knows how many look-ups will follow, so this rule keeps
/// the cost below twice the least possible one
/// (docs/adr/0015-the-export-of-the-directory.md).
///
/// One request first asks whether the export ends within what is worth its
/// cost. Then the export is read page by page, beginning at the place in the
/// store. Each page begins with the operation that was read last, so that a
/// renumbered export is noticed. The last operation of each DID is kept in a
/// table of its own. Nothing of it counts before the export was read to its
/// end. Then it counts like a look-up at that moment, for
/// `limits::export_fresh`. While many names are wanted, the export is read on;
/// otherwise rows that are too old, or were never read to the end, are removed.
///
/// # Threads
/// A value for one thread. No clock, disk or network.
class export_machine {
public:
  /// Asks for a page: at most `lines` operations after `after`.
  struct request {
    uint64_t after = 0;
    size_t lines = 0;
  };

  struct effects {
    /// Read the place and some names from the store for `on_stored`.
    bool list = false;
    std::optional<request> ask{}; ///< Ends with `on_page` or `on_failed`.
    /// Write `rows` and `place` together, then call `on_durable` for a place.
    std::vector<std::pair<atproto::did, std::optional<storage::identity_row>>>
      rows{};
    std::optional<storage::export_row> place{};
    bool whole = false;    ///< From now on the rows that were read count.
    std::string refused{}; ///< Why it is not read, when the reason is new.
    std::optional<steady_time> timer{}; ///< Call `look` then.
  };

  explicit export_machine(export_options options)
    : options_(std::move(options)) {}

  effects start() const { return {.list = true}; }

  /// @param names The first DIDs that the store has exported rows of.
  effects on_stored(const storage::export_row& place,
                    const std::vector<atproto::did>& names, steady_time now);

  /// The store has no row of a repo.
  void on_newcomer() noexcept { ++newcomers_; }

  /// Decides whether there is something to do.
  /// @param waiting Documents that wait. When more newcomers came since the
  /// export was read, their number counts: as many may follow.
  /// @param limited The directory must not be asked yet.
  /// @param room Without it nothing is requested either.
  effects look(size_t waiting, bool limited, bool room, steady_time now,
               wall_time wall);

  effects on_page(const std::vector<atproto::exported_operation>& operations,
                  steady_time now);

  effects on_failed(const error& why, steady_time now);

  effects on_durable(steady_time now);

  /// The time, in Unix seconds, at which the stored export was valid; none: it
  /// does not count. It is never so late that the export would name the current
  /// hosts (`limits::identity_current`): the directory may make its export only
  /// now and then, and before an account counts as inactive its document must
  /// be looked up.
  std::optional<int64_t> as_of(wall_time wall) const;

  /// Number of operations that this process has read and written.
  uint64_t operations() const noexcept { return operations_; }

private:
  enum class phase : uint8_t {
    loading,
    idle,
    probing, ///< Asks whether the export ends within what is worth its cost.
    pausing, ///< It waits before the next page.
    reading,
    storing,
    clearing
  };

  bool may_begin(size_t wanted, steady_time now, wall_time wall) const;
  bool is_left(size_t wanted, steady_time now, wall_time wall) const;
  effects begin(size_t wanted, steady_time now);
  effects next_page(bool rests, steady_time now, wall_time wall);
  effects clear(std::string why, steady_time now) {
    auto out = why.empty() ? effects{} : refuse(std::move(why), now);
    at_ = phase::clearing;
    out.list = true;
    return out;
  }
  effects refuse(std::string why, steady_time now);

  /// Whether a page begins with the operation that was read last.
  bool goes_on_from(
    const std::vector<atproto::exported_operation>& operations) const {
    return place_.place == 0
           || (!operations.empty() && operations.front().number == place_.place
               && operations.front().id == place_.last);
  }

  export_options options_;
  phase at_ = phase::loading;
  size_t newcomers_ = 0; ///< New DIDs since the export was read.
  storage::export_row place_;
  token_bucket pages_{limits::export_pages_per_second,
                      limits::export_pages_at_once};
  size_t lines_ = limits::export_page_lines;
  size_t operations_left_ = 0; ///< More are not worth their cost.
  size_t requests_left_ = 0;
  bool ends_ = false;    ///< The page that is being stored was the last one.
  int64_t asked_at_ = 0; ///< Unix seconds; when the current page was requested.
  size_t wanted_ = 0;    ///< Value at the last begin.
  size_t too_long_for_ = 0; ///< Value of `wanted` then; 0: it was not too long.
  steady_time idle_since_;
  std::optional<steady_time> rests_until_;
  std::chrono::microseconds pause_ = limits::export_pause_min;
  std::string reported_; ///< The last reason for not reading.
  uint64_t operations_ = 0;
};

} // namespace weir::actors
