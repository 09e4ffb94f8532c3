#pragma once

#include "atproto/limits.hpp"
#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/support` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

// -- the engine's windows -----------------------------------------------------

/// Frames with seq <= the last one before the connection is given up; #infos.
constexpr size_t seq_regressions_max = 10;
constexpr size_t infos_per_connection_max = 100;
constexpr size_t turn_messages_max = 4'096; ///< docs/adr/0006-turns.md

/// What an idle REPO costs, about, and an identity that is known or asked for.
constexpr size_t repo_actor_bytes = 8'192;
constexpr size_t identity_entry_bytes = 512;

/// Commits a REPO refuses in one turn; each cost what a true one does.
constexpr size_t repo_refusals_a_turn = 8;
constexpr size_t residents_min = 64;

/// An answer is believed this long (protocol-coverage.md 8.3); a failure as
/// long as `lookup_pause_min` and what follows it say.
constexpr auto identity_fresh = 24h;

/// Backfill rests for this while LevelDB has so many files to merge.
constexpr int level0_files_pause = 6;
constexpr auto journal_pause = 20ms;
constexpr size_t resident_repos_max = 20'000; ///< A ROUTER shard keeps alive.

/// Restarts by NODE in the window; one more ends the program.
constexpr size_t child_restarts_max = 3;
constexpr auto child_restart_window = 10s;

// -- delivery to one consumer -------------------------------------------------

/// Events between log and ack, and the log entries held for them.
constexpr size_t consumer_events_max = 1'000;
constexpr size_t consumer_bytes_max = 8'388'608;

/// Reads of single DIDs on their way at once, and bytes of one answer.
constexpr size_t consumer_did_pages_max = 8;
constexpr size_t consumer_did_page_bytes_max = 262'144;

/// Tap's TAP_RETRY_TIMEOUT; the wait between attempts doubles up to the second.
constexpr auto consumer_retry_timeout = 60s;
constexpr auto consumer_retry_delay_max = 10min;
constexpr uint32_t consumer_attempts_max = 20;

// -- options of a node --------------------------------------------------------

constexpr option_range<double> plc_per_second_range{0.1, 10'000, 500};

/// `standard` is the shortest one; the longest is an hour.
constexpr option_seconds retry_backoff_range{1s, 168h, 60s};
constexpr std::chrono::seconds retry_backoff_max_standard = 1h;
constexpr option_seconds identity_refresh_range{1s, 24h, 60s};
constexpr option_seconds listing_interval_range{1s, 720h, 24h};
constexpr option_seconds listing_grace_range{0s, 1h, 10s};
constexpr option_range<uint64_t> repo_bytes_range{
  1'048'576, repo_car_bytes_max, repo_car_bytes_max};
constexpr option_range<uint64_t> memory_limit_range{
  134'217'728, 1'099'511'627'776, 1'073'741'824};

/// Of `memory_limit`; and of the disk, the larger of two when the option is 0:
/// what stays free. Looked at this often.
constexpr uint64_t memory_backfill_percent = 80;
constexpr uint64_t memory_live_percent = 90;
constexpr uint64_t memory_refuse_percent = 95;

/// LevelDB's shares of it; no fewer tables than it takes, nor more.
constexpr size_t write_buffer_bytes_max = 67'108'864;
constexpr size_t block_cache_bytes_max = 67'108'864;
constexpr option_range<size_t> table_bytes_range{2'097'152, 33'554'432};
constexpr option_range<size_t> open_tables_range{64, 4'000};
constexpr option_range<uint64_t> disk_reserve_range{0, 1'099'511'627'776, 0};
constexpr uint64_t disk_reserve_bytes = 2'147'483'648;
constexpr uint64_t disk_reserve_percent = 5;
constexpr std::chrono::microseconds room_check_interval = 1s;
constexpr option_seconds consumer_retry_range{1s, 24h, consumer_retry_timeout};
constexpr option_range<size_t> consumer_window_events_range{
  1, 100'000, consumer_events_max};
constexpr option_range<size_t> consumer_window_bytes_range{
  65'536, 1'073'741'824, consumer_bytes_max};
constexpr option_range<size_t> consumer_attempts_range{
  0, 1'000, consumer_attempts_max}; ///< 0: without end.

// -- rules of a repo ----------------------------------------------------------

/// Fetched so often in this time and out of sync again: rests for its end.
constexpr size_t refetch_burst_max = 4;
constexpr auto refetch_pause = 60s;

/// A repo listed ahead of a stream that is behind is fetched after this.
constexpr auto listing_doubt_max = 1h;

/// How soon it is looked at again, when the grace is shorter.
constexpr auto listing_doubt_step = 1s;

/// A document this young is believed to name the current host.
constexpr auto identity_current = 60s;

/// The state of one account at one host is asked for once in this time.
constexpr std::chrono::minutes account_question_interval{10};

/// RepoNotFound is believed when it was said twice, this far apart.
constexpr option_seconds gone_grace_range{std::chrono::seconds{1},
                                          std::chrono::hours{24},
                                          std::chrono::minutes{5}};

/// A connection that resumes may be silent at first, until its host begins to
/// replay; without later events it has caught up after so long a rest.
constexpr std::chrono::microseconds catch_up_quiet_min
  = std::chrono::seconds{10};

/// A busy stream that is further behind proves nothing.
constexpr std::chrono::microseconds stream_lag_max = std::chrono::minutes{5};

/// Hosts that are counted apart, those with most active accounts; in a look
/// there are up to twice as many. The rest is counted together.
constexpr size_t completeness_hosts_max = 4'096;

/// Frames that wait for a document: what those of all repos may take, of
/// `memory_limit` and on disk, and which part of each those of one source (a
/// did:web's domain, else the stream) may have. Less than a 32nd of the memory:
/// or they alone could keep intake closed.
constexpr uint64_t doubt_memory_part = 64;
constexpr uint64_t doubt_disk_bytes_max = 268'435'456;
constexpr uint64_t doubt_source_part = 4;

/// A look-up that failed is made again after the shortest pause, then after
/// twice the last one, up to the longest.
constexpr auto lookup_pause_min = 2s;
constexpr auto lookup_pause_max = 5min;

/// The allocator is told to return freed memory when the process has grown by
/// so much (less is not worth the page faults) and at most so many bytes were
/// on their way for so long: it stops whoever allocates for some milliseconds.
constexpr uint64_t heap_return_bytes = 16'777'216;
constexpr uint64_t heap_rest_bytes = 1'048'576;
constexpr std::chrono::microseconds heap_rest_time = 10s;

/// The store gives up what it holds only to be fast (the write buffer of LevelDB,
/// its cache of blocks, the newest entries of the log) once the process has grown
/// by so much and rests, but no sooner than this after the last time: written
/// early, a buffer of a node that follows a slow stream would be many small tables.
constexpr std::chrono::microseconds cache_release_interval = 1h;

/// How often it is told how far they are; and so long few repos wait before
/// anybody is told of them.
constexpr auto story_interval = 30s;

/// A backfill is over when nobody has waited for so long.
constexpr auto story_rest = 5s;

/// And for so long, when accounts are being looked up.
constexpr auto story_claims_rest = 300s;

/// So many are told of at once.
constexpr uint64_t story_repos_min = 100;

/// How often it is kept to see the growth, and for how long: that of a day.
constexpr auto growth_interval = 10min;
constexpr auto growth_memory = 24h;

/// A stream whose last frames came in time, and which is quiet for so long, has
/// told all.
constexpr std::chrono::microseconds passed_quiet_min = 2s;

} // namespace weir::limits
