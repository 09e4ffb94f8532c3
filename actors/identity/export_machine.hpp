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
  std::string directory; ///< Its origin; empty: its export is not read.
  size_t wanted_min = limits::export_wanted_min;
  std::chrono::seconds fresh = limits::export_fresh;
};

/// Reads the directory's export when single look-ups have cost as much as it
/// would: how many more there will be nobody knows, and so the cost is never more
/// than twice the least (docs/adr/0015-the-export-of-the-directory.md).
///
/// One request asks first whether the export ends within what is worth it. Then
/// it is read page by page, from the place that the store has on, each page
/// beginning with the operation that was read last, so that an export that was
/// numbered anew is noticed. What the pages say is kept in a table of its own,
/// the last operation of each DID; nothing of it counts before the export was
/// read to its end, and then it counts as if looked up at that moment, for
/// `limits::export_fresh`. While many are wanted it is read on; else what has
/// become too old, or was never read to the end, is forgotten.
///
/// # Threads
/// A value for one thread. No clock, disk or network.
class export_machine {
public:
  /// A page: operations behind `after`, at most so many.
  struct request {
    uint64_t after = 0;
    size_t lines = 0;
  };

  struct effects {
    bool list = false;          ///< `on_stored` wants the place and some names.
    std::optional<request> ask; ///< Ends with `on_page` or `on_failed`.
    /// To be written together; `on_durable` waits for it when there is a place.
    std::vector<std::pair<atproto::did, std::optional<storage::identity_row>>>
      rows;
    std::optional<storage::export_row> place;
    bool whole = false;               ///< What was read counts from now on.
    std::string refused;              ///< Why it is not read, when that is new.
    std::optional<steady_time> timer; ///< For `look`.
  };

  explicit export_machine(export_options options);

  effects start();

  /// @param names The first DIDs that the store has something of.
  effects on_stored(const storage::export_row& place,
                    const std::vector<atproto::did>& names, steady_time now);

  /// Whether there is something to do.
  /// @param wanted Documents that had to be looked up so far, or wait for it: as
  /// many may follow.
  /// @param rests Nothing is asked for: the directory limits us, or there is no
  /// room for more.
  effects look(size_t wanted, bool rests, steady_time now, wall_time wall);

  effects on_page(const std::vector<atproto::exported_operation>& operations,
                  steady_time now);

  effects on_failed(const error& why, steady_time now);

  effects on_durable(steady_time now);

  /// When what the store has of the export was true, in Unix seconds; none: it
  /// does not count. Never so late that it would name the current hosts
  /// (`limits::identity_current`): an export may be made now and then, and before
  /// an account is believed to be away the directory is asked for its document.
  std::optional<int64_t> as_of(wall_time wall) const;

  /// Operations that were read and written by this life.
  uint64_t operations() const noexcept { return operations_; }

private:
  enum class phase : uint8_t {
    loading,
    idle,
    probing, ///< Does it end within what is worth it?
    pausing, ///< Before the next page.
    reading,
    storing,
    clearing
  };

  bool may_begin(size_t wanted, steady_time now, wall_time wall) const;
  bool is_left(size_t wanted, steady_time now, wall_time wall) const;
  effects begin(size_t wanted, steady_time now);
  effects next_page(bool rests, steady_time now, wall_time wall);
  effects forget(const std::vector<atproto::did>& names);
  effects clear(std::string why, steady_time now);
  effects refuse(std::string why, steady_time now);
  bool goes_on_from(
    const std::vector<atproto::exported_operation>& operations) const;

  export_options options_;
  phase at_ = phase::loading;
  storage::export_row place_;
  token_bucket pages_{limits::export_pages_per_second,
                      limits::export_pages_at_once};
  size_t lines_ = limits::export_page_lines;
  size_t operations_left_ = 0; ///< Of what is worth it.
  size_t requests_left_ = 0;
  bool ends_ = false;       ///< The page that is being stored was the last one.
  int64_t asked_at_ = 0;    ///< Unix seconds, of the page that is being read.
  size_t wanted_ = 0;       ///< When it was last begun.
  size_t too_long_for_ = 0; ///< So many were wanted; 0: it was not too long.
  steady_time idle_since_;
  std::optional<steady_time> rests_until_;
  std::chrono::microseconds pause_ = limits::export_pause_min;
  std::string told_; ///< The last reason.
  uint64_t operations_ = 0;
};

} // namespace weir::actors
