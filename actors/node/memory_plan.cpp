#include "actors/node/memory_plan.hpp"

#include "actors/node/node_config.hpp"
#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "base/option_range.hpp"
#include "storage/log/limits.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// An open table keeps its index and its filter in memory: this part of its
/// size, measured.
constexpr uint64_t table_memory_part = 64;
/// Approximate memory of one entry.
constexpr uint64_t queued_repo_bytes = 384;
constexpr uint64_t repo_guard_bytes = 256;

size_t share(uint64_t limit, uint64_t part, uint64_t most) noexcept {
  return static_cast<size_t>(std::min(limit / part, most));
}

size_t within(uint64_t x, const limits::option_range<size_t>& range) noexcept {
  return std::clamp<size_t>(x, range.min, range.max);
}

/// @param limit The part of the limit for one partition.
void plan_store(memory_plan& out, uint64_t limit) noexcept {
  out.write_buffer = share(limit, 16, limits::write_buffer_bytes_max);
  out.block_cache = share(limit, 16, limits::block_cache_bytes_max);
  out.repo_guards
    = share(limit / repo_guard_bytes, 32, limits::repo_guards_max);
  out.table_bytes = within(limit / 32, limits::table_bytes_range);
  out.tables = within(limit / 16 * table_memory_part / out.table_bytes,
                      limits::open_tables_range);
  out.tail_cache = share(limit, 32, limits::tail_cache_bytes_max);
}

/// Half of what is left besides the window is for chunks, up to their maximum;
/// the rest is for the index.
void plan_fetch(memory_plan& out, const node_config& config) noexcept {
  using namespace limits;
  const auto jobs = std::max<size_t>(config.sync_parallelism, 1);
  out.spool
    = std::min(spool_memory_bytes_max,
               share(config.memory_limit, 16, backfill_bytes_max) / jobs);
  const auto left = std::max(fetch_bytes(config) / jobs, fetch_bytes_min)
                    - fetch_window_bytes;
  out.chunks
    = std::clamp<size_t>(left / 2 / chunk_bytes_max, 1, job_chunks_max);
  out.index_entries
    = std::clamp((left - out.chunks * chunk_bytes_max) / walk_index_entry_bytes,
                 walk_index_run_entries, walk_index_entries_max);
}

} // namespace

size_t fetch_bytes(const node_config& config) noexcept {
  return config.memory_limit / 32 * 3;
}

size_t memory_for_fetches(size_t count) noexcept {
  return (count * fetch_bytes_min + 2) / 3 * 32;
}

memory_plan plan_memory(const node_config& config) {
  const auto limit = config.memory_limit;
  const auto streams = std::max<size_t>(config.upstreams.size(), 1);
  memory_plan out;
  const auto of_store = config.of_partition(limit);
  plan_store(out, of_store);
  plan_fetch(out, config);
  out.delivery = limit / 16;
  out.upstream_window
    = std::min(config.most.bytes, limit / 16 / streams);
  out.upstream_frames
    = std::min(std::clamp(limits::all_upstreams_frames_max / streams,
                          limits::upstream_frames_min,
                          limits::upstream_frames_max),
               config.most.frames);
  out.requests = limit / 16;
  out.names = share(of_store, 32, config.most.names);
  out.repos = limit / 32 * 7;
  out.document_waits = limit / limits::document_wait_memory_part;
  out.identities = share(limit / limits::identity_entry_bytes, 32,
                         limits::identity_cached_max);
  out.identity_waits = std::min(out.repos / limits::repo_actor_bytes / 2,
                                limits::identity_waiting_max);
  out.census = std::max(limit / limits::census_memory_part / streams
                          / sizeof(uint64_t),
                        limits::census_entries_min);
  out.claims
    = share(limit, limits::claims_memory_part, limits::claims_bytes_max);
  out.lookup_failures
    = share(limit / limits::lookup_failure_bytes,
            limits::lookup_failures_memory_part, config.most.failures);
  out.questions = share(limit / limits::account_question_bytes,
                        limits::account_questions_memory_part,
                        limits::account_questions_max);
  out.answers = share(limit / limits::account_answer_kept_bytes,
                      limits::account_answers_memory_part,
                      limits::account_answers_kept_max);
  out.fetch_queue
    = share(limit / queued_repo_bytes, 32, config.most.fetch_queue);
  // At least one for each permit, so that a host that asked for a rest is not
  // asked at once.
  out.fetch_hosts
    = std::clamp(out.fetch_queue / 4, std::max<size_t>(config.sync_parallelism, 1),
                 limits::fetch_hosts_max);
  return out;
}

} // namespace weir::actors
