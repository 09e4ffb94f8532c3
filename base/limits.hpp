#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The bounds of the engine; later ones of one stage are in limits_*.hpp. A name
/// says the thing and the unit; the comment says where the number comes from.
/// Values are ceilings: the value itself is accepted, value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

// -- identifiers (protocol.md 0) ----------------------------------------------
constexpr size_t did_bytes_max = 2048;
constexpr size_t handle_bytes_max = 253;
constexpr size_t nsid_bytes_max = 317;
constexpr size_t record_key_bytes_max = 512;
constexpr size_t mst_key_bytes_max = 1024;
/// Largest integer that JSON clients and stream cursors can hold: 2^53 - 1.
constexpr int64_t safe_integer_max = 9'007'199'254'740'991;
constexpr size_t label_bytes_max = 63; ///< Of a handle or an NSID's name.

// -- DRISL / DAG-CBOR (protocol.md 6, reliability.md 2.1) ---------------------
/// A real PDS takes more than the guide's 32 (6.9); one word has a bit a level.
constexpr size_t cbor_depth_max = 63;
/// Where a caller names no depth: the guide's number.
constexpr size_t cbor_depth_default = 32;
constexpr size_t frame_depth_max = 8;
constexpr size_t cbor_container_max = 131'072;
constexpr size_t cbor_map_key_bytes_max = 8'192;
constexpr size_t cid_bytes_max = 100;

// -- CAR files (protocol.md 2.2, 5; reliability.md 2.1) -----------------------
constexpr size_t car_header_bytes_max = 16'384;
constexpr size_t car_roots_max = 16;
constexpr size_t car_section_bytes_max = 2'097'152;
constexpr size_t frame_car_blocks_max = 10'000;
/// Taken slots that the look-up of a block may pass; more are contrived.
constexpr size_t car_probes_max = 64;
constexpr uint64_t repo_car_bytes_max = 1'073'741'824;
constexpr uint64_t repo_car_blocks_max = 20'000'000;

// -- repositories (protocol.md 5, 5.1) ----------------------------------------
constexpr size_t mst_depth_max = 64;
constexpr size_t mst_node_entries_max = 8'192;
constexpr size_t mst_node_bytes_max = 1'048'576;
constexpr uint64_t repo_records_max = 10'000'000;
/// The guide says 1 MiB, the PDS 1,000,000; we accept the larger (11.9).
constexpr size_t record_bytes_max = 1'048'576;

// -- stream frames (protocol.md 1, 2) -----------------------------------------
constexpr size_t frame_bytes_max = 5'000'000;
constexpr size_t commit_blocks_bytes_max = 2'000'000;
constexpr size_t commit_ops_max = 200;
constexpr size_t sync_blocks_bytes_max = 2'000'000;
/// A rev may be this far ahead of our wall clock (protocol.md 2.1.4).
constexpr auto rev_future_max = 5min;

// -- identity (protocol.md 8) -------------------------------------------------
constexpr size_t did_document_bytes_max = 131'072;
constexpr size_t did_document_depth_max = 16;
constexpr size_t did_document_entries_max = 64;
constexpr size_t handle_body_bytes_max = 2'048;

// -- codecs of atproto/ (append here, do not reorder above) -------------------
/// Containers inside each other that no caller can exceed (protocol.md 6.9).
constexpr size_t cbor_depth_hard_max = 128;
/// Of a map whose keys are out of order, where allowed: they are sorted aside.
constexpr size_t cbor_unsorted_entries_max = 64;
/// Bytes on either side of base58, which costs the square of its input.
constexpr size_t base58_bytes_max = 1'024;
/// Longest CID text the reference JSON parser takes (@atproto/lex-data 0.1).
constexpr size_t json_cid_text_max = 128;

// -- network (reliability.md 2.1, 2.2; protocol.md 1) -------------------------
constexpr size_t url_bytes_max = 8'192;
constexpr auto dns_timeout = 3s;
constexpr size_t dns_answers_max = 8;
constexpr size_t dns_answer_bytes_max = 4'096;
constexpr size_t dns_queries_max = 1'024; ///< In flight or waiting, in all.
constexpr auto connect_timeout = 5s;
constexpr auto tls_timeout = 10s;
constexpr auto first_byte_timeout = 15s;
constexpr size_t http_response_bytes_default = 1'048'576;
constexpr size_t http_response_head_bytes_max = 16'384;
constexpr auto http_total_timeout = 60s;
/// One getRepo of any size; `http_bytes_per_second_min` ends slow ones sooner.
constexpr auto repo_fetch_timeout = 30min;
constexpr uint64_t http_bytes_per_second_min = 16'384;
constexpr auto http_rate_window = 30s;
constexpr unsigned http_redirects_max = 3;
/// Informational answers (1xx) before the real one.
constexpr unsigned http_interims_max = 8;
/// One line between chunks, and all lines of a trailer.
constexpr size_t http_chunk_line_bytes_max = 256;
constexpr size_t http_trailer_bytes_max = 8'192;
constexpr std::chrono::seconds retry_wait_max = 24h; ///< Of Retry-After.
constexpr size_t http_connections_per_origin_max = 8;
constexpr size_t http_waiting_calls_max = 1'024;
constexpr auto http_client_idle_timeout = 30s;
constexpr size_t http_idle_connections_max = 64;
constexpr size_t http_request_head_bytes_max = 8'192;
constexpr size_t http_request_fields_max = 64;
constexpr size_t http_request_body_bytes_default = 1'048'576;
constexpr size_t http_server_connections_max = 1'024;
constexpr size_t http_server_per_address_max = 64;
constexpr auto http_server_head_timeout = 10s;
constexpr auto http_server_body_timeout = 30s;
constexpr auto http_server_idle_timeout = 60s;
/// What a refused client may still send, so that it reads the refusal.
constexpr auto http_linger_timeout = 2s;
constexpr size_t http_linger_bytes_max = 4'194'304;
/// Messages handed over at once (architecture.md 2: batches of 16 to 256).
constexpr size_t ws_batch_frames_max = 64;
constexpr auto ws_ping_interval = 30s;
constexpr auto ws_client_idle_timeout = 75s;
constexpr size_t ws_client_queue_max = 1'024;
constexpr size_t ws_client_queue_bytes_max = 1'048'576;
constexpr size_t ws_queue_messages_max = 1'024;
constexpr size_t ws_queue_bytes_max = 8'388'608;
constexpr size_t ws_incoming_bytes_max = 65'536;
constexpr double ws_frames_per_second_max = 1'000;
constexpr double ws_control_per_minute_max = 100;
constexpr auto ws_session_ping_interval = 25s;
constexpr auto ws_session_idle_timeout = 90s;
constexpr auto ws_stall_timeout = 30s;
/// Of a consumer: its handlers may take a minute or two (real-network.md 2).
constexpr auto channel_stall_timeout = 3min;
constexpr auto ws_close_timeout = 5s;

// -- the engine's windows (architecture.md 2) ---------------------------------
/// Frames of one upstream between socket read and durable.
constexpr size_t upstream_frames_max = 1'024;
/// They share this, down to the least: a frame waits for those of the others.
constexpr size_t all_upstreams_frames_max = 4'096;
constexpr size_t upstream_frames_min = 64;
constexpr size_t upstream_bytes_max = 16'777'216;
/// Frames forwarded to ROUTERs in one message.
constexpr size_t frame_batch_max = 256;
/// Frames with seq <= the last one before the connection is given up; #infos.
constexpr size_t seq_regressions_max = 10;
constexpr size_t infos_per_connection_max = 100;
constexpr size_t turn_messages_max = 4'096; ///< docs/adr/0006-turns.md
/// A malformed frame at one cursor is stepped over after this many tries.
constexpr size_t bad_frame_tries_max = 3;
/// So many ends of the process step over a frame; it is looked for so long.
constexpr size_t poison_frame_ends_max = 3;
constexpr auto careful_time_max = 60s;
constexpr auto upstream_backoff_min = 1s;
constexpr auto upstream_backoff_max = 60s;
constexpr auto cursor_write_interval = 1s;

/// Commits of one DID waiting in memory for identity or a backfill.
constexpr size_t repo_waiting_commits_max = 256;
constexpr size_t repo_waiting_bytes_max = 1'048'576;
constexpr size_t refresh_burst_max = 10; ///< In `identity_refresh_min`.
/// A commit waiting longer goes to the sync buffer on disk.
constexpr auto repo_wait_max = 2s;
/// A REPO that dies more often than this in the window is left alone for it.
constexpr size_t repo_restarts_max = 5;
constexpr auto repo_restart_window = 60s;
constexpr size_t repo_deaths_known_max = 1'024;
/// What an idle REPO costs, about, and an identity that is known or asked for.
constexpr size_t repo_actor_bytes = 8'192;
constexpr size_t identity_entry_bytes = 512;
/// Commits a REPO refuses in one turn; each cost what a true one does.
constexpr size_t repo_refusals_a_turn = 8;
constexpr size_t residents_min = 64;
/// REPOs that one wake may ask to close.
constexpr size_t router_close_tries_max = 16;
/// Sync buffer on disk, per repo; one byte more discards it (gap).
constexpr uint64_t repo_disk_buffer_bytes_max = 268'435'456;
/// Commits coalesced into one update.
constexpr size_t repo_coalesced_commits_max = 64;
/// Operations in one backfill chunk, and chunks of one job on their way.
constexpr size_t chunk_ops_max = 256;
constexpr size_t chunk_bytes_max = 1'048'576;
constexpr size_t job_chunks_max = 4;
/// CAR bytes of all jobs held in memory.
constexpr size_t backfill_bytes_max = 67'108'864;
/// A CAR above this lies in a file, not in memory.
constexpr size_t spool_memory_bytes_max = 8'388'608;
/// Body bytes of one fetch that were granted and not yet taken in.
constexpr size_t fetch_window_bytes = 1'048'576;
/// What is kept of an answer that is no CAR.
constexpr size_t fetch_error_bytes_max = 4'096;
/// Repositories up to this size are compared from memory, in one pass.
constexpr uint64_t import_one_pass_bytes_max = 4'194'304;
/// Content bytes a JOURNAL batch takes of backfill work.
constexpr size_t journal_backfill_bytes_max = 262'144;
/// One look-up of a document or handle (protocol.md 8.2).
constexpr auto identity_timeout = 10s;
/// DIDs in memory, DIDs being resolved or queued, look-ups on the wire.
constexpr size_t identity_cached_max = 65'536;
constexpr size_t identity_waiting_max = 100'000;
constexpr size_t identity_in_flight_max = 64;
/// An answer is believed this long (protocol.md 8.3); a failure as long as
/// `lookup_pause_min` and what follows it say.
constexpr auto identity_fresh = 24h;
/// Repos that wait for a fetch in memory; more are found again by a scan.
constexpr size_t fetch_queue_max = 1'000'000;
/// Repos whose host is being looked up.
constexpr size_t fetch_preparing_max = 64;
constexpr size_t fetch_hosts_max = 100'000;
/// Failures in a row before a host rests, ever longer; bounds Retry-After too.
constexpr size_t host_failures_max = 5;
constexpr auto host_rest_min = 1s;
constexpr auto host_rest_max = 15min;
/// After a 429 without Retry-After.
constexpr auto host_rate_limit_rest = 15s;
/// Pages of one listing, and in a row without a new DID (reliability.md 2.1).
constexpr size_t listing_pages_max = 1'000'000;
constexpr size_t listing_idle_pages_max = 3;
/// After a failed page; doubles with each further one.
constexpr auto listing_retry_min = 1s;
constexpr auto listing_retry_max = 60s;
/// Lines asked for, and lines and bytes of one listing page (protocol.md 9).
constexpr size_t listing_page_asked = 1'000;
constexpr size_t listing_page_max = 10'000;
constexpr size_t listing_bytes_max = 2'097'152;
/// Wrong passwords of an address, its lock-out, addresses that are remembered.
constexpr size_t auth_failures_max = 10;
constexpr auto auth_lock = 1min;
constexpr size_t auth_peers_max = 10'000;
constexpr size_t bulk_body_bytes_max = 8'388'608; ///< reliability.md 2.2
constexpr size_t api_page_max = 1'000; ///< Repos of a listing answer.
constexpr size_t api_page_default = 100;
/// Acks of one client; above it the socket is read more slowly.
constexpr double channel_acks_per_second_max = 50'000;
/// WebSocket channels of all clients, and of one address.
constexpr size_t channels_max = 128;
constexpr size_t channels_per_address_max = 16;
/// Updates of one JOURNAL batch, and their content bytes.
constexpr size_t journal_updates_max = 1'024;
constexpr size_t journal_bytes_max = 4'194'304;
/// Backfill rests for this while LevelDB has so many files to merge.
constexpr int level0_files_pause = 6;
constexpr auto journal_pause = 20ms;
constexpr size_t resident_repos_max = 20'000; ///< A ROUTER shard keeps alive.
/// More than so many times as many hold frames, which are tried more often.
constexpr size_t resident_crowd_factor = 2;
constexpr int held_tries_per_sweep = 10;
constexpr auto repo_idle_max = 10min;
constexpr auto repo_sweep_interval = 10s; ///< Of a ROUTER, for idle REPOs.
/// Restarts by NODE in the window; one more ends the program (P19).
constexpr size_t child_restarts_max = 3;
constexpr auto child_restart_window = 10s;

// -- the writer and the readers of the log (architecture.md 4) ----------------
/// Operations of one transaction, that is of one log block.
constexpr size_t transaction_ops_max = 256;
/// A content block takes no further body beyond this; one body may be larger.
constexpr size_t content_block_bytes_max = 65'536;
/// Bodies above it have content reference rows; the default. 0 counts them all.
constexpr size_t inline_refs_min = 1'024;
/// Streams of one repo, `$` scopes aside: its chain row names them all.
constexpr size_t repo_streams_max = 1'024;
/// Repos whose chain position the writer remembers, to save a read.
constexpr size_t repo_guards_max = 65'536;
/// Fences kept against late updates of repo actors that have ended.
constexpr size_t fences_max = 65'536;
/// Collections of one store; all their names are in memory.
constexpr size_t collections_max = 262'144;
/// One page of the log.
constexpr size_t log_page_ops_max = 256;
constexpr size_t log_page_bytes_max = 1'048'576;
/// Recent log held for those who read near its end.
constexpr size_t tail_cache_bytes_max = 33'554'432;
/// One page of record heads, and of repos.
constexpr size_t heads_page_max = 1'024;
constexpr size_t repos_page_max = 1'024;
constexpr size_t dead_letters_page_max = 1'024;
/// Rows looked at in one step of erasing a repo.
constexpr size_t erase_step_rows_max = 256;
/// A check of a store: findings kept, and records folded at once.
constexpr size_t findings_max = 1'000;
constexpr size_t fold_records_max = 262'144;

// -- walking a repository export (atproto/repo_walk) --------------------------
/// Blocks whose places are kept in memory, of so many bytes; more are spooled.
constexpr size_t walk_index_entry_bytes = 16;
constexpr size_t walk_index_entries_max = 1'048'576;
/// Places that are sorted at once; bounds the longest pause of a walk.
constexpr size_t walk_index_run_entries = 65'536;
/// One record block may stand at many paths. The bodies of a commit's or an
/// export's records may be this many times its own bytes, and no more, or one
/// block would fill the store.
constexpr uint64_t record_repeat_factor_max = 16;

// -- outward wires (spec/real-network.md 2) -----------------------------------
/// Partitions of one log.
constexpr size_t partitions_max = 256;
/// Patterns of one collection filter.
constexpr size_t filter_patterns_max = 1'024;
/// DIDs named in one request.
constexpr size_t request_dids_max = 50'000;
/// Bad DIDs that a refusal names, the bytes it shows of each, and of a pattern.
constexpr size_t named_dids_max = 5;
constexpr size_t named_did_bytes_max = 100;
constexpr size_t named_pattern_bytes_max = 64;
/// Nesting of JSON that clients send.
constexpr size_t json_depth_max = 8;
/// One message of a client on `/channel`: an ack has about 30 bytes.
constexpr size_t channel_message_bytes_max = 4'096;

// -- delivery to one consumer (architecture.md 2: log -> CONSUMER) ------------
/// Events between log and ack, and the log entries held for them.
constexpr size_t consumer_events_max = 1'000;
constexpr size_t consumer_bytes_max = 8'388'608;
/// Events of one DID among them.
constexpr size_t consumer_did_events_max = 64;
/// Reads of single DIDs on their way at once, and bytes of one answer.
constexpr size_t consumer_did_pages_max = 8;
constexpr size_t consumer_did_page_bytes_max = 262'144;
/// Parked DIDs and their sent events, whose late acks still count.
constexpr size_t consumer_parked_max = 65'536;
/// Ranges of settled events; what would split one more is a dead letter.
constexpr size_t consumer_ranges_max = 262'144;
/// Tap's TAP_RETRY_TIMEOUT; the wait between attempts doubles up to the second.
constexpr auto consumer_retry_timeout = 60s;
constexpr auto consumer_retry_delay_max = 10min;
constexpr uint32_t consumer_attempts_max = 20;
/// A DID whose full share of the window holds up others is read separately.
constexpr auto consumer_patience = 1s;
constexpr auto consumer_lazy_write = 1s; ///< For progress without acks.

// -- options of a node (actors/node/node_config, apps/weir) -------------------
constexpr option_range<double> plc_per_second_range{0.1, 10'000, 500};
constexpr option_range<size_t> pds_events_per_second_range{1, 1'000'000, 500};
constexpr size_t refused_frame_cost = 50; ///< So many events of that rate.
constexpr size_t doubted_portion_max = 4; ///< Come at a time after it.
constexpr auto event_spread_max = 1s;     ///< Streams wait so differently.
constexpr option_range<size_t> sync_parallelism_range{1, 256, 3};
constexpr option_range<size_t> sync_per_host_range{1, 64, 4};
/// `standard` is the shortest one; the longest is an hour.
constexpr option_seconds retry_backoff_range{1s, 168h, 60s};
constexpr std::chrono::seconds retry_backoff_max_standard = 1h;
constexpr option_seconds retry_scan_range{1s, 1h, 30s};
constexpr option_seconds identity_refresh_range{1s, 24h, 60s};
constexpr option_seconds listing_interval_range{1s, 720h, 24h};
constexpr option_seconds listing_grace_range{0s, 1h, 10s};
constexpr option_range<uint64_t> repo_bytes_range{
  1'048'576, repo_car_bytes_max, repo_car_bytes_max};
constexpr option_range<uint64_t> memory_limit_range{
  134'217'728, 1'099'511'627'776, 1'073'741'824};
/// Of `memory_limit` (reliability.md P9); and of the disk, the larger of two
/// when the option is 0 (P13): what stays free. Looked at this often.
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
/// 0: one a core, two a core.
constexpr option_range<size_t> threads_range{0, 256, 0};
constexpr option_range<size_t> router_shards_range{0, 1'024, 0};
constexpr option_range<size_t> readers_range{1, 64, 2};
constexpr option_range<size_t> io_threads_range{1, 2, 1};
/// Bytes of the admin password (reliability.md 2.2).
constexpr option_range<size_t> admin_password_bytes_range{16, 1'024};
constexpr size_t upstreams_max = 1'024;
constexpr size_t config_file_bytes_max = 1'048'576;

/// LevelDB's own text log, before it begins anew; one predecessor is kept.
constexpr size_t info_log_bytes_max = 1'048'576;
/// What a line of our log shows of one value.
constexpr size_t log_value_bytes_max = 2'048;

// -- rules of a repo (actors/repo) --------------------------------------------
/// Fetched so often in this time and out of sync again: rests for its end.
constexpr size_t refetch_burst_max = 4;
constexpr auto refetch_pause = 60s;
/// A repo listed ahead of a stream that is behind is fetched after this.
constexpr auto listing_doubt_max = 1h;
/// How soon it is looked at again, when the grace is shorter.
constexpr auto listing_doubt_step = 1s;
/// A document this young is believed to name the current host.
constexpr auto identity_current = 60s;
/// A REPO that was asked for its host and said nothing is asked again.
constexpr auto prepare_wait_max = 10min;

} // namespace weir::limits
