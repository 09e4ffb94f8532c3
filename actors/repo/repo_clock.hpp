#pragma once

#include "actors/repo/repo_parts.hpp"

/// Revs beyond our clock: it may be the clock that is wrong (architecture.md, A
/// wrong clock).
namespace weir::actors {

/// Evidence for all repos of the node: what was signed, and when.
void note_rev(const waiting_frame& x, atproto::tid rev, repo_effects& out);

/// Whether `x`, whose rev is beyond our clock and all else is fine, waits.
/// While the clock is in doubt for as long as that lasts, so that nothing of it
/// is ever finished; before that a moment, for others to be heard.
bool awaits_clock(waiting_frame& x, atproto::tid rev, now_time now,
                  repo_effects& out);

bool clock_doubted(now_time now);

/// No commit of this rev would be taken now (limits::rev_future_max).
bool is_beyond_clock(atproto::tid rev, now_time now);

/// It is in doubt, and others are being heard.
bool clock_hears(now_time now);

} // namespace weir::actors
