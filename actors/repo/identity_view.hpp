#pragma once

#include "actors/repo/identity_doubt.hpp"
#include "actors/repo/refresh_pace.hpp"
#include "actors/repo/repo_turn.hpp"

#include <optional>
#include <string>

namespace weir::actors {

/// What the known document says of a frame that it refuses: it is the last
/// word; a newer document is on its way; or a newer one is needed and does not
/// come in time.
enum class document_judgement : uint8_t { stands, awaited, needed };

/// What one repo knows of its identity (key, host, handle), and when it asks
/// IDENTITY for it anew.
///
/// Questions have numbers, and answers name the one that they answer: only a
/// document that was asked for after a frame came can be newer than that frame.
/// Wishes for a new document are met as often as `refresh_pace` allows. One
/// that an event made necessary outlives a crash: the row says `identity_due`.
class identity_view {
public:
  explicit identity_view(identity_doubt& doubt) noexcept : doubt_(doubt) {
    // nop
  }

  /// The row is there: goes on with what the last life left undone.
  void resume(repo_turn& t);

  /// The repo is new: its row is to be filled from the answer.
  void begin_life() noexcept {
    document_.reset();
    pending_ = false;
  }

  void end_life() noexcept { pace_.wanted = false; }

  // -- what is known ----------------------------------------------------------

  const std::optional<storage::identity_row>& document() const noexcept {
    return document_;
  }

  const atproto::public_key& key() const noexcept { return key_; }

  /// The host that the document names, or the last one did.
  const std::string& host(const storage::repo_row& row) const noexcept {
    return document_ ? document_->pds : row.pds;
  }

  /// The document is so young that its host is the current one.
  bool is_current(const now_time& now) const;

  /// An answer is on its way that may be a newer document.
  bool pending() const noexcept { return pending_; }

  /// No document is known, and one is awaited that is newer than what IDENTITY
  /// has in its cache.
  bool is_blind() const noexcept {
    return !document_ && pending_ && asked_ == asked_anew_;
  }

  /// A newer document is on its way or wanted, or could not be had.
  bool may_be_old() const noexcept { return pending_ || pace_.open(); }

  /// It may be old, or something speaks against it.
  bool is_disputed() const noexcept {
    return pace_.retry.doubts() || may_be_old();
  }

  /// Whoever sent a frame that the document refuses answers for that, although
  /// a newer document is needed: all look-ups that are allowed were made and
  /// answered because of such frames.
  bool may_blame() const noexcept {
    return !doubt_.open() || (!pending_ && !pace_.failing());
  }

  /// Not every answer is there; whose handle it is comes after the document.
  bool asking() const noexcept { return pending_ || answered_ != asked_; }
  bool wants_look_up() const noexcept {
    return pace_.wanted || pace_.retry.waits();
  }

  // -- frames that need a document --------------------------------------------

  /// The one rule that says how long a frame waits for a document, and with it
  /// all later frames of its repo and the position of its stream:
  /// `limits::repo_wait_max` since it came, while an answer is on its way. It
  /// does not wait when earlier frames were put aside for the same document.
  bool holds_up(const waiting_frame& x, repo_turn& t) const;

  /// The known document refuses `x`; a newer one may not. Looks that up.
  document_judgement judge_anew(waiting_frame& x, repo_turn& t);

  /// A newer document is needed. The row says that something was not judged and
  /// that a look-up is due, in case the process ends before it comes.
  void begin_doubt(repo_turn& t);

  /// By this document an event was refused: the next one with another key or
  /// host says that it may have been true, in a later life as well.
  void remember_refusal(repo_turn& t);

  // -- look-ups ---------------------------------------------------------------

  /// Loads the document if none is known.
  void ask(repo_turn& t);

  /// Looks up anew what is wished for: now, or as soon as the pace allows.
  void try_refresh(repo_turn& t);

  /// From the next `try_refresh` on.
  void want() noexcept { pace_.wanted = true; }

  void look_up(repo_turn& t) {
    want();
    try_refresh(t);
  }

  /// Outlives a crash.
  void look_up_for_sure(repo_turn& t);

  /// Something may have changed: the handle of the answer is awaited, too, and
  /// it outlives a crash. Begins with the next `try_refresh`.
  void expect_change(repo_turn& t);

  /// Something speaks against the document, so what it names may be a former
  /// host or key: a directory may have lagged behind a migration.
  void dispute(repo_turn& t);

  /// The document has changed: nothing speaks against it any more.
  void end_dispute() noexcept { pace_.retry.settle(); }

  /// The host has an account that the directory calls gone. That is asked about
  /// again as if nothing spoke against it, so that a host which says it for
  /// ever costs no more than one look-up in `limits::identity_fresh`.
  void doubt_tombstone(repo_turn& t);

  /// A try of ours failed by the known document. At most one look-up, at once.
  void refresh_if_free(repo_turn& t);

  /// The frame makes a look-up necessary, or also the one that is on its way:
  /// it is charged to the upstream that brought the frame.
  void note_cause(const waiting_frame& x, repo_turn& t);

  /// Nothing more is to come, so no look-up is due in a later life.
  void end_look_up(repo_turn& t);

  // -- answers ----------------------------------------------------------------

  /// How an answer stands to the questions.
  struct standing {
    bool last = false;   ///< Nothing more is to come.
    bool newest = false; ///< To the last question, for a new document.
  };
  standing hear(const identity_answer& x) noexcept;

  /// Makes an answer that IDENTITY gave to SUPERVISOR one to a question of this
  /// repo, so that it can be handled like any other.
  /// @returns false when it is of no use: the repo knows a document as new, or
  ///          the answer is a failure and one to the repo's own question comes.
  bool adopt(identity_answer& x, repo_turn& t);

  /// The number of questions so far.
  uint64_t asked() const noexcept { return asked_; }

  /// Whether the answer holds a new document that was asked for after the
  /// question of that number.
  bool is_newer(const identity_answer& x, uint64_t than) const noexcept {
    return x.settled && asked_anew_ > than && x.asked >= asked_anew_;
  }

  /// How a document differs from the one before.
  struct difference {
    bool key_or_host = false; ///< Other than those that events were judged by.
    bool host = false;        ///< Other than the row named, or the first one.
    bool moved = false;       ///< The row named another one.
    bool had_handle = false;  ///< The row had a verified one.
  };
  difference learn(const storage::identity_row& x, bool last, repo_turn& t);

  /// Whether that is the end of it, or the answer is to be looked up again.
  void plan_next(const identity_answer& x, bool last, bool had_handle,
                 repo_turn& t);

  /// What waits for a newer document may be judged by this one.
  bool ends_doubt(const standing& x, const repo_turn& t) const;

  void end_failures() noexcept { pace_.answered(); }

  /// There is no answer, or no such identity.
  /// @returns whether there is no such identity: no document is to come.
  bool take_failure(const identity_answer& x, repo_turn& t);

  /// @param word_waits What a host said of the account waits for a document.
  void go_on_wanting(const identity_answer& x, bool last, bool word_waits,
                     repo_turn& t);

private:
  bool was_known(const storage::repo_row& row) const noexcept;
  bool is_unknown(const identity_answer& x,
                  const storage::repo_row& row) const noexcept;
  void set_key(const storage::identity_row& x);
  void refresh(repo_turn& t);

  identity_doubt& doubt_;
  std::optional<storage::identity_row> document_;
  atproto::public_key key_; ///< Of the document.
  bool pending_ = false;
  bool has_no_document_ = false; ///< Nor has the directory, in this life.
  uint64_t asked_ = 0;           ///< The number of the last question.
  uint64_t asked_anew_ = 0; ///< Of the last one that was for a new document.
  uint64_t answered_ = 0;   ///< Of the last one that was answered in full.
  refresh_pace pace_;
};

} // namespace weir::actors
