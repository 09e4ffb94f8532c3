#pragma once

#include "actors/journal/journal.hpp"
#include "actors/node/node_config.hpp"
#include "actors/router/router.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "actors/support/context.hpp"
#include "actors/support/store_readers.hpp"
#include "storage/disk/database.hpp"
#include "storage/log/committer.hpp"
#include "storage/log/tail_cache.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/consumer_table.hpp"
#include "wire/event_numbers.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weir::actors {

/// The open store of a partition, and what is read from it at start.
///
/// # Ownership and threads
/// Owned by NODE; outlives all actors.
struct store_set {
  std::unique_ptr<storage::database> db;
  std::unique_ptr<storage::collection_table> names;
  std::unique_ptr<storage::committer> writer;
  std::unique_ptr<storage::tail_cache> tail;
  std::unique_ptr<store_readers> readers;
  wire::event_numbers numbers;
};

/// Opens the data directory: the stores of its partitions, in their order.
/// @param disk Null: the machine's.
/// @param end_wanted Called for each store; true ends it with `ec::cancelled`.
result<std::vector<std::unique_ptr<storage::database>>>
open_stores(const node_config& config, random_source& random,
            storage::disk_env* disk, const std::function<bool()>& end_wanted);

/// `ec::cancelled` when the node was asked to end while it starts.
result<void> go_on_unless(const std::function<bool()>& end_wanted);

/// Opens everything that works on a store.
result<std::unique_ptr<store_set>>
open_store(const node_config& config, const clock& time,
           std::unique_ptr<storage::database> db);

/// Generation of the collection filter. A filter that differs from the stored
/// one gets the next number, which is durable before anything is indexed under
/// it (completeness.md, The terms).
result<uint32_t> load_filter(store_set& store,
                             const wire::collection_filter& wanted);

/// What a start needs to know about all repos.
struct known_repos {
  std::vector<tracked_set> tracked; ///< One for each ROUTER of the partition.
  bool quiet_work = false; ///< Some repos have quiet work (`has_quiet_work`).
};

/// Reads all repos of a partition once, counts them, and notes inactive
/// accounts.
/// @param end_wanted Called for each page; true ends it with `ec::cancelled`.
result<known_repos> load_repos(store_set& store, const context& shared,
                               partition_context& home,
                               uint32_t filter_generation,
                               const std::function<bool()>& end_wanted);

/// Rows of the configured upstreams, in their order; new ones are written.
result<std::vector<storage::upstream_row>>
load_upstreams(store_set& store, const std::vector<upstream_config>& wanted);

/// How far the listings of these upstreams were read: the listing of all repos
/// and that of each collection.
result<std::vector<listing_machine::row>>
load_listings(const store_set& store,
              const std::vector<storage::upstream_row>& upstreams,
              const std::vector<std::string>& collections);

/// The built-in consumer of `/channel`, written when it is new.
constexpr const char* channel_consumer = "channel";

result<storage::consumer_state>
load_channel_consumer(store_set& store, bool fire_and_forget, bool& ran_before);

} // namespace weir::actors
