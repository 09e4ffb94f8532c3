#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/support`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

// -- the engine's windows -----------------------------------------------------

constexpr size_t turn_messages_max = 4'096; ///< docs/adr/0006-turns.md

/// Approximate memory of an idle REPO, and of an identity that is known or
/// being looked up.
constexpr size_t repo_actor_bytes = 8'192;
constexpr size_t identity_entry_bytes = 512;

/// An answer counts for this long (protocol-coverage.md 8.3). A failure counts
/// as long as `lookup_pause_min` and the pauses after it say.
constexpr auto identity_fresh = 24h;

/// REPOs that one ROUTER shard keeps awake.
constexpr size_t resident_repos_max = 20'000;

/// Restarts by NODE within the window; one more ends the program.
constexpr size_t child_restarts_max = 3;
constexpr auto child_restart_window = 10s;

// -- delivery to one consumer -------------------------------------------------

/// Acks of one connection that wait for the CONSUMER: more than an application
/// can owe for events that it was sent.
constexpr size_t waiting_acks_max = 131'072;

/// Bytes of one answer to a read of a single DID.
constexpr size_t consumer_did_page_bytes_max = 262'144;

// -- options of a node --------------------------------------------------------

constexpr option_range<double> plc_per_second_range{0.1, 10'000, 500};

/// `standard` is the shortest back-off; the longest is an hour.
constexpr option_seconds retry_backoff_range{1s, 168h, 60s};
constexpr std::chrono::seconds retry_backoff_max_standard = 1h;
constexpr option_seconds identity_refresh_range{1s, 24h, 60s};
constexpr option_seconds listing_interval_range{1s, 720h, 24h};
constexpr option_seconds listing_grace_range{0s, 1h, 10s};

/// Shares of `memory_limit` at which intake is reduced, and the part of the
/// disk that stays free: the larger of the two values below when the option is
/// 0. Both are checked every `room_check_interval`.
constexpr uint64_t memory_backfill_percent = 80;
constexpr uint64_t memory_live_percent = 90;
constexpr uint64_t memory_refuse_percent = 95;

constexpr uint64_t disk_reserve_bytes = 2'147'483'648;
constexpr uint64_t disk_reserve_percent = 5;
constexpr std::chrono::microseconds room_check_interval = 1s;

// -- rules of a repo ----------------------------------------------------------

/// A repo that was fetched `refetch_burst_max` times within this time and is
/// out of sync again is fetched after the end of it.
constexpr auto refetch_pause = 60s;

/// When a listing is ahead of a stream that lags behind, the repo is fetched
/// after this time at the latest.
constexpr auto listing_wait_max = 1h;

/// A fetch that did not bring the rev which its upstream had named is repeated
/// after this time, because the downloads of the host may lag behind; then
/// after the time that had passed since that rev was made, so that the pauses
/// double, up to the longest. The clock of the host may be wrong by days.
constexpr auto lacked_rev_pause = 1h;
constexpr auto lacked_rev_pause_max = 24h;

/// Time until an open line is checked again, when the grace is shorter.
constexpr auto listing_wait_step = 1s;

/// A document that is not older than this counts as naming the current host.
constexpr auto identity_current = 60s;

/// The status of one account at one host is asked for once in this time.
constexpr std::chrono::minutes account_question_interval{10};

/// RepoNotFound counts when it was answered twice, at least this far apart.
constexpr option_seconds gone_grace_range{1s, 24h, 5min};

/// A resumed connection may be silent until its host begins to replay. It has
/// caught up when it was quiet for this long and no later event came.
constexpr std::chrono::microseconds catch_up_quiet_min = 10s;

/// A busy stream that lags further behind than this proves nothing.
constexpr std::chrono::microseconds stream_lag_max = 5min;

/// Hosts that are counted separately: those with the most active accounts.
/// During one census there are up to twice as many. All others are counted
/// together.
constexpr size_t completeness_hosts_max = 4'096;

/// The share of one source (the domain of a did:web, otherwise the stream) in
/// the room for frames that wait for a document is one divided by this number.
constexpr uint64_t document_wait_source_part = 4;

/// A failed look-up is repeated after this pause, then after twice the previous
/// pause, up to `lookup_pause_max`.
constexpr auto lookup_pause_min = 2s;

/// The allocator is asked to return freed memory when the process has grown by
/// `heap_return_bytes` (less is not worth the page faults) and fewer than
/// `heap_rest_bytes` were in the node's queues for `heap_rest_time`, because
/// returning memory stops every allocating thread for some milliseconds.
constexpr uint64_t heap_return_bytes = 16'777'216;
constexpr uint64_t heap_rest_bytes = 1'048'576;
constexpr std::chrono::microseconds heap_rest_time = 10s;

/// The store gives up what only makes it faster (the write buffer of LevelDB,
/// its cache of blocks, the newest entries of the log) when the process has
/// grown by `heap_return_bytes` and is at rest, but at most once in this time:
/// a node that follows a slow stream would write its buffer early and often, as
/// many small tables.
constexpr std::chrono::microseconds cache_release_interval = 1h;

/// Interval of the progress lines of a backfill in the log. A few repos that
/// wait are also reported only after this time.
constexpr auto story_interval = 30s;

/// A backfill is over when no repo has waited for this long.
constexpr auto story_rest = 5s;

/// The same while accounts are being looked up.
constexpr auto story_claims_rest = 300s;

/// This number of repos is reported at once.
constexpr uint64_t story_repos_min = 100;

/// Interval at which the size of the store is recorded, and how long the
/// records are kept: the growth of one day.
constexpr auto growth_interval = 10min;
constexpr auto growth_memory = 24h;

/// A stream whose last frames came in time and which is quiet for this long has
/// delivered everything.
constexpr std::chrono::microseconds passed_quiet_min = 2s;

} // namespace weir::limits
