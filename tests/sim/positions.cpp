#include "tests/sim/positions.hpp"

#include "atproto/frame.hpp"
#include "storage/tables/upstream_table.hpp"

#include <variant>

namespace weir::sim {

namespace {

simnet::event_log* log_of(const std::string& origin, simnet::world& world,
                          const simnet::network_urls& urls) {
  if (origin == urls.relay)
    return world.relay_log();
  for (size_t i = 0; i < urls.hosts.size(); ++i)
    if (origin == urls.hosts[i])
      return &world.host_log(i);
  return nullptr;
}

/// Nothing says that the copy may be incomplete.
bool claims_all(const storage::repo_row& row) {
  return row.status == storage::repo_status::synced
         && row.account == storage::account_status::active && !row.gap
         && !row.identity_due && row.refused_by == 0
         && !row.missed_rev.defined() && !row.listed_rev.defined();
}

} // namespace

stream_commits::read_frame
stream_commits::read(simnet::event_log::numbered_frame x) {
  read_frame out{std::move(x), {}};
  const auto event = atproto::decode_frame(out.frame.frame.view());
  if (!event)
    return out;
  if (const auto* commit = std::get_if<atproto::commit_event>(&*event))
    out.commit.emplace(commit->repo.str(), commit->rev);
  return out;
}

/// A seq may be reused and a frame may be changed, so a frame is identified by
/// its bytes.
stream_commits::revs stream_commits::last(const simnet::event_log& log,
                                          uint64_t from, uint64_t to) {
  revs out;
  std::vector<read_frame> read_now;
  auto next = known_.begin();
  for (auto& x : log.read(static_cast<int64_t>(from), SIZE_MAX, SIZE_MAX)) {
    if (static_cast<uint64_t>(x.seq) > to)
      break;
    while (next != known_.end() && next->frame.seq < x.seq)
      ++next;
    const auto is_known = next != known_.end() && next->frame.seq == x.seq
                          && next->frame.frame.data() == x.frame.data();
    read_now.push_back(is_known ? std::move(*next) : read(std::move(x)));
    if (const auto& commit = read_now.back().commit)
      out[commit->first] = commit->second;
  }
  known_ = std::move(read_now);
  return out;
}

std::string position_ahead(const apps::closed_stores& stores, simnet::world& world,
                           const simnet::network_urls& urls,
                           std::map<std::string, stream_commits>& known) {
  const auto streams = storage::load_upstreams(stores.root());
  if (!streams)
    return "the store cannot be read";
  for (const auto& stream : *streams) {
    const auto* log = log_of(stream.url, world, urls);
    if (log == nullptr || stream.cursor == 0)
      continue;
    for (const auto& [did, rev] :
         known[stream.url].last(*log, stream.first_cursor, stream.cursor)) {
      const auto id = atproto::did::trusted(did);
      const auto repo = stores.repos().of(id).load_repo(id);
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
