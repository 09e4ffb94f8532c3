#include "actors/repo/repo_clock.hpp"

#include "actors/repo/limits.hpp"
#include "atproto/limits.hpp"

namespace weir::actors {

void note_rev(const waiting_frame& x, atproto::tid rev, repo_turn& t) {
  if (!x.buffered) // A buffered frame may have been stored for long.
    t.out.news.heard.push_back(
      {x.frame.at.upstream, x.frame.relay, rev, !x.ahead});
}

bool awaits_clock(waiting_frame& x, atproto::tid rev, repo_turn& t) {
  const auto& now = t.now;
  if (!x.ahead) {
    x.ahead = now.steady;
    note_rev(x, rev, t);
  }
  if (now.clock == nullptr)
    return false;
  auto until = *x.ahead + limits::repo_wait_max;
  switch (now.clock->verdict(x.frame.at.upstream, now.steady, now.wall)) {
    case clock_verdict::doubted:
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

bool clock_doubted(const now_time& now) {
  return now.clock != nullptr
         && is_doubt(now.clock->verdict(0, now.steady, now.wall));
}

bool clock_hears(const now_time& now) {
  return now.clock != nullptr
         && now.clock->verdict(0, now.steady, now.wall)
              == clock_verdict::hearing;
}

bool is_beyond_clock(atproto::tid rev, const now_time& now) {
  return rev.time() > now.wall + limits::rev_future_max;
}

} // namespace weir::actors
