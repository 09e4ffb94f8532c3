#include "actors/supervisor/returned_machine.hpp"

#include "actors/supervisor/limits.hpp"
#include "net/limits.hpp"

#include <algorithm>

namespace weir::actors {

returned_machine::effects
returned_machine::on_active(uint32_t upstream, const atproto::did& repo,
                            steady_time now) {
  auto& x = hosts_[upstream];
  const auto waits = std::find(x.waiting.begin(), x.waiting.end(), repo);
  if (waits == x.waiting.end()
      && x.waiting.size() < limits::returned_accounts_max)
    x.waiting.push_back(repo);
  return run(now);
}

returned_machine::effects returned_machine::on_answer(uint32_t upstream,
                                                      steady_time now) {
  const auto i = hosts_.find(upstream);
  if (i == hosts_.end() || !i->second.asked)
    return {};
  auto& x = i->second;
  x.waiting.pop_front();
  x.asked = false;
  x.tries = 0;
  x.rests_until = std::max(x.rests_until, now + limits::returned_pause);
  return run(now);
}

returned_machine::effects
returned_machine::on_failed(uint32_t upstream, std::chrono::seconds wait,
                            steady_time now) {
  const auto i = hosts_.find(upstream);
  if (i == hosts_.end() || !i->second.asked)
    return {};
  auto& x = i->second;
  x.rests_until = now
                  + std::clamp<std::chrono::seconds>(
                    wait, limits::claim_retry, limits::retry_wait_max);
  if (x.tries + 1 >= limits::returned_tries_max)
    return on_answer(upstream, now);
  ++x.tries;
  x.asked = false;
  return run(now);
}

returned_machine::effects returned_machine::on_timer(steady_time now) {
  return run(now);
}

returned_machine::effects returned_machine::run(steady_time now) {
  effects out;
  std::erase_if(hosts_, [now](const auto& of) {
    return of.second.waiting.empty() && now >= of.second.rests_until;
  });
  for (auto& [upstream, x] : hosts_) {
    if (x.asked || x.waiting.empty())
      continue;
    if (now < x.rests_until) {
      out.timer = std::min(out.timer.value_or(x.rests_until), x.rests_until);
      continue;
    }
    x.asked = true;
    out.ask.push_back({upstream, x.waiting.front()});
  }
  return out;
}

} // namespace weir::actors
