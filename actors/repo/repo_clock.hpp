#pragma once

#include "actors/repo/limits.hpp"
#include "actors/repo/repo_turn.hpp"
#include "atproto/limits.hpp"

/// Revs that are later than our clock. The clock may be the one that is wrong
/// (docs/architecture.md, "A wrong clock").
namespace weir::actors {

/// Reports when a commit was signed: evidence of the time for all repos.
inline void note_rev(const waiting_frame& x, atproto::tid rev, repo_turn& t) {
  if (!x.buffered) // A buffered frame may have been stored for long.
    t.out.news.heard.push_back(
      {x.frame.at.upstream, x.frame.relay, rev, !x.ahead});
}

/// Whether `x` must wait. Its rev is later than our clock, and everything else
/// in it is correct. While the clock is suspect, the frame waits until that is
/// decided, so that no such frame is finished too early. Before that it waits
/// for `limits::repo_clock_wait_max`, so that other accounts can be compared.
inline bool awaits_clock(waiting_frame& x, atproto::tid rev, repo_turn& t) {
  const auto& now = t.now;
  if (!x.ahead) {
    x.ahead = now.steady;
    note_rev(x, rev, t);
  }
  if (now.clock == nullptr)
    return false;
  auto until = *x.ahead + limits::repo_clock_wait_max;
  switch (now.clock->verdict(x.frame.at.upstream, now.steady, now.wall)) {
    case clock_verdict::suspect:
    case clock_verdict::hearing:
      until = now.steady + limits::clock_check_interval;
      break;
    case clock_verdict::undecided:
      if (now.steady >= until)
        return false;
      break;
    case clock_verdict::right:
      return false;
  }
  t.arm(until);
  return true;
}

/// What the revs of all signers say about our clock.
inline clock_verdict verdict_on_clock(const now_time& now) {
  return now.clock == nullptr ? clock_verdict::right
                              : now.clock->verdict(0, now.steady, now.wall);
}

/// Whether a commit of this rev is too early (`limits::rev_future_max`).
inline bool is_beyond_clock(atproto::tid rev, const now_time& now) {
  return rev.time() > now.wall + limits::rev_future_max;
}

} // namespace weir::actors
