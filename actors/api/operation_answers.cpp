#include "actors/api/operation_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/api/operation_merge.hpp"
#include "actors/api/shown_operations.hpp"
#include "storage/log/operation_reader.hpp"
#include "storage/log/stream_reader.hpp"
#include "storage/tables/collection_table.hpp"
#include "wire/operations_api.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

net::http_reply foreign_cursor(const std::string& why) {
  return net::error_reply(409, "ForeignCursor",
                          "since is a place in another log: " + why
                            + "; read from the beginning, without since");
}

/// The last operation that is durable, for each partition.
std::vector<storage::op_id> durable_of(const context& shared) {
  std::vector<storage::op_id> out;
  for (const auto& each : shared.partitions())
    out.push_back(each->stats.durable.load());
  return out;
}

/// Why the log of this node has no such place; nothing when it has.
std::optional<net::http_reply>
refusal_of(const wire::log_position& x, const context& shared,
           const std::vector<storage::op_id>& durable) {
  if (x.log != shared.log_epoch)
    return foreign_cursor("it is of " + x.log + ", and this log is "
                          + shared.log_epoch);
  if (x.places.size() != durable.size())
    return problem(fail(ec::malformed, "since has "
                                         + std::to_string(x.places.size())
                                         + " places, and this log has "
                                         + std::to_string(durable.size())));
  for (size_t i = 0; i < durable.size(); ++i)
    if (x.places[i] > durable[i])
      return foreign_cursor("this log ends before it, so it was put back to an "
                            "earlier state");
  return std::nullopt;
}

storage::operation_filter filter_of(const log_request& x) {
  storage::operation_filter out;
  out.repo = x.repo;
  if (!x.scope.empty())
    out.scopes = {x.scope};
  out.with_erased = false; // Nothing of a removed repo leaves the node.
  return out;
}

/// Adds the places of the partitions to the merge. The operations of one repo
/// are all in one partition, so the others have nothing to read.
void add_places(const log_request& x, const context& shared,
                const std::vector<storage::op_id>& durable,
                operation_merge& to) {
  for (const auto& each : shared.partitions()) {
    const auto i = each->number;
    const bool apart
      = x.repo && shared.places().partition_of(*x.repo) != each->number;
    const auto after = apart     ? durable[i]
                       : x.since ? x.since->places[i]
                                 : storage::op_id{0};
    to.add(each->numbers, after, after < durable[i]);
  }
}

/// Operations of one stream, with their ids. Erased ones are left out.
result<void> add_stream(const context& shared, const atproto::did& repo,
                        std::vector<storage::stored_operation> found,
                        shown_operations& to) {
  const auto& numbers = shared.home_of(repo).numbers;
  for (auto& x : found) {
    if (x.content == storage::content_state::erased)
      continue;
    const auto id = numbers.id_of(x.id);
    if (!id)
      return id.error();
    if (auto ok = to.add(*id, std::move(x)); !ok)
      return ok;
  }
  return {};
}

storage::stream_reader streams_of(const store_readers& store) {
  return {store.db, store.names, store.key_partition};
}

/// 404, unless the repo is tracked.
std::optional<net::http_reply> refuse_untracked(const store_readers& store,
                                                const atproto::did& repo) {
  const auto row = store.load_row(repo);
  if (!row)
    return problem(row.error());
  if (!*row)
    return net::error_reply(404, "RepoNotFound",
                            repo.str() + " is not tracked");
  return std::nullopt;
}

storage::read_bounds bounds_of(size_t ops_max, bool with_content,
                               const std::function<bool()>& cancelled) {
  storage::read_bounds out;
  out.ops_max = ops_max;
  out.bytes_max = limits::api_page_bytes_max;
  out.with_content = with_content;
  out.cancelled = cancelled;
  return out;
}

} // namespace

net::http_reply operations_reply(const context& shared, const log_request& x,
                                 const std::function<bool()>& cancelled) {
  const auto durable = durable_of(shared);
  if (x.since)
    if (auto refused = refusal_of(*x.since, shared, durable))
      return std::move(*refused);
  const auto filter = filter_of(x);
  operation_merge merge{
    {x.limit, limits::api_page_bytes_max, limits::operations_looked_max},
    [&](uint16_t partition, storage::op_id after, storage::read_bounds within) {
      const auto& store = *shared.stores.each()[partition];
      within.with_content = x.with_content;
      within.cancelled = cancelled;
      const storage::operation_reader log{store.db, store.names,
                                          store.key_partition};
      return log.get_since_id(after, durable[partition], filter, within);
    }};
  add_places(x, shared, durable, merge);
  shown_operations shown{shared.stores};
  for (;;) {
    auto next = merge.next();
    if (!next)
      return problem(next.error());
    if (!*next)
      break;
    if (auto ok = shown.add((*next)->id, std::move((*next)->operation)); !ok)
      return problem(ok.error());
  }
  const auto cursor = wire::to_text({shared.log_epoch, merge.places()});
  return written(wire::append_operations, shown.views(), cursor, merge.more());
}

net::http_reply stream_reply(const context& shared, const atproto::did& repo,
                             const stream_request& x,
                             const std::function<bool()>& cancelled) {
  const auto& store = shared.stores.of(repo);
  const storage::stream_name stream{repo, x.scope};
  const auto bounds = bounds_of(x.limit, x.with_content, cancelled);
  const auto streams = streams_of(store);
  const auto next = streams.next_index(stream, bounds);
  if (!next)
    return problem(next.error());
  auto page = x.since_ms ? streams.get_since_time(stream, *x.since_ms, x.since,
                                                  bounds)
                         : streams.get_since(stream, x.since, bounds);
  if (!page)
    return problem(page.error());
  // Asked last, so nothing of a repo that was just removed is answered.
  if (auto refused = refuse_untracked(store, repo))
    return std::move(*refused);
  const bool looked = page->more || !page->found.empty();
  shown_operations shown{shared.stores};
  if (auto ok = add_stream(shared, repo, std::move(page->found), shown); !ok)
    return problem(ok.error());
  const auto views = shown.views();
  const auto cursor = looked ? std::to_string(page->through) : std::string{};
  return written(wire::append_stream_page,
                 wire::stream_page_view{repo.str(), x.scope, *next, views,
                                        cursor, page->more});
}

net::http_reply one_operation_reply(const context& shared,
                                    const atproto::did& repo,
                                    const std::string& scope, uint64_t index,
                                    bool with_content,
                                    const std::function<bool()>& cancelled) {
  const auto& store = shared.stores.of(repo);
  auto found = streams_of(store).get({repo, scope}, index,
                                     bounds_of(1, with_content, cancelled));
  if (!found)
    return problem(found.error());
  if (auto refused = refuse_untracked(store, repo))
    return std::move(*refused);
  std::vector<storage::stored_operation> one;
  if (*found)
    one.push_back(std::move(**found));
  shown_operations shown{shared.stores};
  if (auto ok = add_stream(shared, repo, std::move(one), shown); !ok)
    return problem(ok.error());
  const auto views = shown.views();
  if (views.empty())
    return net::error_reply(404, "OperationNotFound",
                            scope + " of " + repo.str()
                              + " has no operation with the index "
                              + std::to_string(index));
  return written(wire::append_operation, views.front());
}

} // namespace weir::actors
