#pragma once

#include "actors/support/upstream_view.hpp"
#include "storage/records.hpp"

#include <string>
#include <vector>

/// The consistency model (requirements.md part 1): when is the copy of a repo
/// whole, and why not.
namespace weir::actors::completeness {

/// The predicate with its terms; `complete` is their conjunction.
struct terms {
  bool covered = false; ///< By an upstream, be it connected or not.
  bool upstream_live = false;
  bool position_current = false; ///< repo.FCSR reaches upstream.FCSR.
  bool first_rev_set = false;
  bool indexed_past_first_rev = false;
  bool filter_current = false;
  bool no_gap = false;
  bool synced = false;

  bool complete() const noexcept;

  /// Names of the terms that do not hold.
  std::vector<std::string> why_not() const;
};

terms explain(const storage::repo_row& row, const storage::chain_row* chain,
              const upstream_view& upstream, uint32_t filter_generation);

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
/// stood at `noted` (CONS-25; requirements.md 1b.6, 1b.15): an equal rev proves
/// a quiet repo whole.
bool on_listed(storage::repo_row& row, const position& noted,
               atproto::tid listed, atproto::tid stored);

/// A full fetch ended at `rev` (CONS-14, 1b.7): the position noted before the
/// fetch may be raised to, never lowered.
void on_indexed(storage::repo_row& row, const position& noted,
                atproto::tid rev, uint32_t filter_generation);

} // namespace weir::actors::completeness
