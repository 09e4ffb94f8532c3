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

/// Bodies of the routes that say whether copies of repos are complete, and why
/// not (CONS-10 to 13; docs/completeness.md).
namespace weir::wire {

/// One of the conditions that together make a copy complete.
struct term_view {
  std::string_view name;
  bool holds = false;
  /// Why the condition does not hold, in words; else empty.
  std::string reason;
};

/// Joins the reasons of all terms that do not hold; empty when all hold.
std::string reasons_of(std::span<const term_view> terms);

/// The upstream whose stream keeps the copy up to date.
struct completeness_upstream {
  uint32_t id = 0; ///< 0 when no upstream covers the repo.
  std::string_view origin;
  bool relay = false;
  bool connected = false;
  /// The stream has no hole since here; undefined when unknown.
  position since;
  uint64_t received = 0; ///< The last seq that was received.
  uint64_t cursor = 0;   ///< Everything up to this seq is processed.
  /// The last time that its listing was compared, in Unix seconds; 0: never.
  int64_t audited = 0;
};

/// Body of `GET /v1/repos/:did/completeness`. Borrows. Unset values become
/// null.
struct completeness_view {
  std::string_view did;
  std::string_view status;
  std::string_view account;
  bool active = true; ///< If false, nothing is kept up and `complete` is null.
  std::span<const term_view> terms;
  completeness_upstream upstream;
  position proved;               ///< The repo's position (CONS-08).
  atproto::tid first_rev;        ///< The first rev (CONS-07).
  atproto::tid last_indexed_rev; ///< The rev of the last fetch (CONS-06).
  atproto::tid last_stream_rev;  ///< The last streamed rev (CONS-09).
  atproto::tid last_rev;         ///< Everything up to this rev is applied.
  uint32_t filter = 0; ///< Generation of the filter that it was fetched with.
  uint32_t filter_in_force = 0;
  int64_t last_sync = 0;
};

void append_completeness(const completeness_view& x, std::string& out);

/// Counts over a set of repos.
struct completeness_counts {
  uint64_t active = 0;
  uint64_t complete = 0;
  /// How many repos fail each term; terms that none fails are left out. A repo
  /// may fail several.
  std::vector<std::pair<std::string_view, uint64_t>> without;
  /// The incomplete repo that was fetched longest ago.
  std::string_view oldest;
  int64_t oldest_sync = 0;
};

struct host_counts {
  std::string_view host;
  completeness_counts counts;
};

/// Body of `GET /v1/completeness`: the node and one page of hosts. Borrows.
struct completeness_summary {
  int64_t as_of = 0; ///< Unix seconds; 0 before the first count.
  completeness_counts all;
  std::vector<host_counts> hosts;
  /// Counts of the hosts beyond the limit.
  std::optional<completeness_counts> others;
  /// Counts of repos whose host is not known yet.
  std::optional<completeness_counts> unresolved;
  std::string_view cursor; ///< Cursor of the next page; empty on the last page.
};

void append_summary(const completeness_summary& x, std::string& out);

/// Appends `{"as_of":..,"active":..,"complete":..,"incomplete":..}`.
void append_short(int64_t as_of, const completeness_counts& x,
                  std::string& out);

} // namespace weir::wire
