#include "actors/node/store_set.hpp"

#include "actors/node/memory_plan.hpp"
#include "actors/node/start_rules.hpp"
#include "actors/support/row_work.hpp"
#include "actors/upstream/careful_machine.hpp"
#include "base/crash_point.hpp"
#include "net/url.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/log/erasure.hpp"
#include "storage/log/log_epochs.hpp"
#include "storage/tables/filter_table.hpp"
#include "storage/tables/limits.hpp"
#include "storage/tables/repo_table.hpp"
#include "storage/tables/upstream_table.hpp"

#include <algorithm>

namespace weir::actors {

result<std::vector<std::unique_ptr<storage::database>>>
open_stores(const node_config& config, random_source& random,
            storage::disk_env* disk, const std::function<bool()>& end_wanted) {
  storage::database_options options;
  options.directory = config.data_dir;
  options.random = &random;
  options.disk = disk;
  const auto plan = plan_memory(config);
  options.write_buffer_bytes = plan.write_buffer;
  options.block_cache_bytes = plan.block_cache;
  options.table_bytes = plan.table_bytes;
  options.tables_open_max = plan.tables;
  return storage::open_partition_stores(
    options, static_cast<uint16_t>(config.partitions), end_wanted);
}

result<void> go_on_unless(const std::function<bool()>& end_wanted) {
  if (end_wanted())
    return fail(ec::cancelled, "the node was asked to end while it started");
  return {};
}

result<std::unique_ptr<store_set>>
open_store(const node_config& config, const clock& time,
           std::unique_ptr<storage::database> db) {
  auto out = std::make_unique<store_set>();
  const auto plan = plan_memory(config);
  out->db = std::move(db);
  auto names = storage::collection_table::load(*out->db, plan.names);
  if (!names)
    return names.error();
  out->names = std::move(*names);
  auto writer = storage::committer::open(*out->db, *out->names, time,
                                         {{.guards_max = plan.repo_guards}});
  if (!writer)
    return writer.error();
  out->writer = std::move(*writer);
  const auto epochs = storage::load_log_epochs(*out->db);
  if (!epochs)
    return epochs.error();
  std::vector<wire::id_epoch> begun;
  for (const auto& x : *epochs)
    begun.push_back({x.first, x.ahead});
  const auto& which = out->db->identity();
  out->numbers = wire::event_numbers{std::move(begun), which.partition,
                                     which.partitions};
  const auto last = out->writer->last_id();
  out->tail = std::make_unique<storage::tail_cache>(last + 1, plan.tail_cache);
  out->readers = std::make_unique<store_readers>(
    store_readers{*out->db, *out->names, *out->tail});
  return out;
}

namespace {

/// A row of another partition, where the ROUTER of its repo never finds it.
error elsewhere(const atproto::did& repo) {
  return fail(ec::storage_failure,
              "the store has rows of " + repo.str()
                + ", which belongs to another partition");
}

/// Notes removed repos: their rows are gone, but the log still has events that
/// are being erased. What SWEEPER has erased is marked in the log itself
/// (`log_entry::erased`).
result<void> load_erased(store_set& store, account_board& accounts,
                         const std::function<bool()>& end_wanted) {
  atproto::did after;
  for (;;) {
    if (auto ok = go_on_unless(end_wanted); !ok)
      return ok;
    const auto page = storage::open_erasures(*store.db, after);
    if (!page)
      return page.error();
    for (const auto& [repo, row] : *page) {
      auto standing = accounts.of(repo);
      standing.erased_through = std::max(standing.erased_through, row.through);
      accounts.put(repo, standing);
    }
    if (page->size() < limits::repos_page_max)
      return {};
    after = page->back().repo;
  }
}

} // namespace

result<uint32_t> load_filter(store_set& store,
                             const wire::collection_filter& wanted) {
  const auto known = storage::load_filter(*store.db);
  if (!known)
    return known.error();
  const auto next = next_filter(*known, wanted);
  if (*known && next == **known)
    return next.generation;
  storage::journal_batch fresh;
  fresh.configuration.push_back(storage::filter_change(next));
  if (auto written = store.writer->commit(fresh); !written)
    return written.error();
  pass(crash_point::filter_written);
  return next.generation;
}

result<known_repos> load_repos(store_set& store, const context& shared,
                               partition_context& home,
                               uint32_t filter_generation,
                               const std::function<bool()>& end_wanted) {
  const auto& places = shared.places();
  const auto first = places.first_router(home.number);
  known_repos out;
  out.tracked.resize(places.routers() / places.partitions());
  const all_stores alone{{}, {store.readers.get()}};
  atproto::did after;
  for (;;) {
    if (auto ok = go_on_unless(end_wanted); !ok)
      return ok.error();
    auto page = alone.list_repos(after, limits::repos_page_max);
    if (!page)
      return page.error();
    for (const auto& x : *page) {
      if (places.partition_of(x.repo) != home.number)
        return elsewhere(x.repo);
      out.tracked[places.router_of(x.repo) - first].insert(
        atproto::stable_hash(x.repo.str()));
      out.quiet_work |= has_quiet_work(x.row, filter_generation,
                                       shared.upstreams);
      const auto active = x.row.account == storage::account_status::active;
      home.stats.add(x.row.status, x.row.account);
      if (is_outdated(x.row, !x.collections.empty(), filter_generation))
        ++home.stats.outdated;
      if (x.chain != nullptr)
        home.stats.records += x.chain->record_count;
      home.accounts.put(x.repo, {active, x.row.erased_through, x.row.account});
    }
    if (page->size() < limits::repos_page_max)
      break;
    after = page->back().repo;
  }
  if (auto ok = load_erased(store, home.accounts, end_wanted); !ok)
    return ok.error();
  return out;
}

result<std::vector<storage::upstream_row>>
load_upstreams(store_set& store, const std::vector<upstream_config>& wanted) {
  const auto known = storage::load_upstreams(*store.db);
  if (!known)
    return known.error();
  storage::journal_batch fresh;
  for (const auto& x : wanted) {
    const auto url = net::parse_url(x.url);
    if (!url)
      return fail(ec::invalid_argument,
                  "upstream " + x.url + ": " + url.error().context);
    fresh.upstreams.push_back(
      {.url = url->as_http().origin(), .relay = x.relay});
  }
  fresh.upstreams = rows_of_streams(*known, std::move(fresh.upstreams));
  for (auto& x : fresh.upstreams)
    careful_machine::begin_life(x);
  if (!fresh.upstreams.empty())
    if (auto written = store.writer->commit(fresh); !written)
      return written.error();
  return std::move(fresh.upstreams);
}

result<std::vector<listing_machine::row>>
load_listings(const store_set& store,
              const std::vector<storage::upstream_row>& upstreams,
              const std::vector<std::string>& collections) {
  auto wanted = collections;
  wanted.emplace_back(); // An empty entry stands for all repos.
  std::vector<listing_machine::row> out;
  for (const auto& x : upstreams)
    for (const auto& collection : wanted) {
      auto known
        = storage::load_listing(*store.db, *store.names, x.id, collection);
      if (!known)
        return known.error();
      if (*known)
        out.push_back({{x.id, collection}, std::move(**known)});
    }
  return out;
}

result<storage::consumer_state> load_channel_consumer(store_set& store,
                                                      bool fire_and_forget,
                                                      bool& ran_before) {
  const storage::consumer_name name{storage::default_dataset, channel_consumer};
  auto state = storage::load_consumer(*store.db, name, 0);
  if (!state)
    return state.error();
  ran_before = state->has_value();
  if (*state)
    return **state;
  // It begins with the log, as Tap's consumer does; the row makes it durable.
  storage::journal_batch fresh;
  storage::consumer_change change;
  change.name = channel_consumer;
  storage::consumer_row row{{0}, store.db->log_identity(), fire_and_forget};
  change.row = row;
  fresh.consumers.push_back(std::move(change));
  if (auto written = store.writer->commit(fresh); !written)
    return written.error();
  return storage::consumer_state{std::move(row), {}};
}

} // namespace weir::actors
