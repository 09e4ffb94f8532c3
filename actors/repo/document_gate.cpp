#include "actors/repo/document_gate.hpp"

#include "actors/repo/limits.hpp"

#include <utility>

namespace weir::actors {

namespace {

bool is_account(const waiting_frame& x) noexcept {
  return x.frame.kind == atproto::frame_kind::account;
}

/// Keeps the content of an #account event for a document; the frame is
/// finished.
void hold_word(identity_doubt& doubt, const waiting_frame& x) {
  if (const auto event = atproto::decode_frame(x.frame.bytes.view()))
    if (const auto* said = std::get_if<atproto::account_event>(&*event))
      doubt.hold(account_sources::told_by(x.frame, *said));
}

} // namespace

std::optional<frame_step> document_gate::check_refusal(waiting_frame& x,
                                                       repo_turn& t) {
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

std::optional<frame_step> document_gate::check_host(waiting_frame& x,
                                                    repo_turn& t) {
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

frame_step document_gate::refuse_without_document(waiting_frame& x,
                                                  repo_turn& t) {
  t.count(repo_counter::identity_unresolved);
  if (sync_.takes_commits(t.row))
    sync_.desync("there is no document of the identity", t);
  t.settle(x);
  return frame_step::taken;
}

/// Refuses a frame from the stream of a PDS when the document names another
/// host or none.
frame_step document_gate::refuse_host(waiting_frame& x, repo_turn& t) {
  t.count(repo_counter::wrong_host);
  if (x.frame.kind == atproto::frame_kind::commit)
    t.out.news.refused.push_back(
      {x.frame.at.upstream, {}, true, identity_.document()->pds});
  identity_.remember_refusal(t);
  if (identity_.may_blame())
    charge(x, t.out);
  identity_.dispute(t);
  t.settle(x);
  if (is_account(x))
    hold_word(doubt_, x);
  return frame_step::taken;
}

/// Keeps `x` until a newer document arrives.
frame_step document_gate::put_aside(waiting_frame& x, repo_turn& t) {
  if (!is_account(x) && (job_.runs() || buffer_.drains_by_document()))
    return frame_step::wait; // Waits until the buffer has drained.
  if (!doubt_.open())
    t.count(repo_counter::identity_unresolved);
  identity_.begin_doubt(t);
  if (!identity_.document() || !identity_.pending())
    identity_.want();
  identity_.try_refresh(t);
  if (is_account(x)) {
    t.settle(x);
    hold_word(doubt_, x);
    return frame_step::taken;
  }
  doubt_.keep_frames(x.frame.at.upstream);
  sync_.keep(std::move(x), t);
  t.arm(t.now.steady + limits::doubt_check_interval);
  return frame_step::taken;
}

void document_gate::open(repo_turn& t) {
  identity_.end_failures();
  const auto word = doubt_.take_word([&](uint32_t upstream) {
    return t.board().find(upstream).origin == identity_.document()->pds;
  });
  if (word)
    account_.hear_event(*word, t);
  const auto kept = doubt_.close() && !job_.runs();
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

void document_gate::give_up(repo_turn& t) {
  doubt_.forget_words(); // No host can speak for the account.
  if (!doubt_.open())
    return;
  if (doubt_.keeping())
    sync_.desync("there is no document of the identity", t);
  doubt_.close();
}

bool document_gate::make_room(repo_turn& t) {
  if (!keeps())
    return false;
  t.count(repo_counter::buffer_overflow);
  if (sync_.takes_commits(t.row))
    sync_.desync("there is no room for events that wait for a document", t);
  else
    buffer_.drop(t);
  t.row.gap = true;
  t.touch_row();
  return true;
}

} // namespace weir::actors
