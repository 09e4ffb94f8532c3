#pragma once

#include "actors/support/completeness.hpp"
#include "storage/format/records.hpp"

/// How events, listings and fetches change the completeness fields of a row
/// (completeness.md, The terms).
namespace weir::actors::completeness {

/// Whether an event with this stamp would change nothing (CONS-19).
bool is_noted(const storage::repo_row& row, const position& since_reset);

/// A commit of the accounting upstream was applied or seen (CONS-19 to 21).
/// @param since_reset The stamp's first_cursor_since_reset.
/// @param rev The rev of the event.
/// @param always True when the event does not contain its changes, as in a
/// tooBig commit: the copy is whole again only when an index reaches its rev
/// (CONS-21).
/// @returns true when the row changed and must be written.
bool on_event(storage::repo_row& row, const position& since_reset,
              atproto::tid rev, bool always = false);

/// A listing or latest-commit answer for this repo, requested when the upstream
/// stood at `noted` (CONS-25; completeness.md, The terms). An equal rev proves
/// that the copy of a quiet repo is whole.
bool on_listed(storage::repo_row& row, const position& noted,
               atproto::tid listed, atproto::tid stored);

/// This upstream reports the repo, so the note that it leaves the repo out is
/// removed.
/// @returns true when the row changed and must be written.
bool on_carried(storage::repo_row& row, uint32_t by) noexcept;

/// Whether a repo must be fetched although its status is in sync: it was never
/// indexed, or not since its upstream reported its first rev (CONS-27, 28).
/// @param applied The rev of the copy, durable or on its way to the disk.
bool needs_index(const storage::repo_row& row, atproto::tid applied);

/// A full fetch ended at `rev` (CONS-14, 1b.7). The position of the row is
/// raised to the one that was noted before the fetch, and never lowered.
void on_indexed(storage::repo_row& row, const position& noted,
                atproto::tid rev, uint32_t filter_generation);

} // namespace weir::actors::completeness
