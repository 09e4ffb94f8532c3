#include "actors/supervisor/question_machine.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

uint64_t key_of(const atproto::did& repo, const std::string& pds) {
  return atproto::stable_hash(repo.str() + ' ' + pds);
}

} // namespace

bool question_machine::was_asked(const question& x, steady_time now) const {
  const auto i = kept_.find(key_of(x.repo, x.pds));
  return i != kept_.end() && now - i->second < options_.interval;
}

question_machine::effects question_machine::on_question(const question& x,
                                                        steady_time now) {
  effects out;
  forget_old(now);
  const auto i = open_.find(x.repo);
  if (i != open_.end() && i->second.pds == x.pds)
    return out; // It is asked for already.
  if (i != open_.end()) {
    if (i->second.running)
      return out; // Its REPO sees that it was the wrong host, and asks again.
    i->second = {x.pds, false, false, 0};
    std::erase_if(delayed_,
                  [&](const auto& each) { return each.second == x.repo; });
  } else {
    if (open_.size() >= options_.waiting_max
        || (!x.at_once && !x.not_found && was_asked(x, now)))
      return out;
    open_.emplace(x.repo, entry{x.pds, false, false, 0});
  }
  if (x.not_found) {
    open_[x.repo].not_found = true;
    wait(x.repo, options_.gone_grace, now);
  } else {
    make_ready(x.repo);
  }
  run(out, now);
  return out;
}

/// The question that this answers, if it is still open.
question_machine::entry* question_machine::answered(const atproto::did& repo,
                                                    const std::string& pds) {
  const auto i = open_.find(repo);
  if (i == open_.end() || !i->second.running || i->second.pds != pds)
    return nullptr;
  i->second.running = false;
  --running_;
  const auto at = hosts_.find(pds);
  if (--at->second.running == 0 && !at->second.in_turn)
    hosts_.erase(at);
  return &i->second;
}

question_machine::effects
question_machine::on_told(const atproto::did& repo, const std::string& pds,
                          storage::account_status account, steady_time now) {
  effects out;
  if (answered(repo, pds) != nullptr) {
    open_.erase(repo);
    keep(repo, pds, now);
    out.told.push_back({repo, pds, account});
  }
  run(out, now);
  return out;
}

question_machine::effects
question_machine::on_not_found(const atproto::did& repo, const std::string& pds,
                               steady_time now) {
  effects out;
  if (auto* x = answered(repo, pds)) {
    if (std::exchange(x->not_found, true)) {
      open_.erase(repo);
      keep(repo, pds, now);
      out.told.push_back({repo, pds, storage::account_status::deleted});
    } else {
      x->tries = 0;
      wait(repo, options_.gone_grace, now);
    }
  }
  run(out, now);
  return out;
}

question_machine::effects
question_machine::on_failed(const atproto::did& repo, const std::string& pds,
                            std::chrono::seconds pause, steady_time now) {
  effects out;
  if (auto* x = answered(repo, pds)) {
    const auto again
      = std::max(options_.retry * (int64_t{1} << x->tries), pause);
    if (const auto at = hosts_.find(pds); at != hosts_.end())
      at->second.rest_until = now + again;
    if (++x->tries >= options_.tries_max)
      open_.erase(repo);
    else
      wait(repo, again, now);
  }
  run(out, now);
  return out;
}

question_machine::effects
question_machine::on_useless(const atproto::did& repo, const std::string& pds,
                             steady_time now) {
  effects out;
  if (answered(repo, pds) != nullptr) {
    open_.erase(repo);
    keep(repo, pds, now);
  }
  run(out, now);
  return out;
}

question_machine::effects question_machine::on_timer(steady_time now) {
  effects out;
  run(out, now);
  return out;
}

void question_machine::keep(const atproto::did& repo, const std::string& pds,
                            steady_time now) {
  const auto key = key_of(repo, pds);
  if (!kept_.insert_or_assign(key, now).second)
    std::erase(kept_order_, key);
  kept_order_.push_back(key);
  if (kept_order_.size() > options_.kept_max) {
    kept_.erase(kept_order_.front());
    kept_order_.pop_front();
  }
}

void question_machine::forget_old(steady_time now) {
  while (!kept_order_.empty()
         && now - kept_[kept_order_.front()] >= options_.interval) {
    kept_.erase(kept_order_.front());
    kept_order_.pop_front();
  }
}

void question_machine::wait(const atproto::did& repo, std::chrono::seconds time,
                            steady_time now) {
  delayed_.emplace(now + time, repo);
}

void question_machine::make_ready(const atproto::did& repo) {
  const auto& pds = open_[repo].pds;
  auto& at = hosts_[pds];
  at.ready.push_back(repo);
  if (!std::exchange(at.in_turn, true))
    turn_.push_back(pds);
}

bool question_machine::may_ask(const host& x, effects& out,
                               steady_time now) const {
  if (x.rest_until <= now)
    return x.running < options_.per_host;
  if (!out.timer || x.rest_until < *out.timer)
    out.timer = x.rest_until;
  return false;
}

/// One question of each host that has some, again and again.
void question_machine::run(effects& out, steady_time now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now)
    make_ready(delayed_.extract(delayed_.begin()).mapped());
  for (auto idle = size_t{0};
       running_ < options_.running_max && idle < turn_.size();) {
    const auto pds = std::move(turn_.front());
    turn_.pop_front();
    const auto at = hosts_.find(pds);
    if (at->second.ready.empty()) {
      at->second.in_turn = false;
      if (at->second.running == 0)
        hosts_.erase(at);
      continue;
    }
    turn_.push_back(pds);
    if (!may_ask(at->second, out, now)) {
      ++idle;
      continue;
    }
    idle = 0;
    const auto repo = std::move(at->second.ready.front());
    at->second.ready.pop_front();
    const auto i = open_.find(repo);
    if (i == open_.end() || i->second.running || i->second.pds != pds)
      continue;
    i->second.running = true;
    ++at->second.running;
    ++running_;
    out.ask.push_back({repo, pds, false, false});
  }
  if (!delayed_.empty()
      && (!out.timer || delayed_.begin()->first < *out.timer))
    out.timer = delayed_.begin()->first;
}

} // namespace weir::actors
