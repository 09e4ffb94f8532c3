#include "actors/node/partition.hpp"

#include "actors/support/node_sums.hpp"

#include <limits>

namespace weir::actors {

namespace {

/// Reads the sum over all partitions of one of their numbers.
auto sum_of(const context& shared, auto which) {
  return [&shared, which] { return double(shared.sum(which)); };
}

using state_reader = std::vector<state_count> (*)(const context&);

void add_state_gauges(context& shared, const std::string& name,
                      const std::string& help, state_reader read) {
  const auto states = read(shared);
  for (size_t i = 0; i < states.size(); ++i)
    shared.metrics.gauge(name, help, "state", std::string{states[i].word},
                         [&shared, read, i] {
                           return double(read(shared)[i].count);
                         });
}

void add_repo_gauges(context& shared) {
  auto& metrics = shared.metrics;
  add_state_gauges(shared, "weir_repos", "Repos by state", repo_states);
  add_state_gauges(shared, "weir_accounts", "Repos by state of their account",
                   account_states);
  metrics.gauge("weir_oplog_seq", "Durable operations in the log",
                sum_of(shared, &store_stats::durable));
  for (const auto& x : shared.partitions())
    metrics.gauge(
      "weir_partition_oplog_seq",
      "Number of the last durable operation in the log of a partition",
      "partition", std::to_string(x->number), [home = x.get()] {
        return double(home->stats.durable);
      });
  metrics.gauge("weir_records", "Records in the copies of all repos",
                sum_of(shared, &store_stats::records));
  metrics.gauge("weir_repos_synced", "Repos in the state synced",
                sum_of(shared, [](const partition_context& x) {
                  return x.stats.count(storage::repo_status::synced);
                }));
  metrics.gauge("weir_repos_tracked", "Repos tracked", [&shared] {
    return double(repo_count(shared));
  });
}

void add_store_gauges(
  context& shared, const std::vector<std::unique_ptr<partition>>& partitions) {
  auto& metrics = shared.metrics;
  const auto sum = [&partitions](uint64_t (*of)(const store_set&)) {
    return [&partitions, of] {
      uint64_t out = 0;
      for (const auto& x : partitions)
        out += of(x->store());
      return double(out);
    };
  };
  for (size_t i = 0; i < storage::table_families; ++i)
    metrics.gauge("weir_store_bytes",
                  "Approximate size of the store on disk, by family of tables",
                  "family", storage::to_string(storage::table_family(i)),
                  [&shared, i] {
                    return double(store_sizes(shared)[i]);
                  });
  metrics.gauge("weir_store_memory_bytes",
                "Approximate memory of the store's write buffers and caches",
                sum([](const store_set& x) -> uint64_t {
                  return x.db->memory_bytes() + x.tail->bytes_held();
                }));
  metrics.gauge("weir_store_growth_bytes_per_day",
                "How fast the store grows, measured over the last day; NaN in "
                "the first ten minutes",
                [&shared] {
                  return store_growth_per_day(shared).value_or(
                    std::numeric_limits<double>::quiet_NaN());
                });
  metrics.gauge("weir_collections", "Names of collections in memory",
                sum([](const store_set& x) -> uint64_t {
                  return x.names->size();
                }));
  metrics.gauge("weir_collection_names_bytes",
                "Memory that the names of collections take",
                sum([](const store_set& x) -> uint64_t {
                  return x.names->bytes();
                }));
  metrics.counter("weir_store_failed_reads_total",
                  "Reads of the store that failed",
                  sum([](const store_set& x) -> uint64_t {
                    return x.db->counters().failed_reads;
                  }));
}

void add_consumer_gauges(context& shared) {
  auto& metrics = shared.metrics;
  metrics.gauge("weir_consumer_backlog_events",
                "Events in the log that are not acked",
                sum_of(shared, &consumer_stats::backlog));
  metrics.gauge("weir_consumer_backlog_seconds",
                "Age of the oldest event that could be delivered and is not "
                "acked",
                [&shared] {
                  return backlog_seconds(shared, shared.time->wall_now());
                });
  metrics.gauge("weir_consumer_inflight",
                "Events that are read for an application and not acked",
                sum_of(shared, &consumer_stats::in_flight));
  metrics.counter("weir_delivered_total", "Events sent",
                  sum_of(shared, &consumer_stats::sent));
  metrics.counter("weir_redelivered_total", "Events sent again",
                  sum_of(shared, &consumer_stats::redelivered));
  metrics.counter("weir_acked_total", "Events acked",
                  sum_of(shared, &consumer_stats::acked));
  metrics.counter("weir_consumer_foreign_acks_total",
                  "Acks of ids that this log never gave out",
                  sum_of(shared, &consumer_stats::foreign_acks));
  metrics.counter("weir_consumer_bad_acks_total",
                  "Messages from applications that were no valid acks",
                  sum_of(shared, &consumer_stats::refused_acks));
  metrics.gauge("weir_deadletters",
                "Events that were given up and wait to be retried or dropped",
                sum_of(shared, &consumer_stats::dead_letters));
}

void add_stream_gauges(context& shared) {
  for (const auto& x : shared.upstreams.all())
    shared.metrics.gauge(
      "weir_upstream_staleness_seconds",
      "Seconds that a stream is behind the time of day; 0 while it is quiet",
      "upstream", x.origin, [&shared, id = x.id] {
        return shared.upstreams.find(id).staleness(shared.time->wall_now(),
                                                   shared.time->steady_now(),
                                                   limits::passed_quiet_min);
      });
}

} // namespace

void add_gauges(const context_ptr& shared,
                const std::vector<std::unique_ptr<partition>>& partitions) {
  add_repo_gauges(*shared);
  add_store_gauges(*shared, partitions);
  add_consumer_gauges(*shared);
  add_stream_gauges(*shared);
}

} // namespace weir::actors
