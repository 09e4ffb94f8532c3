#include "actors/backfill/limits.hpp"
#include "actors/identity/limits.hpp"
#include "actors/node/limits.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/node/node_config.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "atproto/limits.hpp"
#include "base/byte_ledger.hpp"
#include "base/process.hpp"
#include "storage/log/limits.hpp"
#include "storage/tables/limits.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

// architecture.md, When memory runs short: all parts are derived from the one
// limit.
namespace weir::actors {
namespace {

constexpr uint64_t mebibyte = 1 << 20;

node_config limited_to(uint64_t limit) {
  node_config out;
  out.memory_limit = limit;
  out.upstreams = {{"https://a.example.com", true}};
  return out;
}

bool names(const node_config& x, const std::string& option) {
  for (const auto& problem : x.problems())
    if (problem.starts_with(option + ": "))
      return true;
  return false;
}

} // namespace

TEST(MemoryPlanTest, AllPartsTogetherStayBelowTheLimitWhateverItIs) {
  for (auto limit = limits::memory_limit_range.min;
       limit <= limits::memory_limit_range.max; limit *= 2) {
    auto config = limited_to(limit);
    for (const size_t streams : {1u, 3u, 32u, 1'024u}) {
      config.upstreams.resize(streams);
      config.partitions = limit >= streams * limits::partition_memory_min
                              && streams <= limits::partitions_range.max
                            ? streams
                            : 1;
      const auto x = plan_memory(config);
      const auto one_fetch = x.spool + limits::fetch_window_bytes
                             + x.index_entries * limits::walk_index_entry_bytes
                             + x.chunks * limits::chunk_bytes_max;
      const auto one_store = 2 * x.write_buffer + x.block_cache
                             + x.tables * x.table_bytes / 64 + x.tail_cache
                             + x.names + x.repo_guards * 256;
      const auto all = config.partitions * one_store + x.delivery
                       + streams * x.upstream_window + x.requests + x.repos
                       + x.identities * limits::identity_entry_bytes
                       + x.fetch_queue * 384
                       + config.sync_parallelism * one_fetch;
      // A share of the repos' part that is small enough for intake to open with
      // it: a pause below a 32nd gains nothing.
      EXPECT_EQ(x.document_waits, limit / limits::document_wait_memory_part);
      EXPECT_LT(x.document_waits, limit / 32);
      // The rest is for the program, and holds listed names and claims.
      EXPECT_LE(x.claims, limit / limits::claims_memory_part);
      EXPECT_LE(x.lookup_failures * limits::lookup_failure_bytes,
                limit / limits::lookup_failures_memory_part);
      EXPECT_LE(x.questions * limits::account_question_bytes,
                limit / limits::account_questions_memory_part);
      EXPECT_LE(x.answers * limits::account_answer_kept_bytes,
                limit / limits::account_answers_memory_part);
      EXPECT_GT(x.questions, 0u);
      EXPECT_LE(streams * x.census * sizeof(uint64_t),
                std::max(limit / limits::census_memory_part,
                         streams * limits::census_entries_min
                           * sizeof(uint64_t)));
      EXPECT_LE(all, limit / 32 * 31) << limit << " with " << streams;
    }
  }
}

// limits::upstream_frames_max, limits::upstream_frames_min,
// limits::all_upstreams_frames_max
TEST(MemoryPlanTest, StreamsShareTheFramesInFlight) {
  auto config = limited_to(limits::memory_limit_range.max);
  const auto of_each = [&config](size_t streams) {
    config.upstreams.resize(streams);
    return plan_memory(config).upstream_frames;
  };
  constexpr auto most = limits::upstream_frames_max;
  constexpr auto least = limits::upstream_frames_min;
  constexpr auto all = limits::all_upstreams_frames_max;
  EXPECT_EQ(of_each(0), most) << "one may be added";
  EXPECT_EQ(of_each(all / most), most);
  EXPECT_EQ(of_each(all / most + 1), all / (all / most + 1));
  EXPECT_EQ(of_each(all / least), least);
  EXPECT_EQ(of_each(all / least + 1), least) << "what one needs";
}

// limits::upstream_bytes_max, limits::tail_cache_bytes_max,
// limits::backfill_bytes_max, limits::spool_memory_bytes_max,
// limits::walk_index_entries_max, limits::job_chunks_max,
// limits::identity_cached_max, limits::identity_waiting_max,
// limits::fetch_queue_max, limits::fetch_hosts_max, limits::repo_guards_max,
// limits::names_bytes_max, limits::claims_bytes_max,
// limits::lookup_failures_max, limits::account_questions_max,
// limits::account_answers_kept_max
TEST(MemoryPlanTest, MuchMemoryRaisesNoBound) {
  auto config = limited_to(limits::memory_limit_range.max);
  const auto x = plan_memory(config);
  EXPECT_EQ(x.write_buffer, limits::write_buffer_bytes_max);
  EXPECT_EQ(x.block_cache, limits::block_cache_bytes_max);
  EXPECT_EQ(x.table_bytes, limits::table_bytes_range.max);
  EXPECT_EQ(x.tables, limits::open_tables_range.max);
  EXPECT_EQ(x.upstream_window, limits::upstream_bytes_max);
  EXPECT_EQ(x.tail_cache, limits::tail_cache_bytes_max);
  EXPECT_EQ(x.spool, limits::spool_memory_bytes_max);
  EXPECT_EQ(x.index_entries, limits::walk_index_entries_max);
  EXPECT_EQ(x.chunks, limits::job_chunks_max);
  EXPECT_EQ(x.identities, limits::identity_cached_max);
  EXPECT_EQ(x.identity_waits, limits::identity_waiting_max);
  EXPECT_EQ(x.fetch_queue, limits::fetch_queue_max);
  EXPECT_EQ(x.fetch_hosts, limits::fetch_hosts_max);
  EXPECT_EQ(x.repo_guards, limits::repo_guards_max);
  EXPECT_EQ(x.names, limits::names_bytes_max);
  EXPECT_EQ(x.claims, limits::claims_bytes_max);
  EXPECT_EQ(x.lookup_failures, limits::lookup_failures_max);
  EXPECT_EQ(x.questions, limits::account_questions_max);
  EXPECT_EQ(x.answers, limits::account_answers_kept_max);
  config.sync_parallelism = limits::sync_parallelism_range.max;
  EXPECT_EQ(plan_memory(config).spool * config.sync_parallelism,
            limits::backfill_bytes_max);
}

// A configuration with no partition at all is refused with its other problems,
// which need a number here.
TEST(MemoryPlanTest, APartitionGetsItsPartAndAtLeastOne) {
  node_config config;
  config.partitions = 4;
  EXPECT_EQ(config.of_partition(11), 2u);
  EXPECT_EQ(config.of_partition(3), 1u);
  config.partitions = 0;
  EXPECT_EQ(config.of_partition(11), 11u);
}

// A program that builds a node may want fewer than there is memory for. No key
// of the configuration sets these bounds.
TEST(MemoryPlanTest, BoundsOfTheProgramAreKept) {
  auto config = limited_to(limits::memory_limit_range.max);
  config.most.fetch_queue = 10;
  config.most.names = 65'536;
  config.most.frames = 16;
  config.most.bytes = 10'000;
  const auto x = plan_memory(config);
  EXPECT_EQ(x.fetch_queue, 10u);
  EXPECT_EQ(x.fetch_hosts, config.sync_parallelism)
    << "one for each permit: a host that asked for a rest is not forgotten";
  EXPECT_EQ(x.names, 65'536u);
  EXPECT_EQ(x.upstream_frames, 16u);
  EXPECT_EQ(x.upstream_window, 10'000u);
  config.most = {};
  EXPECT_EQ(plan_memory(config).fetch_queue, limits::fetch_queue_max);
}

TEST(MemoryPlanTest, AFetchGetsByWithLittle) {
  auto config = limited_to(limits::memory_limit_range.min);
  config.sync_parallelism = 4;
  const auto x = plan_memory(config);
  EXPECT_EQ(x.spool, 2 * mebibyte);
  EXPECT_EQ(x.index_entries, limits::walk_index_run_entries);
  EXPECT_EQ(x.chunks, 1u);
  EXPECT_EQ(x.table_bytes, 4 * mebibyte);
  EXPECT_EQ(x.tables, 128u);
}

TEST(MemoryPlanTest, WhatCannotWorkIsRefused) {
  const auto least = limited_to(limits::memory_limit_range.min);
  EXPECT_TRUE(least.problems().empty()) << least.problems().front();
  auto x = least;
  x.consumer_window_bytes = 8 * mebibyte + 1;
  EXPECT_TRUE(names(x, "consumer_window_bytes"));
  x = least;
  x.sync_parallelism = 4;
  EXPECT_TRUE(x.problems().empty());
  x.sync_parallelism = 5;
  EXPECT_TRUE(names(x, "sync_parallelism"));
  x = least;
  x.upstreams.clear();
  for (int i = 0; i < 32; ++i)
    x.upstreams.push_back(
      {"https://h" + std::to_string(i) + ".example.com", false});
  EXPECT_TRUE(x.problems().empty());
  EXPECT_EQ(plan_memory(x).upstream_window, limits::upstream_window_min);
  x.upstreams.push_back({"https://one-more.example.com", false});
  EXPECT_TRUE(names(x, "memory_limit"));
}

TEST(ByteLedgerTest, SumsWhatItsOwnersHoldAndForgetsThemWhenTheyEnd) {
  const auto ledger = std::make_shared<byte_ledger>();
  {
    byte_claim a{ledger, memory_use::streams};
    byte_claim b{ledger, memory_use::streams};
    byte_claim c{ledger, memory_use::repos};
    a.set(100);
    b.set(50);
    c.set(7);
    EXPECT_EQ(ledger->total(), 157u);
    a.set(20);
    EXPECT_EQ(ledger->held(memory_use::streams), 70u);
    EXPECT_EQ(ledger->held(memory_use::repos), 7u);
    byte_claim known{ledger, memory_use::identity};
    byte_claim unread{ledger, memory_use::delivery};
    byte_claim names{ledger, memory_use::names};
    byte_claim claims{ledger, memory_use::claims};
    known.set(1);
    unread.set(2);
    names.set(4);
    claims.set(8);
    EXPECT_EQ(ledger->total(), 92u);
    EXPECT_EQ(ledger->passing(), 85u) << "what a pause makes less";
  }
  EXPECT_EQ(ledger->total(), 0u);
}

TEST(ProcessMemoryTest, MemoryThatIsTouchedIsSeen) {
  const auto before = resident_bytes();
  EXPECT_GT(before, mebibyte);
  const std::vector<char> more(64 * mebibyte, 'x');
  EXPECT_GE(resident_bytes(), before + 60 * mebibyte) << more.back();
}

} // namespace weir::actors
