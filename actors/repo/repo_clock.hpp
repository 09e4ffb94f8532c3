#pragma once

#include "actors/repo/repo_turn.hpp"

/// Revs beyond our clock: it may be the clock that is wrong
/// (docs/architecture.md, "A wrong clock").
namespace weir::actors {

/// Evidence for all repos of the node of what time it is: when a commit was
/// signed, as its rev says.
void note_rev(const waiting_frame& x, atproto::tid rev, repo_turn& t);

/// Whether `x`, whose rev is beyond our clock and all else is fine, waits.
/// While the clock is in doubt for as long as that lasts, so that nothing of it
/// is ever finished; before that a moment, for others to be heard.
bool awaits_clock(waiting_frame& x, atproto::tid rev, repo_turn& t);

bool clock_doubted(const now_time& now);

/// No commit of this rev would be taken now (`limits::rev_future_max`).
bool is_beyond_clock(atproto::tid rev, const now_time& now);

/// It is in doubt, and others are being heard.
bool clock_hears(const now_time& now);

} // namespace weir::actors
