#include "actors/supervisor/question_turns.hpp"

#include "actors/support/site.hpp"

namespace weir::actors {

question_turns::ticket question_turns::add(const atproto::did& repo,
                                           const std::string& pds) {
  const auto out = ++count_;
  open(pds).ready.emplace(out, repo);
  settle(pds);
  return out;
}

void question_turns::remove(ticket x, const std::string& pds) {
  hosts_.at(pds).ready.erase(x);
  settle(pds);
}

std::optional<question_turns::turn> question_turns::next(steady_time now) {
  while (!rest_ends_.empty() && rest_ends_.begin()->first <= now)
    wake(rest_ends_.begin());
  if (running_ >= options_.running_max || turns_.empty())
    return std::nullopt;
  auto& from = sites_.at(turns_.begin()->second);
  turn out{{}, from.hosts.begin()->second};
  auto& at = hosts_.at(out.pds);
  out.repo = std::move(at.ready.extract(at.ready.begin()).mapped());
  ++running_;
  ++from.running;
  ++at.running;
  // Both go to the end.
  turns_.erase(std::exchange(from.place, 0));
  from.hosts.erase(std::exchange(at.place, 0));
  settle(out.pds);
  return out;
}

void question_turns::finish(const std::string& pds) {
  auto& at = hosts_.at(pds);
  --at.running;
  --sites_.at(at.site).running;
  --running_;
  settle(pds);
}

void question_turns::rest(const std::string& pds, steady_time until) {
  const auto [i, first] = rests_.emplace(pds, until);
  if (!first) {
    if (until <= i->second)
      return;
    rest_ends_.erase({std::exchange(i->second, until), pds});
  }
  rest_ends_.emplace(until, pds);
  if (rests_.size() > options_.resting_max)
    wake(rest_ends_.begin());
  settle(pds);
}

std::optional<steady_time> question_turns::due() const {
  if (rest_ends_.empty())
    return std::nullopt;
  return rest_ends_.begin()->first;
}

question_turns::host& question_turns::open(const std::string& pds) {
  const auto [i, first] = hosts_.try_emplace(pds);
  if (first) {
    i->second.site = site_of(pds);
    ++sites_[i->second.site].known;
  }
  return i->second;
}

void question_turns::wake(
  std::set<std::pair<steady_time, std::string>>::iterator x) {
  const auto pds = std::move(rest_ends_.extract(x).value().second);
  rests_.erase(pds);
  settle(pds);
}

/// Gives a host and its site their places in the order, or takes them away.
void question_turns::settle(const std::string& pds) {
  const auto i = hosts_.find(pds);
  if (i == hosts_.end())
    return;
  auto& at = i->second;
  auto& of = sites_.at(at.site);
  const auto may_host = !at.ready.empty() && at.running < options_.per_host
                        && !rests_.contains(pds);
  if (may_host && at.place == 0)
    of.hosts.emplace(at.place = ++count_, pds);
  else if (!may_host && at.place != 0)
    of.hosts.erase(std::exchange(at.place, 0));
  const auto may_site = !of.hosts.empty() && of.running < options_.per_site;
  if (may_site && of.place == 0)
    turns_.emplace(of.place = ++count_, at.site);
  else if (!may_site && of.place != 0)
    turns_.erase(std::exchange(of.place, 0));
  if (!at.ready.empty() || at.running > 0)
    return;
  if (--of.known == 0)
    sites_.erase(at.site);
  hosts_.erase(i);
}

} // namespace weir::actors
