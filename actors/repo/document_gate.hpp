#pragma once

#include "actors/repo/account_rules.hpp"
#include "actors/support/doubt_room.hpp"

#include <optional>

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
                identity_doubt& doubt) noexcept
    : account_(account), job_(job), buffer_(buffer), sync_(sync),
      identity_(identity), doubt_(doubt) {}

  /// Checks that the sender may speak for the account. On the stream of a PDS
  /// only the accounts of that PDS count. If the known document may be
  /// outdated, a signed commit from the known host still counts, but an
  /// #account event does not, because after a migration the old host and the
  /// new host both report a status.
  /// @returns nothing when the frame is to be judged by its content.
  std::optional<frame_step> check_host(waiting_frame& x, repo_turn& t);

  /// The known document refuses the frame: the frame is not signed by its key.
  /// @returns nothing when that refusal is final.
  std::optional<frame_step> check_refusal(waiting_frame& x, repo_turn& t);

  /// A document arrived that was requested after everything that waits for one:
  /// all of that is judged now, in the order in which it came.
  void open(repo_turn& t);

  /// The identity does not exist, so nothing that waits for it can be judged.
  void give_up(repo_turn& t);

  /// There is no room for the commits that wait. They are dropped, and a fetch
  /// brings them, as after a crash.
  /// @returns whether anything was dropped.
  bool make_room(repo_turn& t);

  /// Memory and disk that the commits kept for a document take. Commits that
  /// are kept for a running fetch do not count, because few repos are fetched
  /// at a time.
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
