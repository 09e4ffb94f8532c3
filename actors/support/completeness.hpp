#pragma once

#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

/// The consistency model (completeness.md): when the copy of a repo is whole,
/// and why it is not. The REPO keeps the fields of the terms in its row
/// (`completeness_machine`); SUPERVISOR and the API read them.
namespace weir::actors::completeness {

/// The predicate with its terms; `complete` is their conjunction.
struct terms {
  bool covered = false; ///< An upstream has its host, connected or not.
  bool upstream_live = false;
  bool position_current = false; ///< repo.FCSR covers upstream.FCSR.
  bool first_rev_set = false;
  bool indexed_past_first_rev = false;
  bool filter_current = false;
  bool no_gap = false;
  bool synced = false;

  bool complete() const noexcept;
};

/// All terms, in the order in which they are shown.
struct term_name {
  const char* name;
  bool terms::* holds;
};

inline constexpr std::array all_terms{
  term_name{"covered", &terms::covered},
  term_name{"upstream_live", &terms::upstream_live},
  term_name{"position_current", &terms::position_current},
  term_name{"first_rev_set", &terms::first_rev_set},
  term_name{"indexed_past_first_rev", &terms::indexed_past_first_rev},
  term_name{"filter_current", &terms::filter_current},
  term_name{"no_gap", &terms::no_gap},
  term_name{"synced", &terms::synced},
};

/// Indexes of some of them.
inline constexpr size_t covered_term = 0;
static_assert(all_terms[covered_term].holds == &terms::covered);
inline constexpr size_t filter_current_term = 5;
static_assert(all_terms[filter_current_term].holds == &terms::filter_current);
inline constexpr size_t synced_term = 7;
static_assert(all_terms[synced_term].holds == &terms::synced);

/// @param upstream The accounting one; its `live` is not changed here.
terms explain(const storage::repo_row& row, const storage::chain_row* chain,
              const upstream_view& upstream, uint32_t filter_generation);

/// The accounting upstream of a repo at this host. It is `live` only when it is
/// read, everything that its host sent before the connection opened has
/// arrived, and it does not lag behind. Otherwise events of repos that look
/// whole may be on their way.
upstream_view accounting(const upstream_board& board, const std::string& pds,
                         steady_time now, wall_time wall);

/// The rev up to which everything is applied: that of the last full fetch, or
/// of the last event that followed on it.
atproto::tid last_rev(const storage::repo_row& row,
                      const storage::chain_row* chain);

/// Whether the last fetch ended after the first rev was made and did not bring
/// it: the downloads of the host lag behind, or what named the rev was wrong.
/// Until the pause is over (`limits::lacked_rev_pause`), no fetch would help,
/// nor while the rev is too far ahead of our clock (`limits::rev_future_max`).
/// @pre the copy has not reached `first_rev`
bool lacks_named_rev(const storage::repo_row& row, wall_time now) noexcept;

/// The reason, as a sentence with numbers, why a term does not hold. `term` is
/// an index of `all_terms`.
std::string reason(size_t term, const storage::repo_row& row,
                   const storage::chain_row* chain,
                   const upstream_view& upstream, uint32_t filter_generation);

/// Whether completeness matters for the repo: the copy of an inactive account
/// is not kept up to date.
inline bool counts(const storage::repo_row& row) noexcept {
  return row.account == storage::account_status::active;
}

} // namespace weir::actors::completeness
