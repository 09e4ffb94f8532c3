#include "actors/repo/host_question.hpp"

#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"

namespace weir::actors {

steady_time host_question::due() const noexcept {
  if (state_.pause_end)
    return *state_.pause_end;
  return state_.asked && !state_.at_once && !state_.not_found
           ? *state_.asked + limits::account_question_interval
           : steady_time{};
}

void host_question::ask(repo_turn& t) {
  if (!state_.wanted)
    return;
  if (due() > t.now.steady) {
    t.arm(due());
    return;
  }
  const auto& host = identity_.host(t.row);
  if (host.empty()) {
    identity_.ask(t);
    return;
  }
  // A question that waited here for its time must not be dropped as too soon.
  t.out.ask_host
    = account_question{t.lane.repo(), host, state_.not_found,
                       state_.at_once || waits(), state_.urgent};
  const auto gone = state_.gone;
  state_ = {};
  state_.gone = gone;
  state_.asked = t.now.steady;
}

void host_question::put_off(bool not_found, bool urgent, repo_turn& t) {
  state_.wanted = state_.at_once = true;
  state_.not_found |= not_found;
  state_.urgent |= urgent;
  state_.pause_end = t.now.steady + limits::account_question_pause;
  ask(t);
}

} // namespace weir::actors
