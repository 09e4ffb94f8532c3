#include "tests/sim/positions.hpp"

#include "atproto/frame.hpp"
#include "storage/collection_table.hpp"
#include "storage/repo_table.hpp"
#include "storage/upstream_table.hpp"

#include <map>
#include <variant>

namespace weir::sim {

namespace {

using revs = std::map<std::string, atproto::tid>; ///< By DID.

/// Of each account the last commit after `from` and up to `to`.
revs last_commits(const simnet::event_log& log, uint64_t from, uint64_t to) {
  revs out;
  const auto frames = log.read(static_cast<int64_t>(from), SIZE_MAX, SIZE_MAX);
  for (const auto& x : frames) {
    if (static_cast<uint64_t>(x.seq) > to)
      break;
    const auto event = atproto::decode_frame(x.frame.view());
    if (!event)
      continue;
    if (const auto* commit = std::get_if<atproto::commit_event>(&*event))
      out[commit->repo.str()] = commit->rev;
  }
  return out;
}

simnet::event_log* log_of(const std::string& origin, simnet::world& world,
                          const simnet::network_urls& urls) {
  if (origin == urls.relay)
    return world.relay_log();
  for (size_t i = 0; i < urls.hosts.size(); ++i)
    if (origin == urls.hosts[i])
      return &world.host_log(i);
  return nullptr;
}

/// Nothing says that the copy may lack something.
bool claims_all(const storage::repo_row& row) {
  return row.status == storage::repo_status::synced
         && row.account == storage::account_status::active && !row.gap
         && !row.identity_due && row.refused_by == 0
         && !row.missed_rev.defined() && !row.listed_rev.defined();
}

} // namespace

std::string position_ahead(const storage::database& db, simnet::world& world,
                           const simnet::network_urls& urls) {
  const auto names = storage::collection_table::load(db);
  const auto streams = storage::load_upstreams(db);
  if (!names || !streams)
    return "the store cannot be read";
  const storage::repo_table repos{db, **names};
  for (const auto& stream : *streams) {
    const auto* log = log_of(stream.url, world, urls);
    if (log == nullptr || stream.cursor == 0)
      continue;
    for (const auto& [did, rev] :
         last_commits(*log, stream.first_cursor, stream.cursor)) {
      const auto repo = repos.load(atproto::did::trusted(did));
      if (!repo)
        return "the row of " + did + " cannot be read";
      if (!repo->row || !claims_all(*repo->row)
          || (!stream.relay && repo->row->pds != stream.url))
        continue;
      if (repo->chain == nullptr || repo->chain->rev < rev)
        return stream.url + " is done up to " + std::to_string(stream.cursor)
               + ", and " + did + " is not at " + rev.str();
    }
  }
  return "";
}

} // namespace weir::sim
