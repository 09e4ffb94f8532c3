#pragma once

#include "actors/repo/repo_turn.hpp"

/// Revs that are later than our clock. The clock may be the one that is wrong
/// (docs/architecture.md, "A wrong clock").
namespace weir::actors {

/// Reports when a commit was signed, as its rev says: evidence of the time for
/// all repos of the node.
void note_rev(const waiting_frame& x, atproto::tid rev, repo_turn& t);

/// Whether `x` must wait. Its rev is later than our clock, and everything else
/// in it is correct. While the clock is in doubt, the frame waits until that is
/// decided, so that no such frame is finished too early. Before that it waits
/// for `limits::repo_wait_max`, so that commits of other accounts can be
/// compared.
bool awaits_clock(waiting_frame& x, atproto::tid rev, repo_turn& t);

bool clock_doubted(const now_time& now);

/// Whether a commit of this rev would be refused now because of its time
/// (`limits::rev_future_max`).
bool is_beyond_clock(atproto::tid rev, const now_time& now);

/// Whether the clock is in doubt and the revs of other signers are being
/// collected.
bool clock_hears(const now_time& now);

} // namespace weir::actors
