#pragma once

#include "actors/support/completeness.hpp"
#include "storage/format/records.hpp"

/// What events, listings and fetches do to the terms of completeness
/// (completeness.md, The terms).
namespace weir::actors::completeness {

/// Whether an event with this stamp has nothing to add (CONS-19).
bool is_noted(const storage::repo_row& row, const position& since_reset);

/// A commit of the accounting upstream was applied or seen (CONS-19 to 21).
/// @param since_reset The stamp's first_cursor_since_reset.
/// @param rev Of the event.
/// @param always Its changes are not in it, as in a tooBig commit: what is here
///        is whole again when an index reaches its rev (CONS-21).
/// @returns true when the row changed and must be written.
bool on_event(storage::repo_row& row, const position& since_reset,
              atproto::tid rev, bool always = false);

/// A listing or latest-commit answer for this repo, taken when the upstream
/// stood at `noted` (CONS-25; completeness.md, The terms): an equal rev proves
/// a quiet repo whole.
bool on_listed(storage::repo_row& row, const position& noted,
               atproto::tid listed, atproto::tid stored);

/// This upstream tells of the repo, so it does not leave it out.
/// @returns true when the row changed and must be written.
bool on_carried(storage::repo_row& row, uint32_t by) noexcept;

/// Whether a repo is in sync by its status and has to be fetched all the same:
/// it never was, or not since its upstream told its first rev (CONS-27, 28).
/// @param applied The rev of what is here, written or on its way to the disk.
bool needs_index(const storage::repo_row& row, atproto::tid applied);

/// A full fetch ended at `rev` (CONS-14, 1b.7): the position noted before the
/// fetch may be raised to, never lowered.
void on_indexed(storage::repo_row& row, const position& noted,
                atproto::tid rev, uint32_t filter_generation);

} // namespace weir::actors::completeness
