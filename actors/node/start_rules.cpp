#include "actors/node/start_rules.hpp"

#include <algorithm>

namespace weir::actors {

storage::filter_row next_filter(const std::optional<storage::filter_row>& known,
                                const wire::collection_filter& wanted) {
  storage::filter_row out;
  if (!wanted.matches_all())
    out.collections = wanted.patterns();
  if (known)
    out.generation
      = known->generation + (out.collections == known->collections ? 0 : 1);
  return out;
}

bool is_outdated(const storage::repo_row& row, bool own_collections,
                 uint32_t generation) noexcept {
  return row.account == storage::account_status::active
         && row.status == storage::repo_status::synced
         && row.filter_generation != generation && !own_collections;
}

std::vector<storage::upstream_row>
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

} // namespace weir::actors
