#pragma once

#include "actors/repo/document_wait.hpp"
#include "actors/repo/refresh_pace.hpp"
#include "actors/repo/repo_turn.hpp"

#include <optional>
#include <string>

namespace weir::actors {

/// What to do with a frame that the known document refuses: it is final, or a
/// newer document is on its way, or is needed and does not come in time.
enum class document_judgement : uint8_t { stands, awaited, needed };

/// What one repo knows of its identity (key, host, handle), and when it asks
/// IDENTITY for a newer answer.
///
/// Questions are numbered, and each answer names its question: only a document
/// that was requested after a frame came can be newer than that frame. New
/// documents are requested as often as `refresh_pace` allows. A look-up that an
/// event made necessary survives a crash: the row says `identity_due`.
class identity_view {
public:
  explicit identity_view(document_wait& wait) noexcept : wait_(wait) {}

  /// The row was loaded: the look-up of the last life is continued.
  void resume(repo_turn& t);

  /// The repo is new, so its row must be filled from the answer.
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

  /// The host of the known document, or of the last one.
  const std::string& host(const storage::repo_row& row) const noexcept {
    return document_ ? document_->pds : row.pds;
  }

  /// Whether the document is so young that its host counts as the current one.
  bool is_current(const now_time& now) const;

  /// Whether an answer is on its way that may be a newer document.
  bool pending() const noexcept { return pending_; }

  /// Whether no document is known, and a new one is on its way.
  bool is_blind() const noexcept {
    return !document_ && pending_ && asked_ == asked_anew_;
  }

  /// Whether a newer document is on its way, wanted, or could not be had.
  bool may_be_old() const noexcept { return pending_ || pace_.open(); }

  /// Whether the document may be old or there is evidence against it.
  bool is_disputed() const noexcept {
    return pace_.retry.has_evidence() || may_be_old();
  }

  /// Whether a sender is responsible for a frame that the document refuses,
  /// although a newer document may be needed. This is so when all look-ups that
  /// such frames allowed were made and answered.
  bool may_blame() const noexcept {
    return !wait_.open() || (!pending_ && !pace_.failing());
  }

  /// Whether an answer is still to come, be it only the check of the handle.
  bool asking() const noexcept { return pending_ || answered_ != asked_; }
  bool wants_look_up() const noexcept {
    return pace_.wanted || pace_.retry.waits();
  }

  // -- frames that need a document --------------------------------------------

  /// How long a frame waits for a document (docs/protocol-coverage.md 2.5.6),
  /// and all later frames of its repo and the position of its stream with it:
  /// for `limits::repo_wait_max` after it arrived, while an answer is to come,
  /// and not when earlier frames were put aside for the same document.
  bool holds_up(const waiting_frame& x, repo_turn& t) const;

  /// The known document refuses `x`: looks up a newer one, which may accept it.
  document_judgement judge_anew(waiting_frame& x, repo_turn& t);

  /// A newer document is needed. The row records that something was not judged
  /// and that a look-up is due, in case the process ends before the answer.
  void begin_wait(repo_turn& t);

  /// An event was refused by this document. If a later one, even of another
  /// life, has another key or host, the event may have been valid.
  void remember_refusal(repo_turn& t);

  // -- look-ups ---------------------------------------------------------------

  /// Loads the document if none is known.
  void ask(repo_turn& t);

  /// Makes the look-up that is wanted: now, or as soon as the pace allows.
  void try_refresh(repo_turn& t);

  /// Wants a look-up, which begins with the next `try_refresh`.
  void want() noexcept { pace_.wanted = true; }

  void look_up(repo_turn& t) {
    want();
    try_refresh(t);
  }

  /// Does the same as `look_up`, and the look-up survives a crash.
  void look_up_for_sure(repo_turn& t);

  /// The identity may have changed: waits for the handle, too, and the look-up
  /// survives a crash. The look-up begins with the next `try_refresh`.
  void expect_change(repo_turn& t);

  /// There is evidence against the document: its host or key may be a former
  /// one, because the directory may have lagged behind a migration.
  void dispute(repo_turn& t);

  /// The document has changed, so there is no evidence against it any more.
  void end_dispute() noexcept { pace_.retry.settle(); }

  /// The host has an account that the directory reports as gone. The directory
  /// is asked again, but as if there were no evidence against the document: a
  /// host that repeats this for ever costs at most one look-up in
  /// `limits::identity_fresh`.
  void recheck_tombstone(repo_turn& t);

  /// A request failed with the known document: at most one look-up, now.
  void refresh_if_free(repo_turn& t);

  /// The frame makes a look-up necessary, or is one more cause of the one that
  /// is on its way, which is charged to the upstream of the frame.
  void note_cause(const waiting_frame& x, repo_turn& t);

  /// No answer is awaited, so the row need not ask for a look-up.
  void end_look_up(repo_turn& t);

  // -- answers ----------------------------------------------------------------

  /// How an answer relates to the questions.
  struct standing {
    bool last = false; ///< No further answer follows.
    /// It answers the last question, which was for a new document.
    bool newest = false;
  };
  standing hear(const identity_answer& x) noexcept;

  /// Makes an answer that IDENTITY gave to SUPERVISOR one to a question of this
  /// repo, so that it can be handled like any other.
  /// @returns false when it is of no use: the repo knows a document as new, or
  ///          the answer is a failure and one to the repo's own question comes.
  bool adopt(identity_answer& x, repo_turn& t);

  /// The number of questions so far.
  uint64_t asked() const noexcept { return asked_; }

  /// Whether it is a new document, requested after the question `than`.
  bool is_newer(const identity_answer& x, uint64_t than) const noexcept {
    return x.settled && asked_anew_ > than && x.asked >= asked_anew_;
  }

  /// How a document differs from the one before.
  struct difference {
    /// It is not the one by which events were judged.
    bool key_or_host = false;
    bool host = false;       ///< The row named another host, or none.
    bool moved = false;      ///< The row named another host.
    bool had_handle = false; ///< The row had a verified handle.
  };
  difference learn(const storage::identity_row& x, bool last, repo_turn& t);

  /// Decides whether the question is closed or the identity is looked up again.
  void plan_next(const identity_answer& x, bool last, bool had_handle,
                 repo_turn& t);

  /// Whether what waits for a newer document may be judged by this one.
  bool ends_wait(const standing& x, const repo_turn& t) const;

  void end_failures() noexcept { pace_.answered(); }

  /// There was no answer, or the identity does not exist.
  /// @returns whether the identity does not exist: no document will come.
  bool take_failure(const identity_answer& x, repo_turn& t);

  /// @param word_waits The report of a host waits for a document.
  void go_on_wanting(const identity_answer& x, bool last, bool word_waits,
                     repo_turn& t);

private:
  bool was_known(const storage::repo_row& row) const noexcept;
  bool is_unknown(const identity_answer& x,
                  const storage::repo_row& row) const noexcept;
  void set_key(const storage::identity_row& x);
  void refresh(repo_turn& t);

  document_wait& wait_;
  std::optional<storage::identity_row> document_;
  atproto::public_key key_; ///< The signing key in the document.
  bool pending_ = false;
  /// The directory has none either, as far as this life knows.
  bool has_no_document_ = false;
  uint64_t asked_ = 0;      ///< The number of the last question.
  uint64_t asked_anew_ = 0; ///< Number of the last question for a new document.
  /// Number of the last question that was answered in full.
  uint64_t answered_ = 0;
  refresh_pace pace_;
};

} // namespace weir::actors
