#pragma once

#include "messages/caf_types.hpp"

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

/// All actor handles of the node, with the messages that each one accepts. Who
/// talks to whom is the architecture, so it is all on this page.
namespace weir {

/// What every actor of ours accepts: its own timer, the order to end, and the
/// question how it is.
using common_actor
  = caf::typed_actor<caf::reacts_to<tick>, caf::reacts_to<stop_actor>,
                     caf::replies_to<get_status>::with<actor_status>>;

/// Learns that rows which it asked the JOURNAL to write are durable.
using rows_sink = caf::typed_actor<caf::reacts_to<rows_durable>>;

/// The READER: reads the store for others, on its own thread.
using reader_actor = common_actor::extend<
  // Runs the job with the store's readers. The job sends its answer itself.
  caf::reacts_to<reader_job>>;

/// The SWEEPER: removes erased content from the disk and what is spent from the
/// log, and frees memory that an idle store does not need.
using sweeper_actor = common_actor::extend<
  caf::reacts_to<erase_begun>, caf::reacts_to<erase_stepped>,
  caf::reacts_to<log_trimmed>, caf::reacts_to<replaced_erased>,
  caf::reacts_to<release_caches>, caf::reacts_to<sweep_on>>;

/// The UPSTREAM: one connection to a PDS or relay.
using upstream_actor = common_actor::extend<
  caf::reacts_to<stream_opened>, caf::reacts_to<stream_frames>,
  caf::reacts_to<stream_closed>,
  // These frames are durable, or were dropped by a rule.
  caf::reacts_to<frames_done>,
  // Frames were lost inside of the node: read them again.
  caf::reacts_to<frames_lost>, caf::reacts_to<rows_durable>,
  caf::reacts_to<intake_changed>>;

/// The REPO: owns the state of exactly one account.
using repo_actor = common_actor::extend<
  caf::reacts_to<repo_frames>, caf::reacts_to<repo_loaded>,
  caf::reacts_to<identity_answer>, caf::reacts_to<repo_receipt>,
  caf::reacts_to<passivate_repo>,
  caf::replies_to<repo_listed>::with<listing_taken>,
  // Its host was asked for the state of the account.
  caf::reacts_to<account_said>, caf::reacts_to<account_unasked>,
  caf::reacts_to<repo_incomplete>,
  // Commands. Each is answered when it is decided.
  caf::replies_to<add_repos>::with<add_result>,
  caf::replies_to<remove_repos>::with<remove_result>,
  caf::replies_to<resync_repos>::with<resync_result>,
  caf::replies_to<ask_tracked>::with<tracked_reply>,
  // The next ones are for a fetch: from the SUPERVISOR, then from BACKFILL.
  caf::replies_to<begin_fetch>::with<job_ended>,
  caf::replies_to<attend_repo>::with<repo_attended>,
  caf::reacts_to<repo_chunk>, caf::reacts_to<repo_fetched>,
  caf::reacts_to<repo_fetch_failed>, caf::reacts_to<repo_buffer_page>>;

/// One shard of the ROUTER: finds the REPO of a DID, wakes it, and puts it to
/// sleep.
using router_actor = common_actor::extend<
  caf::reacts_to<frame_batch>, caf::reacts_to<repo_passive>,
  caf::reacts_to<repo_removed>,
  caf::reacts_to<journal_fenced>, caf::reacts_to<journal_noted>,
  caf::reacts_to<line_undecided>,
  // Commands for DIDs of this shard. They are forwarded to their REPOs.
  caf::replies_to<add_repos>::with<add_result>,
  caf::replies_to<remove_repos>::with<remove_result>,
  caf::replies_to<resync_repos>::with<resync_result>,
  // Answers when its REPOs have handled all lines.
  caf::replies_to<repo_listing>::with<listing_taken>,
  // The decisions on DIDs that the stream of a PDS named.
  caf::reacts_to<stream_claim_decided>, caf::reacts_to<stream_claims_rest>,
  caf::replies_to<begin_fetch>::with<job_ended>,
  caf::replies_to<attend_repo>::with<repo_attended>,
  caf::reacts_to<account_said>,
  caf::reacts_to<account_unasked>, caf::reacts_to<repo_incomplete>>;

/// The JOURNAL: the only writer of one store.
using journal_actor = common_actor::extend<
  // One atomic change of a repo. The answer `repo_receipt` comes when it is
  // durable.
  caf::reacts_to<journal_update, repo_actor>,
  // Rows of other tables. Answers `rows_durable`, unless the handle is empty.
  caf::reacts_to<journal_rows, rows_sink>,
  // A REPO died, so its late updates must not be written. Answers
  // `journal_fenced` when all earlier updates of that DID were written.
  caf::reacts_to<journal_fence, router_actor>,
  // Events of a repo were dropped, and its row must say so. Answers
  // `journal_noted` when that is durable.
  caf::reacts_to<journal_missed, router_actor>,
  caf::reacts_to<journal_flush>,
  // One step of an erasing, which is answered by `erase_stepped`; and its end.
  caf::reacts_to<erase_step, sweeper_actor>, caf::reacts_to<erase_over>,
  // Spent blocks of the log. Answers `log_trimmed`.
  caf::reacts_to<trim_log, sweeper_actor>,
  // Contents of replaced versions. Answers `replaced_erased`.
  caf::reacts_to<erase_replaced, sweeper_actor>,
  caf::reacts_to<content_purged>>;

/// The BACKFILL: one fetch of one repo.
using backfill_actor = common_actor::extend<
  caf::reacts_to<fetch_head>, caf::reacts_to<fetch_bytes>,
  caf::reacts_to<fetch_ended>, caf::reacts_to<backfill_step>,
  caf::reacts_to<result<import_progress>>,
  caf::reacts_to<heads_page>, caf::reacts_to<chunk_stored>,
  caf::reacts_to<job_cancelled>>;

/// The SUPERVISOR: which repo is fetched next, budgets of hosts, retries,
/// listings.
using supervisor_actor = common_actor::extend<
  caf::reacts_to<repo_wish>, caf::reacts_to<fetch_begun, backfill_actor>,
  caf::reacts_to<host_report>, caf::reacts_to<fetch_progress>,
  caf::reacts_to<result<scan_page>>,
  // An UPSTREAM may have missed events: compare a listing.
  caf::reacts_to<node_command>, caf::reacts_to<clock_corrected>,
  caf::reacts_to<listing_page>,
  caf::reacts_to<listing_compared>, caf::reacts_to<identity_answer>,
  caf::reacts_to<stream_claim>, caf::reacts_to<intake_changed>,
  // States of accounts at their hosts, and repos that a listing left out.
  caf::reacts_to<account_question>, caf::reacts_to<account_answer>,
  caf::reacts_to<left_out_page>, caf::reacts_to<result<uncovered_page>>,
  caf::reacts_to<result<completeness_page>>>;

/// An actor that asks the IDENTITY.
using identity_sink = caf::typed_actor<caf::reacts_to<identity_answer>>;

/// The IDENTITY: key, host and handle of a DID.
using identity_actor = common_actor::extend<
  // Answers `identity_answer`, and a second time after a handle was verified.
  caf::reacts_to<identity_ask, identity_sink>,
  caf::reacts_to<identity_stored>,
  caf::reacts_to<identity_document>, caf::reacts_to<identity_handle>,
  caf::reacts_to<identity_shared>,
  // The directory's export.
  caf::reacts_to<export_page>, caf::reacts_to<export_stored>,
  caf::reacts_to<rows_durable>>;

/// The CONSUMER: one application's durable reading of the log.
using consumer_actor = common_actor::extend<
  // The log is durable up to here.
  caf::reacts_to<log_advanced>, caf::reacts_to<log_page>,
  caf::reacts_to<did_page>, caf::reacts_to<channel_opened>,
  caf::reacts_to<acks_waiting>, caf::reacts_to<channel_refused>,
  caf::reacts_to<channel_closed>, caf::reacts_to<rows_durable>,
  // Dead letters, and the age of the oldest event.
  caf::replies_to<letters_order>::with<letters_report>,
  caf::reacts_to<letters_found>,
  caf::reacts_to<unread_log>>;

/// The BACKUP: copies all stores while the node goes on.
using backup_actor = common_actor::extend<
  // Answers when the backup is complete.
  caf::replies_to<make_backup>::with<backup_made>>;

/// The API: the routes that ask actors and readers.
using api_actor = common_actor::extend<caf::reacts_to<api_call>,
                                       caf::reacts_to<api_lookup>,
                                       caf::reacts_to<identity_answer>>;

/// The part of NODE that watches memory and disk. It asks a READER for the
/// disk, and tells the actors that take data in.
using room_actor = common_actor::extend<caf::reacts_to<disk_reading>>;

} // namespace weir
