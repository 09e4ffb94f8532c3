#pragma once

#include "actors/repo/host_question.hpp"
#include "actors/repo/identity_doubt.hpp"
#include "actors/repo/refetch_plan.hpp"
#include "actors/repo/refresh_pace.hpp"
#include "actors/repo/repo_parts.hpp"
#include "actors/support/account_sources.hpp"
#include "actors/support/doubt_room.hpp"

namespace weir::actors {

/// The rules of one repo's life (CONS and SYNC of requirements.md,
/// protocol-coverage.md 2 to 5), without CAF, clock, disk or network.
///
/// Feed it events, perform the `repo_effects` it returns. Same events, same
/// effects. Only what `atproto::verify_*` made in here is ever appended.
///
/// # Order
/// Frames are taken in the order they came; one update is in flight at a time;
/// commits that arrive meanwhile are coalesced into the next.
class repo_machine {
public:
  /// @param incarnation Of the owning actor; goes with every update.
  repo_machine(atproto::did repo, repo_settings_ptr, uint64_t incarnation);

  /// The rows as stored; no row: the repo is not tracked.
  repo_effects on_loaded(std::optional<storage::repo_row> row,
                         std::shared_ptr<const storage::chain_row> chain,
                         std::optional<storage::member_row> member,
                         now_time now);
  /// All commands that waited for the rows were heard: frames are decided now.
  repo_effects on_awake(const upstream_board& board, now_time now);
  repo_effects on_settings(repo_settings_ptr settings, now_time now);

  // -- the stream -------------------------------------------------------------
  /// @param board Used for the host rule: origin of the stream by its id.
  repo_effects on_frames(std::vector<atproto::stamped_frame> frames,
                         const upstream_board& board, now_time now);
  repo_effects on_identity(const identity_answer& x,
                           const upstream_board& board, now_time now);
  repo_effects on_receipt(const storage::update_receipt& receipt,
                          const upstream_board& board, now_time now);
  /// A PDS's listing counts for its own accounts (protocol-coverage.md 2.1.2).
  repo_effects on_listed(const listed_repo& x, const upstream_board& board,
                         now_time now);
  /// The current host was asked what the account is there, or could not be.
  repo_effects on_host_answer(const host_answer& x, const upstream_board& board,
                              now_time now);
  repo_effects on_host_unasked(bool not_found, bool urgent, now_time now);
  repo_effects on_incomplete(const incompleteness&, const upstream_board&,
                             now_time);
  repo_effects on_timer(const upstream_board& board, now_time now);

  // -- commands (SYNC-29, 30, 33) ---------------------------------------------
  /// @param added False: it was tracked. During a removal it waits for that.
  repo_effects on_add(addition what, bool& added, now_time now);
  repo_effects on_remove(bool& removed, now_time now);
  repo_effects on_resync(bool& queued, now_time now);

  // -- backfill ---------------------------------------------------------------
  /// The SUPERVISOR asks where to fetch from.
  repo_effects on_prepare(now_time now);
  /// A permit was granted. @param noted Position of the accounting upstream.
  repo_effects on_begin(uint64_t job, const position& noted, now_time now);
  repo_effects on_chunk(fetch_chunk chunk, now_time now);
  repo_effects on_fetched(uint64_t job, const atproto::verified_root& root,
                          const upstream_board& board, now_time now);
  repo_effects on_fetch_failed(uint64_t job, const fetch_failure&, now_time);
  repo_effects on_buffer_page(buffer_page page, const upstream_board& board,
                              now_time now);
  repo_effects on_no_room(now_time now);

  // -- state ------------------------------------------------------------------
  /// Nothing in flight, waiting or scheduled: the actor may passivate. `crowded`:
  /// as a crash would, gives up what waits for a document, which the row keeps.
  bool idle(bool crowded = false) const noexcept;
  repo_effects on_sleep(now_time now); ///< It passivates: its fetch waits in the queue.
  /// On disk, or it may be.
  bool tracked() const noexcept { return exists_ || removing_; }
  bool loaded() const noexcept { return loaded_; }
  const storage::repo_row& row() const noexcept { return row_; }
  /// Updates to come for what is decided and not sent yet.
  size_t unsent() const noexcept {
    return (next_used_ ? 1u : 0u) + (queued_add_ ? 1u : 0u);
  }
  const std::optional<suspicion>& doubt() const noexcept { return suspicion_; }
  /// Durable chain; null before the first index.
  const std::shared_ptr<const storage::chain_row>& chain() const noexcept {
    return chain_;
  }
  size_t waiting() const noexcept;
  size_t held_bytes() const noexcept;
  doubt_bytes doubted() const noexcept;
  uint32_t doubted_from() const noexcept { return doubt_.from(); }
  const atproto::did& repo() const noexcept { return repo_; }

private:
  using step = frame_step;
  using judgement = document_judgement;
  // repo_machine.cpp
  void pump(const upstream_board& board, now_time now, repo_effects& out);
  void judge_suspicion(const upstream_board&, now_time, repo_effects& out);
  void touch_row();
  void count(repo_counter x, repo_effects& out);
  void arm(steady_time at, repo_effects& out);
  void forget_waiting(repo_effects& out);
  void make_room(const upstream_board&, now_time, repo_effects& out);
  // repo_machine_updates.cpp
  void flush(repo_effects& out);
  void remember_sent();
  void send_chunk(repo_effects& out);
  bool accept(const storage::update_receipt&, bool was_chunk, now_time,
              repo_effects&);
  void take_refusal(const std::string& reason, now_time, repo_effects& out);
  void drop_commits();
  void settle(const waiting_frame& x, repo_effects& out);
  // repo_machine_events.cpp
  step take_known(waiting_frame& x, const atproto::frame_event& event,
                  const upstream_board&, now_time, repo_effects& out);
  step take(waiting_frame& x, const upstream_board&, now_time, repo_effects&);
  void take_poison(const waiting_frame& x, now_time now, repo_effects& out);
  bool needs_nothing(const waiting_frame&, const atproto::frame_event&,
                     const upstream_board&, now_time now, repo_effects& out);
  step take_commit(waiting_frame& x, const atproto::commit_event& event,
                   const upstream_board&, now_time, repo_effects& out);
  step take_sync(waiting_frame& x, const atproto::sync_event& event,
                 const upstream_board& board, now_time now, repo_effects& out);
  step refused(waiting_frame& x, const atproto::refusal& why, bool is_sync,
               const upstream_board& board, now_time now, repo_effects& out);
  std::vector<storage::new_operation>
  kept_of(const std::vector<atproto::verified_op>& ops);
  void apply_commit(const waiting_frame& x, const atproto::verified_commit&,
                    const upstream_board& board, repo_effects& out);
  void move_tip(const waiting_frame& x, tip_state to);
  void apply_sync(const waiting_frame& x, const atproto::verified_sync& sync,
                  const upstream_board& board);
  void note_position(const waiting_frame& x, atproto::tid rev,
                     const upstream_board& board, bool always = false);
  // repo_machine_identity.cpp
  void ask_identity(repo_effects& out);
  void refresh_identity(now_time now, repo_effects& out);
  void try_refresh(now_time now, repo_effects& out);
  void take_hint(const waiting_frame& x, now_time now, repo_effects& out);
  judgement judge_anew(waiting_frame& x, now_time now, repo_effects& out);
  step leave_in_doubt(waiting_frame& x, judgement, now_time, repo_effects&);
  void mark_doubt();
  bool is_document_new() const noexcept;
  void end_gap();
  std::optional<step> check_host(waiting_frame& x, const upstream_board& board,
                                 now_time now, repo_effects& out);
  void end_look_up();
  void end_doubt(const upstream_board& board, now_time now, repo_effects& out);
  void give_up_kept(now_time now, repo_effects& out);
  void take_change(now_time now, repo_effects& out);
  void take_no_identity(const identity_answer& x, bool last,
                        const upstream_board&, now_time, repo_effects& out);
  bool learn(const storage::identity_row&, bool last, now_time, repo_effects&);
  // repo_machine_accounts.cpp
  void append_fact(std::string_view scope, now_time now);
  bool account_replayed(const position& at) const noexcept;
  void take_account(const waiting_frame&, const atproto::account_event&,
                    const upstream_board&, now_time, repo_effects&);
  void obey_event(const account_sources::saying&, const upstream_board&, now_time,
                  repo_effects&);
  void hear_account(const account_sources::saying& what, const upstream_board&,
                    now_time, repo_effects& out);
  void follow_words(now_time now, repo_effects& out);
  void ask_host(now_time now, repo_effects& out);
  void ask_for_lost(now_time now, repo_effects& out);
  void note_lost(now_time now);
  void doubt_inactive(now_time now, repo_effects& out);
  void believe_host(now_time now, repo_effects& out);
  void doubt_document(now_time now, repo_effects& out);
  void doubt_tombstone(now_time now, repo_effects& out);
  void hear_tombstone(const storage::identity_row&, now_time, repo_effects&);
  void move_host(const std::string& pds);
  void purge();
  bool hear_refusal(storage::account_status, now_time, repo_effects& out);
  void take_host_word(const identity_answer&, now_time, repo_effects& out);
  void forget_failure();
  void obey_host(storage::account_status, now_time, repo_effects& out);
  void look_for_move(storage::account_status, now_time, repo_effects&);
  void hear_rev(const host_answer&, const upstream_board&, now_time, repo_effects&);
  void hear_proof(const host_answer&, const upstream_view&, now_time,
                  repo_effects&); // repo_machine_proof.cpp, all three
  // repo_machine_state.cpp
  void desync(std::string reason, now_time now, repo_effects& out);
  void wish_fetch(now_time now, repo_effects& out);
  void open_gap(now_time now, repo_effects& out);
  void attend_gap(now_time now, repo_effects& out);
  void hurry_fetch(now_time now, repo_effects& out);
  void set_filter(const storage::member_row& member);
  const wire::collection_filter& filter() const noexcept;
  void check_filter(now_time now, repo_effects& out);
  bool take_collections(const std::vector<std::string>& x, now_time now,
                        repo_effects& out);
  void begin_life(addition what, now_time now, repo_effects& out);
  void hear_missed(const addition& what, now_time now, repo_effects& out);
  void finish_removal(const upstream_board&, now_time, repo_effects& out);
  bool takes_commits() const noexcept;
  storage::repo_status status_without_job() const noexcept;
  // repo_machine_fetch.cpp
  void buffer(waiting_frame x, now_time now, repo_effects& out);
  void drop_buffer();
  void fail_job(now_time now, repo_effects& out, const fetch_failure& why);
  void end_job(repo_effects& out, result<void> outcome);
  void finish_fetch(now_time now);
  void read_buffer(repo_effects& out);
  void take_memory_buffer();
  void finish_drain(now_time now, repo_effects& out);
  void continue_fetch(now_time now, repo_effects& out);
  bool drains() const noexcept;
  bool drains_disk() const noexcept;
  bool wants_fetch() const noexcept;

  atproto::did repo_;
  repo_settings_ptr settings_;
  uint64_t incarnation_;
  bool loaded_ = false, exists_ = false, removing_ = false, row_dirty_ = false;
  std::optional<addition> queued_add_; ///< After a removal.
  std::optional<wire::collection_filter> own_filter_;
  storage::repo_row row_;
  std::optional<storage::repo_status> written_status_;
  std::shared_ptr<const storage::chain_row> chain_;
  tip_state tip_;
  std::optional<storage::identity_row> identity_;
  atproto::public_key key_;
  bool identity_pending_ = false, prepare_pending_ = false;
  bool has_no_document_ = false; ///< Nor has the directory, in this life.
  uint64_t asked_ = 0, asked_anew_ = 0, answered_ = 0; ///< For the identity.
  refresh_pace pace_;
  identity_doubt doubt_;
  refetch_plan refetch_;
  lazy_deque<waiting_frame> inbox_;
  size_t refusals_ = 0; ///< In this turn.
  storage::repo_update next_;
  std::vector<position> next_marks_;
  size_t next_bytes_ = 0;
  bool next_used_ = false, in_flight_ = false, chunk_in_flight_ = false;
  std::vector<position> held_marks_; ///< Wait for the update in flight.
  sent_update sent_;
  std::optional<fetch_job> job_;
  sync_buffer kept_;
  std::optional<suspicion> suspicion_;
  std::optional<host_word> host_word_;
  host_question question_;
};

} // namespace weir::actors
