#pragma once

#include "actors/repo/frame_rules.hpp"
#include "actors/repo/repo_life.hpp"
#include "actors/support/waiting_room.hpp"

namespace weir::actors {

/// The rules of one repo's life (CONS-01 to CONS-30, SYNC-01 to SYNC-33;
/// protocol-coverage.md 2 to 5), without CAF, clock, disk or network.
///
/// Feed it events and carry out the `repo_effects` that it returns. The same
/// events give the same effects. Only values that `atproto::verify_*` made in
/// here are ever appended.
///
/// The machine owns its row and the parts that contain the rules. Each event
/// becomes one `repo_turn`, which is passed to the part that handles the event.
/// A part knows only the parts that are declared before it, so a rule that two
/// parts share is in the later one. This class itself decides in which order
/// several parts handle the same event, what a new document means for all of
/// them, when an update is sent, and whether the repo may passivate.
///
/// # Order
/// Frames are taken in the order in which they came. One update is in flight at
/// a time; commits that arrive meanwhile go into the next update.
class repo_machine {
public:
  /// @param incarnation The owning actor's number, sent with every update.
  repo_machine(atproto::did repo, repo_settings_ptr, uint64_t incarnation);

  // The parts hold references to each other.
  repo_machine(const repo_machine&) = delete;
  repo_machine& operator=(const repo_machine&) = delete;

  /// Called with the rows as stored. Without a row the repo is not tracked.
  repo_effects on_loaded(storage::repo_state x, now_time now);
  /// All commands that waited for the rows were handled: frames are judged now.
  repo_effects on_awake(now_time now);

  // -- the stream -------------------------------------------------------------
  repo_effects on_frames(std::vector<atproto::stamped_frame> frames,
                         now_time now);
  repo_effects on_identity(const identity_answer& x, now_time now);
  repo_effects on_receipt(const storage::update_receipt& receipt, now_time now);
  /// A line of a listing names the repo.
  repo_effects on_listed(const repo_listed& x, now_time now);
  /// The host was asked for the status of the account, or could not be asked.
  repo_effects on_host_answer(const account_said& x, now_time now);
  repo_effects on_host_unasked(const account_unasked& x, now_time now);
  repo_effects on_incomplete(const repo_incomplete& x, now_time now);
  repo_effects on_timer(now_time now);

  // -- commands (SYNC-29, 30, 33) ---------------------------------------------
  /// @param added False: it was tracked. During a removal the addition waits.
  repo_effects on_add(add_repos what, bool& added, now_time now);
  repo_effects on_remove(bool& removed, now_time now);
  repo_effects on_resync(bool& queued, now_time now);

  // -- backfill ---------------------------------------------------------------
  /// A permit was granted. @pre `x` has a document.
  repo_effects on_begin(uint64_t job, const identity_answer& x, now_time now);
  /// SUPERVISOR found no host for a fetch. @param failed The reason.
  repo_effects on_no_host(const identity_answer& x,
                          std::optional<error>& failed, now_time now);
  repo_effects on_chunk(repo_chunk chunk, now_time now);
  repo_effects on_fetched(uint64_t job, const atproto::verified_root& root,
                          now_time now);
  repo_effects on_fetch_failed(const repo_fetch_failed& why, now_time now);
  repo_effects on_buffer_page(repo_buffer_page page, now_time now);
  repo_effects on_no_room(now_time now);

  // -- state ------------------------------------------------------------------
  /// Whether nothing is in flight, waiting or scheduled: it may passivate.
  /// @param must_yield Too many REPOs are awake: it gives up what waits for
  /// a document, as after a crash. Its row says that a look-up is due.
  bool idle(bool must_yield = false) const noexcept;
  /// The actor passivates: a fetch that was put off waits in the queue.
  repo_effects on_sleep(now_time now);
  /// Whether the repo is on disk, or may be.
  bool tracked() const noexcept { return life_.lives() || life_.removing(); }
  bool loaded() const noexcept { return life_.loaded(); }
  const storage::repo_row& row() const noexcept { return row_; }
  /// Number of updates that follow for what is decided and not sent yet.
  size_t unsent() const noexcept {
    return (lane_.unsent() ? 1u : 0u) + (life_.is_queued() ? 1u : 0u);
  }
  /// The same, and the update among these effects, which are not carried out.
  size_t unsent(const repo_effects& out) const noexcept {
    return (out.update ? 1u : 0u) + unsent();
  }
  const open_line* undecided_line() const noexcept { return listed_.get(); }
  /// Number of frames that are not finished or are kept in memory.
  size_t waiting() const noexcept { return inbox_.size() + buffer_.size(); }
  size_t held_bytes() const noexcept;
  /// What the commits kept for a document take, and the stream of the first.
  waiting_bytes wait_bytes() const noexcept { return gate_.kept(); }
  uint32_t wait_from() const noexcept { return wait_.from(); }
  const atproto::did& repo() const noexcept { return lane_.repo(); }

private:
  template <class Rules>
  repo_effects take_turn(now_time now, Rules rules);
  template <class Rules>
  repo_effects when_alive(now_time now, Rules rules);
  template <class Rules>
  repo_effects when_runs(uint64_t job, now_time now, Rules rules);
  void take_identity(const identity_answer& x,
                     const identity_view::standing& heard, repo_turn& t);
  void take_document(const identity_answer& x,
                     const identity_view::standing& heard, repo_turn& t);
  void adopt_identity(identity_answer x, repo_turn& t);
  void pump(repo_turn& t);
  bool may_take() const noexcept;
  void flush(repo_turn& t);
  bool accept(const storage::update_receipt& receipt, bool was_chunk,
              repo_turn& t);

  repo_settings_ptr settings_;
  storage::repo_row row_; ///< The row as the next update will write it.
  update_lane lane_;
  repo_inbox inbox_;
  kept_collections kept_;
  repo_chain chain_;
  document_wait wait_;
  identity_view identity_{wait_};
  sync_buffer buffer_{inbox_, wait_};
  fetch_job job_{buffer_};
  sync_state sync_{job_, buffer_, identity_, wait_, kept_};
  host_question question_{identity_};
  open_lines listed_;
  account_rules account_{job_, sync_, identity_, chain_, question_, listed_};
  copy_proof proof_{account_, job_, sync_, identity_, chain_, listed_};
  host_words words_{account_, proof_, job_, sync_, identity_, question_};
  fetch_session fetch_{words_, job_, buffer_, sync_, identity_, wait_, chain_};
  repo_life life_{inbox_, kept_,    chain_, identity_,
                  sync_,  account_, words_, fetch_};
  document_gate gate_{account_, job_, buffer_, sync_, identity_, wait_};
  frame_rules frames_{inbox_, account_,  proof_, gate_,  job_,
                      sync_,  identity_, wait_, chain_, kept_};
};

} // namespace weir::actors
