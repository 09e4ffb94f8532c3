#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/fwd.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

namespace weir {

// One struct a message; its header says who sends it and whether it travels.
struct add_repos;
struct add_result;
struct backfill_step;
struct begin_fetch;
struct channel_closed;
struct channel_opened;
struct channel_text;
struct chunk_stored;
struct did_page;
struct fetch_bytes;
struct fetch_ended;
struct fetch_head;
struct fetch_result;
struct fetch_started;
struct frame_batch;
struct frames_done;
struct frames_lost;
struct heads_page;
struct host_report;
struct identity_ask;
struct identity_document;
struct identity_fact;
struct identity_handle;
struct identity_stored;
struct job_cancelled;
struct job_ended;
struct journal_fence;
struct journal_fenced;
struct journal_flush;
struct journal_rows;
struct journal_update;
struct listing_compared;
struct listing_page;
struct listing_taken;
struct log_advanced;
struct log_page;
struct node_command;
struct passivate_repo;
struct prepare_fetch;
struct reader_job;
struct remove_repos;
struct remove_result;
struct repo_buffer_page;
struct repo_chunk;
struct repo_fetch_failed;
struct repo_fetched;
struct repo_frames;
struct repo_listed;
struct repo_listing;
struct repo_loaded;
struct repo_passive;
struct repo_ready;
struct repo_receipt;
struct repo_status_reply;
struct repo_status_request;
struct repo_wish;
struct resync_repos;
struct resync_result;
struct rows_durable;
struct scan_page;
struct settings_changed;
struct stop_actor;
struct stream_closed;
struct stream_frames;
struct stream_opened;
struct tick;

} // namespace weir
