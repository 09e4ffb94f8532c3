#pragma once

#include "actors/support/limits_health.hpp"
#include "base/random.hpp"
#include "storage/format/records.hpp"
#include "wire/filter.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::actors {

// What a new life of the process makes of the rows that the store has from
// earlier ones. Without disk, clock or CAF; `store_set` reads and writes, and
// the health watch reads.

/// The row of the collection filter. A filter that differs from the stored one
/// gets the next generation, so that each repo can say under which filter it
/// was indexed (completeness.md, The terms).
/// @param known The stored row; none in a new store.
inline storage::filter_row
next_filter(const std::optional<storage::filter_row>& known,
            const wire::collection_filter& wanted) {
  storage::filter_row out;
  if (!wanted.matches_all())
    out.collections = wanted.patterns();
  if (known)
    out.generation
      = known->generation + (out.collections == known->collections ? 0 : 1);
  return out;
}

/// Whether the repo is whole, but under another filter than the present one. A
/// repo with its own collections does not follow the filter.
/// @param generation The number of the present filter.
inline bool is_outdated(const storage::repo_row& row, bool own_collections,
                        uint32_t generation) noexcept {
  return row.account == storage::account_status::active
         && row.status == storage::repo_status::synced
         && row.filter_generation != generation && !own_collections;
}

/// The rows of the configured streams, in their order. A stream that was read
/// before keeps its id and its position; ids are never given to other streams.
/// @param wanted Only `url` and `relay` of each are set.
inline std::vector<storage::upstream_row>
rows_of_streams(const std::vector<storage::upstream_row>& known,
                std::vector<storage::upstream_row> wanted) {
  uint32_t last_id = 0;
  for (const auto& x : known)
    last_id = std::max(last_id, x.id);
  for (auto& x : wanted) {
    const auto i = std::ranges::find_if(known, [&x](const auto& row) {
      return row.url == x.url && row.relay == x.relay;
    });
    if (i != known.end())
      x = *i;
    else
      x.id = ++last_id;
  }
  return wanted;
}

/// A place among the names of repos, where the store is read for accounts that
/// are used to test the directory.
struct test_place {
  atproto::did after;
  size_t repos = 1; ///< Number of repos that are read from there.
};

/// Each account is drawn separately, at random among the names of the
/// directory: otherwise someone who makes names that lie close together could
/// own all of them. A store with few repos is read from its beginning, too.
inline std::vector<test_place> draw_test_places(random_source& random) {
  constexpr std::string_view letters = "234567abcdefghijklmnopqrstuvwxyz";
  std::vector<test_place> out(limits::health_known_max);
  for (auto& x : out) {
    std::string name = "did:plc:";
    for (size_t i = 0; i < 24; ++i)
      name += letters[random.below(letters.size())];
    x.after = atproto::did::trusted(name);
  }
  out.push_back({{}, limits::health_known_max});
  return out;
}

/// Whether the account of a synced repo is used to test the directory.
inline bool tests_directory(const storage::repo_row& row) noexcept {
  return row.account == storage::account_status::active;
}

} // namespace weir::actors
