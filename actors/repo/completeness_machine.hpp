#pragma once

#include "actors/support/completeness.hpp"
#include "actors/support/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>

/// How events, listings and fetches change the proof in a row: its position and
/// first rev, which nothing else sets (completeness.md).
namespace weir::actors::completeness {

/// Whether an event with this stamp would change nothing (CONS-19).
inline bool is_noted(const storage::repo_row& row,
                     const position& since_reset) {
  return !since_reset.defined()
         || (row.fcsr.covers(since_reset) && row.first_rev.defined());
}

/// A commit of the accounting upstream was applied or seen (CONS-19 to 21).
/// @param since_reset Since when its stream has no gap (docs/completeness.md).
/// @param rev The rev of the event.
/// @param always True when the event does not contain its changes, as in a
/// tooBig commit: only an index of its rev makes the copy whole (CONS-21).
/// @returns true when the row changed and must be written.
inline bool on_event(storage::repo_row& row, const position& since_reset,
                     atproto::tid rev, bool always = false) {
  if (!since_reset.defined() || (!always && is_noted(row, since_reset)))
    return false; // CONS-19: the write that is saved.
  row.first_rev = rev;
  if (!row.fcsr.covers(since_reset))
    row.fcsr = since_reset;
  return true;
}

/// A listing or latest-commit answer for this repo, requested when the upstream
/// stood at `noted` (CONS-25; completeness.md, The terms). An equal rev proves
/// that the copy of a quiet repo is whole. If another rev had been named that a
/// fetch did not bring, an equal rev counts only a while after that fetch, as
/// the listing may lag behind the stream like the download.
inline bool on_listed(storage::repo_row& row, const position& noted,
                      atproto::tid listed, atproto::tid stored,
                      wall_time now) {
  const auto raises = !row.fcsr.covers(noted);
  const std::chrono::seconds since_fetch{now.seconds() - row.last_sync};
  const auto takes_back = since_fetch >= limits::lacked_rev_pause
                          && (raises || noted.covers(row.fcsr));
  const auto is_proof
    = listed == stored && (row.first_rev > stored ? takes_back : raises);
  if (!noted.defined() || (row.first_rev.defined() && !is_proof))
    return false;
  row.first_rev = listed;
  row.fcsr = noted;
  return true;
}

/// This upstream reports the repo, so it does not leave it out any more.
/// @returns true when the row changed and must be written.
inline bool on_carried(storage::repo_row& row, uint32_t by) noexcept {
  if (by == 0 || row.left_out_by != by)
    return false;
  row.left_out_by = 0;
  return true;
}

/// Whether a repo must be fetched although its status is in sync: it was never
/// indexed, or not since its upstream reported its first rev (CONS-27, 28).
/// @param applied The rev of the copy, durable or on its way to the disk.
inline bool needs_index(const storage::repo_row& row, atproto::tid applied) {
  return counts(row) && row.status == storage::repo_status::synced
         && (!row.last_indexed_rev.defined()
             || std::max(row.last_indexed_rev, applied) < row.first_rev);
}

/// A full fetch ended at `rev` (CONS-14). The position of the row is raised
/// to the one that was noted before the fetch, and never lowered. A rev that
/// was named and that the host did not serve is not proved, so the copy is
/// accepted, but it is not whole before the rev comes or a listing takes it
/// back.
inline void on_indexed(storage::repo_row& row, const position& noted,
                       atproto::tid rev, uint32_t filter_generation) {
  row.last_indexed_rev = rev;
  row.filter_generation = filter_generation;
  if (noted.defined()) {
    const auto raised = !row.fcsr.covers(noted);
    if (row.fcsr.upstream != noted.upstream)
      row.first_rev = {}; // What another upstream named does not count.
    if (raised || !row.first_rev.defined())
      row.first_rev = std::max(row.first_rev, rev);
    if (raised)
      row.fcsr = noted;
  }
  if (row.first_rev.defined() && row.listed_rev > rev)
    row.first_rev = std::max(row.first_rev, row.listed_rev);
}

/// The copy is gone, or depended on what was not written.
inline void forget(storage::repo_row& row) noexcept {
  row.first_rev = {};
  row.fcsr = {};
}

} // namespace weir::actors::completeness
