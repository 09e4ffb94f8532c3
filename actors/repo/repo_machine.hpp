#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/upstream_view.hpp"

#include <deque>

namespace weir::actors {

/// The rules of one repo's life (requirements.md parts 1 and 3, protocol.md 2
/// to 5), without CAF, clock, disk or network.
///
/// Feed it events, perform the `repo_effects` it returns. Same events, same
/// effects. Verification of signatures and proofs happens inside: only what
/// `atproto::verify_*` made is ever appended.
///
/// # Order
/// Frames are taken in the order they came; one update is in flight at a time;
/// commits that arrive meanwhile are coalesced into the next.
class repo_machine {
public:
  /// @param incarnation Of the owning actor; goes with every update.
  repo_machine(atproto::did repo, repo_settings_ptr settings,
               uint64_t incarnation);

  /// The rows as stored; no row: the repo is not tracked.
  repo_effects on_loaded(std::optional<storage::repo_row> row,
                         std::shared_ptr<const storage::chain_row> chain,
                         now_time now);

  repo_effects on_settings(repo_settings_ptr settings, now_time now);

  // -- the stream -------------------------------------------------------------

  /// @param board Used for the host rule: origin of the stream by its id.
  repo_effects on_frames(std::vector<atproto::stamped_frame> frames,
                         const upstream_board& board, now_time now);

  repo_effects on_identity(const result<storage::identity_row>& fact,
                           const upstream_board& board, now_time now);

  repo_effects on_receipt(const storage::update_receipt& receipt,
                          const upstream_board& board, now_time now);

  /// A PDS's listing counts for its own accounts only (protocol.md 2.1.2).
  repo_effects on_listed(const listed_repo& x, const upstream_board& board,
                         now_time now);

  repo_effects on_timer(const upstream_board& board, now_time now);

  // -- commands (SYNC-29, 30, 33) ---------------------------------------------

  /// @returns false in `added` when the repo was tracked already.
  repo_effects on_add(std::vector<std::string> collections, bool& added,
                      now_time now);

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

  repo_effects on_fetch_failed(uint64_t job, const fetch_failure& why,
                               now_time now);

  /// A page of the disk buffer; `end` when it was the last one.
  repo_effects on_buffer_page(std::vector<atproto::stamped_frame> frames,
                              bool end, const upstream_board& board,
                              now_time now);

  // -- state ------------------------------------------------------------------

  /// Nothing in flight, waiting or scheduled: the actor may passivate.
  bool idle() const noexcept;

  bool tracked() const noexcept {
    return exists_;
  }

  bool loaded() const noexcept {
    return loaded_;
  }

  const storage::repo_row& row() const noexcept {
    return row_;
  }

  /// Something is decided that no update carries yet.
  bool unsent() const noexcept { return next_used_; }

  /// Durable chain; null before the first index.
  const std::shared_ptr<const storage::chain_row>& chain() const noexcept {
    return chain_;
  }

  size_t waiting() const noexcept {
    return inbox_.size() + buffer_.size();
  }

  const atproto::did& repo() const noexcept {
    return repo_;
  }

private:
  enum class step : uint8_t { taken, wait };

  // repo_machine.cpp
  void pump(const upstream_board& board, now_time now, repo_effects& out);
  void flush(repo_effects& out);
  void send_chunk(repo_effects& out);
  bool accept(const storage::update_receipt& receipt, bool was_chunk,
              repo_effects& out);
  void settle(const waiting_frame& x, repo_effects& out);
  void touch_row();
  void count(repo_counter x, repo_effects& out);
  void ask_identity(repo_effects& out);
  bool may_refresh(now_time now) const;
  void refresh_identity(now_time now, repo_effects& out);
  void try_refresh(now_time now, repo_effects& out);
  void arm(steady_time at, repo_effects& out);
  void forget_waiting(repo_effects& out);

  // repo_machine_events.cpp
  step take(waiting_frame& x, const upstream_board& board, now_time now,
            repo_effects& out);
  step take_commit(waiting_frame& x, const atproto::commit_event& event,
                   now_time now, repo_effects& out);
  step take_sync(waiting_frame& x, const atproto::sync_event& event,
                 now_time now, repo_effects& out);
  step take_account(waiting_frame& x, const atproto::account_event& event,
                    now_time now, repo_effects& out);
  step refused(waiting_frame& x, const atproto::refusal& why, bool is_sync,
               now_time now, repo_effects& out);
  bool refreshing(const waiting_frame& x, now_time now, repo_effects& out);
  bool may_wait(const waiting_frame& x, now_time now, repo_effects& out);
  bool from_current_host(waiting_frame& x, const upstream_board& board,
                         now_time now, bool& wait, repo_effects& out);
  void apply_commit(const waiting_frame& x,
                    const atproto::verified_commit& commit,
                    repo_effects& out);
  void apply_sync(const waiting_frame& x, const atproto::verified_sync& sync,
                  repo_effects& out);

  // repo_machine_state.cpp, repo_machine_fetch.cpp
  void desync(std::string reason, repo_effects& out);
  void set_account(storage::account_status status, now_time now,
                   repo_effects& out);
  void append_fact(std::string_view scope, now_time now);
  void buffer(waiting_frame x, atproto::tid rev, repo_effects& out);
  void drop_buffer();
  void fail_job(now_time now, repo_effects& out, const fetch_failure& why);
  void end_job(repo_effects& out, result<void> outcome);
  void finish_fetch(now_time now);
  void read_buffer(repo_effects& out);
  void take_memory_buffer();
  void finish_drain(repo_effects& out);
  void answer_prepare(now_time now, repo_effects& out);
  bool takes_commits() const noexcept;
  bool drains_disk() const noexcept;
  storage::repo_status status_without_job() const noexcept;

  atproto::did repo_;
  repo_settings_ptr settings_;
  uint64_t incarnation_;
  bool loaded_ = false;
  bool exists_ = false;
  bool removing_ = false;
  storage::repo_row row_;
  bool row_dirty_ = false;
  std::optional<storage::repo_status> written_status_;
  std::shared_ptr<const storage::chain_row> chain_;
  tip_state tip_;

  std::optional<storage::identity_row> identity_;
  atproto::public_key key_;
  bool identity_pending_ = false;
  bool refresh_wanted_ = false;
  /// When identities were refreshed of late; at most `refresh_burst_max`.
  std::deque<steady_time> refreshes_;

  std::deque<waiting_frame> inbox_;
  storage::repo_update next_;
  std::vector<position> next_marks_;
  size_t next_bytes_ = 0;
  bool next_used_ = false;
  bool in_flight_ = false;
  bool chunk_in_flight_ = false;
  std::vector<position> held_marks_; ///< Wait for the update in flight.

  std::optional<fetch_job> job_;
  bool prepare_pending_ = false;
  std::deque<waiting_frame> buffer_;
  size_t buffer_bytes_ = 0;
  uint64_t disk_buffer_bytes_ = 0;
  bool buffer_read_pending_ = false;
  bool buffer_read_stale_ = false; ///< The page is of a job that ended.
  std::optional<suspicion> suspicion_;
};

} // namespace weir::actors
