#pragma once

#include "actors/repo/account_rules.hpp"
#include "actors/support/waiting_room.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// Decides which frames can be judged only by a DID document that is newer than
/// they are, and what happens to them until it arrives (protocol-coverage.md
/// 2.1.2, 2.5.6). At first the frames wait (`identity_view::holds_up`). If the
/// document does not arrive in time, commits go to the sync buffer and an
/// #account event is remembered, so that neither holds up its stream. Both are
/// judged when the document arrives.
class document_gate {
public:
  document_gate(account_rules& account, fetch_job& job, sync_buffer& buffer,
                sync_state& sync, identity_view& identity,
                document_wait& wait) noexcept
    : account_(account), job_(job), buffer_(buffer), sync_(sync),
      identity_(identity), wait_(wait) {}

  /// Checks that the sender may speak for the account. On the stream of a PDS
  /// only the accounts of that PDS count. If the known document may be
  /// outdated, a signed commit from the known host still counts, but an
  /// #account event does not, because after a migration the old host and the
  /// new host both report a status.
  /// @returns nothing when the frame is to be judged by its content.
  std::optional<frame_step> check_host(waiting_frame& x, repo_turn& t) {
    const auto& document = identity_.document();
    if (!document) {
      const auto step = check_refusal(x, t);
      return step ? *step : refuse_without_document(x, t);
    }
    if (x.frame.relay)
      return std::nullopt;
    if (document->pds != t.board().find(x.frame.at.upstream).origin) {
      const auto step = check_refusal(x, t);
      return step ? *step : refuse_host(x, t);
    }
    if (x.buffered || !identity_.may_be_old())
      return std::nullopt;
    if (identity_.holds_up(x, t))
      return frame_step::wait;
    if (!is_account(x))
      return std::nullopt;
    return put_aside(x, t);
  }

  /// The known document refuses the frame: the frame is not signed by its key.
  /// @returns nothing when that refusal is final.
  std::optional<frame_step> check_refusal(waiting_frame& x, repo_turn& t) {
    if (x.buffered && buffer_.drains_by_document())
      return std::nullopt; // The frame waited for this document.
    switch (identity_.judge_anew(x, t)) {
      case document_judgement::stands:
        return std::nullopt;
      case document_judgement::awaited:
        return frame_step::wait;
      case document_judgement::needed:
        break;
    }
    return put_aside(x, t);
  }

  /// A document arrived that was requested after everything that waits for one:
  /// all of that is judged now, in the order in which it came.
  void open(repo_turn& t) {
    identity_.end_failures();
    const auto word = wait_.take_word([&](uint32_t upstream) {
      return t.board().find(upstream).origin == identity_.document()->pds;
    });
    if (word)
      account_.hear(*word, t);
    const auto kept = wait_.close() && !job_.runs();
    if (kept && sync_.takes_commits(t.row)) {
      buffer_.drain_by_document();
      return;
    }
    if (kept)
      // The account was inactive since then: a fetch contains these frames.
      buffer_.drop(t);
    if (!buffer_.drains_by_document())
      sync_.end_gap(t);
  }

  /// The identity does not exist, so nothing that waits for it can be judged.
  void give_up(repo_turn& t) {
    wait_.forget_words(); // No host can speak for the account.
    if (!wait_.open())
      return;
    if (wait_.keeping())
      sync_.desync("there is no document of the identity", t);
    wait_.close();
  }

  /// There is no room for the commits that wait: they are dropped and fetched.
  /// @returns whether anything was dropped.
  bool make_room(repo_turn& t) {
    if (!keeps())
      return false;
    t.count(repo_counter::buffer_overflow);
    if (sync_.takes_commits(t.row))
      sync_.desync("there is no room for events that wait for a document", t);
    else
      buffer_.drop(t);
    sync_.mark_gap(t);
    t.touch_row();
    return true;
  }

  /// Memory and disk of the commits kept for a document. Those kept for a
  /// running fetch do not count, because few repos are fetched at a time.
  waiting_bytes kept() const noexcept {
    return keeps() ? waiting_bytes{buffer_.bytes(), buffer_.disk_bytes()}
                   : waiting_bytes{};
  }

private:
  static bool is_account(const waiting_frame& x) noexcept {
    return x.frame.kind == atproto::frame_kind::account;
  }

  /// Keeps the content of an #account event until a document arrives.
  void hold_word(const waiting_frame& x) {
    if (const auto event = atproto::decode_frame(x.frame.bytes.view()))
      if (const auto* said = std::get_if<atproto::account_event>(&*event))
        wait_.hold(account_sources::said_by(x.frame, *said));
  }

  bool keeps() const noexcept { return !job_.runs() && wait_.keeping(); }

  /// Keeps `x` until a newer document arrives.
  frame_step put_aside(waiting_frame& x, repo_turn& t) {
    if (!is_account(x) && (job_.runs() || buffer_.drains_by_document()))
      return frame_step::wait; // It waits until the buffer has drained.
    if (!wait_.open())
      t.count(repo_counter::identity_unresolved);
    identity_.begin_wait(t);
    if (!identity_.document() || !identity_.pending())
      identity_.want();
    identity_.try_refresh(t);
    if (is_account(x)) {
      hold_word(x);
      return t.settle(x);
    }
    wait_.keep_frames(x.frame.at.upstream);
    sync_.keep(std::move(x), t);
    t.arm(t.now.steady + limits::document_wait_check_interval);
    return frame_step::taken;
  }

  frame_step refuse_without_document(waiting_frame& x, repo_turn& t) {
    t.count(repo_counter::identity_unresolved);
    if (sync_.takes_commits(t.row))
      sync_.desync("there is no document of the identity", t);
    return t.settle(x);
  }

  /// Refuses a frame from the stream of a PDS that the document does not name.
  frame_step refuse_host(waiting_frame& x, repo_turn& t) {
    t.count(repo_counter::wrong_host);
    if (x.frame.kind == atproto::frame_kind::commit)
      t.out.news.refused.push_back(
        {x.frame.at.upstream, {}, true, identity_.document()->pds});
    identity_.remember_refusal(t);
    if (identity_.may_blame())
      t.charge(x);
    identity_.dispute(t);
    if (is_account(x))
      hold_word(x);
    return t.settle(x);
  }

  account_rules& account_;
  fetch_job& job_;
  sync_buffer& buffer_;
  sync_state& sync_;
  identity_view& identity_;
  document_wait& wait_;
};

} // namespace weir::actors
