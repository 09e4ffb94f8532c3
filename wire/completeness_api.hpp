#pragma once

#include "atproto/identifiers.hpp"
#include "base/position.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Bodies of the routes that say whether copies are whole, and why not
/// (completeness.md, Asking).
namespace weir::wire {

/// One term of the predicate.
struct term_view {
  std::string_view name;
  bool holds = false;
  std::string reason; ///< In words; of a term that does not hold.
};

/// The reasons of all that do not hold; empty: every term holds.
std::string reasons_of(std::span<const term_view> terms);

/// The upstream by whose stream a copy is judged.
struct completeness_upstream {
  uint32_t id = 0; ///< 0: none covers the repo.
  std::string_view origin;
  bool relay = false;
  bool connected = false;
  position since;        ///< Without a hole since then; undefined: unset.
  uint64_t received = 0; ///< The last seq that came.
  uint64_t cursor = 0;   ///< All at or below is done.
  int64_t audited = 0;   ///< When a listing of it was last compared; 0: never.
};

/// `GET /v1/repos/:did/completeness`. Borrows; what is unset is null.
struct completeness_view {
  std::string_view did;
  std::string_view status;
  std::string_view account;
  bool active = true; ///< Else nothing is kept up, and `complete` is null.
  std::span<const term_view> terms;
  completeness_upstream upstream;
  position proved;              ///< Of the repo.
  atproto::tid first_rev;       ///< CONS-07
  atproto::tid last_indexed_rev; ///< CONS-06
  atproto::tid last_stream_rev; ///< CONS-09
  atproto::tid last_rev;        ///< All through this is applied.
  uint32_t filter = 0;          ///< It was fetched under.
  uint32_t filter_in_force = 0;
  int64_t last_sync = 0;
};

void append_completeness(const completeness_view& x, std::string& out);

/// Counts of some repos.
struct completeness_counts {
  uint64_t active = 0;
  uint64_t complete = 0;
  /// By term, those that are not zero; a repo may lack several.
  std::vector<std::pair<std::string_view, uint64_t>> without;
  std::string_view oldest; ///< Incomplete and fetched the longest ago.
  int64_t oldest_sync = 0;
};

struct host_counts {
  std::string_view host;
  completeness_counts counts;
};

/// `GET /v1/completeness`: the node and one page of hosts. Borrows.
struct completeness_summary {
  int64_t as_of = 0; ///< Unix seconds; 0: nobody has counted yet.
  completeness_counts all;
  std::vector<host_counts> hosts;
  std::optional<completeness_counts> others; ///< Hosts beyond the bound.
  /// Repos whose host is not known yet.
  std::optional<completeness_counts> unresolved;
  std::string_view cursor; ///< Of the next page; empty: this is the last.
};

void append_summary(const completeness_summary& x, std::string& out);

/// The short form: `{"as_of":..,"active":..,"complete":..,"incomplete":..}`.
void append_short(int64_t as_of, const completeness_counts& x,
                  std::string& out);

} // namespace weir::wire
