#include "actors/supervisor/holders_machine.hpp"

#include "actors/supervisor/limits.hpp"

#include <utility>

namespace weir::actors {

holders_machine::step holders_machine::on_answer(answer x) noexcept {
  if (x == answer::described || x == answer::absent) {
    describes_ = true;
    asked_twice_ = false;
    failures_ = 0;
    return step::next;
  }
  if (!std::exchange(asked_twice_, true))
    return step::again;
  asked_twice_ = false;
  ++unanswered_;
  const auto host_fails
    = x == answer::away || (x == answer::refused && !describes_);
  failures_ = host_fails ? failures_ + 1 : 0;
  if (failures_ < limits::describe_failures_max)
    return step::next;
  return x == answer::refused ? step::not_offered : step::host_away;
}

} // namespace weir::actors
