#pragma once

#include "actors/repo/copy_proof.hpp"
#include "actors/repo/document_gate.hpp"

namespace weir::actors {

/// Decides what one frame of a stream means for its repo (protocol-coverage.md
/// 2 to 4): first the cheap checks, then whether its sender may speak for the
/// repo, then its signature and proof.
class frame_rules {
public:
  frame_rules(repo_inbox& inbox, account_rules& account, copy_proof& proof,
              document_gate& gate, fetch_job& job, sync_state& sync,
              identity_view& identity, document_wait& wait, repo_chain& chain,
              const kept_collections& kept) noexcept
    : inbox_(inbox), account_(account), proof_(proof), gate_(gate), job_(job),
      sync_(sync), identity_(identity), wait_(wait), chain_(chain),
      kept_(kept) {}

  /// @param x The next frame of the inbox.
  /// @returns whether the frame is done, or has to stay in the inbox.
  frame_step take(waiting_frame& x, repo_turn& t);

  /// Drops frames that wait for a correct clock while the window of their
  /// stream is full of such: otherwise the signers that show whether our clock
  /// is right could not be received. A fetch brings what is dropped.
  void give_way(repo_turn& t);

private:
  using step = frame_step;

  step take_poison(const waiting_frame& x, repo_turn& t);
  step take_malformed(const waiting_frame& x, repo_turn& t);
  step take_identity(const waiting_frame& x, repo_turn& t);
  bool needs_nothing(const waiting_frame& x, const atproto::frame_event& event,
                     repo_turn& t);
  void note_missed(const waiting_frame& x, atproto::tid rev, repo_turn& t);
  step judge(waiting_frame& x, const atproto::frame_event& event, repo_turn& t);
  step take_commit(waiting_frame& x, const atproto::commit_event& event,
                   repo_turn& t);
  step take_replay(const waiting_frame& x, const atproto::commit_event& event,
                   repo_turn& t);
  step take_sync(waiting_frame& x, const atproto::sync_event& event,
                 repo_turn& t);
  void note_applied(const waiting_frame& x, atproto::tid rev, repo_turn& t);
  step refuse(waiting_frame& x, const atproto::refusal& why, bool is_sync,
              repo_turn& t);
  void follow_refusal(const waiting_frame& x, const atproto::refusal& why,
                      repo_turn& t);

  repo_inbox& inbox_;
  account_rules& account_;
  copy_proof& proof_;
  document_gate& gate_;
  fetch_job& job_;
  sync_state& sync_;
  identity_view& identity_;
  document_wait& wait_;
  repo_chain& chain_;
  const kept_collections& kept_;
};

} // namespace weir::actors
