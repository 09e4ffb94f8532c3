#pragma once

#include "actors/repo/account_rules.hpp"
#include "actors/support/doubt_room.hpp"

#include <optional>

namespace weir::actors {

/// Which frames are judged only by a document that is newer than they are, and
/// what becomes of them until it comes (protocol-coverage.md 2.1.2, 2.5.6).
/// They wait for a moment (`identity_view::holds_up`). If it does not come in
/// time, commits go to the sync buffer and an #account is remembered, so that
/// neither holds up its stream; both are judged when it comes.
class document_gate {
public:
  document_gate(account_rules& account, fetch_job& job, sync_buffer& buffer,
                sync_state& sync, identity_view& identity,
                identity_doubt& doubt) noexcept
    : account_(account), job_(job), buffer_(buffer), sync_(sync),
      identity_(identity), doubt_(doubt) {
    // nop
  }

  /// On the stream of a PDS only its own accounts count. Without a newer
  /// document, signed commits of the known host count and its word on the
  /// account does not: after a migration both hosts speak.
  /// @returns nothing when the frame is to be judged by what it says.
  std::optional<frame_step> check_host(waiting_frame& x, repo_turn& t);

  /// The known document refuses the frame: its key did not sign it.
  /// @returns nothing when that is the last word.
  std::optional<frame_step> check_refusal(waiting_frame& x, repo_turn& t);

  /// A document is there that was asked for after all that waits for one: that
  /// is judged now, in the order in which it came.
  void open(repo_turn& t);

  /// There is no such identity: nothing that waits for it can be judged.
  void give_up(repo_turn& t);

  /// There is no room for what waits: as after a crash, a fetch brings it.
  /// @returns whether anything waited.
  bool make_room(repo_turn& t);

  /// What is kept for a document takes. Of repos that are fetched there are few
  /// at a time, so what they keep does not count.
  doubt_bytes kept() const noexcept {
    return keeps() ? doubt_bytes{buffer_.bytes(), buffer_.disk_bytes()}
                   : doubt_bytes{};
  }

private:
  bool keeps() const noexcept { return !job_.runs() && doubt_.keeping(); }
  frame_step put_aside(waiting_frame& x, repo_turn& t);
  frame_step refuse_without_document(waiting_frame& x, repo_turn& t);
  frame_step refuse_host(waiting_frame& x, repo_turn& t);

  account_rules& account_;
  fetch_job& job_;
  sync_buffer& buffer_;
  sync_state& sync_;
  identity_view& identity_;
  identity_doubt& doubt_;
};

} // namespace weir::actors
