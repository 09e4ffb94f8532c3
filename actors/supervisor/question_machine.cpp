#include "actors/supervisor/question_machine.hpp"

#include "actors/supervisor/supervisor_options.hpp"
#include "actors/support/site.hpp"
#include "storage/tables/limits.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

uint64_t key_of(const atproto::did& repo, const std::string& pds) {
  return atproto::stable_hash(repo.str() + ' ' + pds);
}

/// The key of a question. One that proves a copy has a key for each position.
uint64_t key_of(const question_machine::question& x) {
  if (!x.prove)
    return key_of(x.repo, x.pds);
  return atproto::stable_hash(x.repo.str() + ' ' + x.pds + ' '
                              + std::to_string(x.noted.upstream) + ' '
                              + std::to_string(x.noted.epoch));
}

} // namespace

bool question_machine::was_asked(const question& x, steady_time now) const {
  const auto i = kept_.find(key_of(x));
  return i != kept_.end()
         && now - i->second->at < limits::account_question_interval;
}

bool question_machine::has_room(const std::string& pds) const {
  return has_half()
         || (!pds.empty()
             && places_.of_site(site_of(pds)) + limits::repos_page_max
                  <= fair_share(options_.waiting_max));
}

bool question_machine::may_open(const question& x) const {
  if (!x.left_out && !x.compared)
    return true;
  const auto in_share
    = places_.of_site(site_of(x.pds)) < fair_share(options_.waiting_max);
  return in_share || (x.left_out && has_half());
}

question_machine::effects question_machine::on_question(const question& x,
                                                        steady_time now) {
  effects out;
  forget_old(now);
  open(x, now, out);
  return run(std::move(out), now);
}

std::vector<question_machine::question>
question_machine::lost_in(const scan_page& x, wall_time now) {
  std::vector<question> out;
  if (lost_found_)
    return out;
  for (const auto& each : x.lost) {
    auto& lost = out.emplace_back(question{{each.repo, each.pds, true}});
    // Without a place, the next fetch or listing shows the status.
    lost.left_out = true;
    // A time ahead was written by another clock, so its age is not known.
    lost.age
      = std::chrono::seconds{std::max<int64_t>(now.seconds() - each.at, 0)};
  }
  lost_found_ = x.end;
  return out;
}

void question_machine::open(const question& x, steady_time now, effects& out) {
  if (const auto i = open_.find(x.repo); i != open_.end()) {
    if (i->second.running || i->second.asked.pds == x.pds)
      return repeat(i->second, x);
    forget(x.repo);
  } else if (!x.at_once && !x.not_found && !x.compared && was_asked(x, now)) {
    return;
  }
  question_places::answer place;
  if (may_open(x))
    place = places_.take(x.repo, site_of(x.pds), x.urgent);
  if (!place.taken) {
    out.refused.push_back(x);
    return;
  }
  if (place.displaced) {
    const auto lost = open_.extract(*place.displaced);
    unplan(*place.displaced, lost.mapped());
    out.refused.push_back(std::move(lost.mapped().asked));
  }
  open_.emplace(x.repo, entry{x, false, 0, {}, {}, 0});
  if (x.not_found)
    wait(x.repo, rest_of_grace(x), now);
  else
    make_ready(x.repo);
}

/// A question about an account that has one already. When another host is just
/// being asked, that is the former one, and its answer cannot stand for that of
/// the present one. What comes again in its time need not wait for its turn.
void question_machine::repeat(entry& known, const question& x) {
  if (known.asked.pds != x.pds) {
    if (!x.compared && !x.left_out && !x.prove)
      known.next = std::make_unique<question>(x);
    return;
  }
  known.asked.left_out &= x.left_out;
  known.asked.compared &= x.compared;
  known.asked.prove |= x.prove;
  if (!known.running && x.noted.defined())
    known.asked.noted = x.noted; // The question is asked after it, too.
}

/// The time until RepoNotFound is checked again. An answer in an earlier run of
/// the node counts, as far as its clock agrees with ours.
std::chrono::seconds question_machine::rest_of_grace(const question& x) const {
  const auto grace = options_.gone_grace;
  if (!x.age)
    return grace;
  const auto least
    = std::max(grace / limits::gone_grace_part, std::chrono::seconds{1});
  return std::clamp(grace - *x.age, std::min(least, grace), grace);
}

question_machine::effects question_machine::on_answer(const account_answer& x,
                                                      steady_time now) {
  effects out;
  const auto i = open_.find(x.repo);
  if (i != open_.end() && i->second.running && i->second.asked.pds == x.pds) {
    i->second.running = false;
    places_.set_running(x.repo, false);
    turns_.finish(x.pds);
    const auto next = std::move(i->second.next);
    if (take(i->second, x, now, out) || next)
      forget(x.repo);
    if (next)
      open(*next, now, out);
  }
  return run(std::move(out), now);
}

/// @returns whether the question is not asked again.
bool question_machine::take(entry& open, const account_answer& x,
                            steady_time now, effects& out) {
  auto& asked = open.asked;
  switch (x.what) {
    case account_answer::kind::stated:
      if (asked.compared)
        out.compared.push_back({x.repo, x.pds, x.account, false, x.rev});
      else
        out.answers.push_back({x.repo, x.pds, x.account, false, x.rev,
                            asked.noted, asked.prove});
      break;
    case account_answer::kind::not_found: {
      const auto once = !std::exchange(asked.not_found, true);
      out.answers.push_back(
        {x.repo, x.pds, storage::account_status::deleted, once});
      if (!once)
        break;
      open.tries = 0;
      wait(x.repo, options_.gone_grace, now);
      return false;
    }
    case account_answer::kind::failed:
      return take_failure(open, x.retry_after, now, out);
    case account_answer::kind::useless:
      if (asked.prove)
        out.unproved.push_back(x.repo);
      break;
  }
  keep(asked, now);
  return true;
}

/// @returns whether the question is not asked again.
bool question_machine::take_failure(entry& open, std::chrono::seconds pause,
                                    steady_time now, effects& out) {
  const auto& asked = open.asked;
  const auto again = std::max(
    limits::account_question_retry * (int64_t{1} << open.tries), pause);
  turns_.rest(asked.pds, now + again);
  if (!asked.compared && ++open.tries < limits::account_question_tries_max) {
    wait(asked.repo, again, now);
    return false;
  }
  if (asked.urgent)
    out.refused.push_back(asked);
  if (asked.prove) // Otherwise each look at the rows would ask again.
    keep(key_of(asked), now);
  return true;
}

void question_machine::keep(const question& x, steady_time now) {
  keep(key_of(x.repo, x.pds), now);
  if (x.prove)
    keep(key_of(x), now);
}

void question_machine::keep(uint64_t key, steady_time now) {
  if (const auto i = kept_.find(key); i != kept_.end())
    kept_order_.erase(i->second);
  kept_[key] = kept_order_.insert(kept_order_.end(), {key, now});
  forget_old(now);
}

void question_machine::forget_old(steady_time now) {
  while (!kept_order_.empty()
         && (kept_.size() > options_.kept_max
             || now - kept_order_.front().at
                  >= limits::account_question_interval)) {
    kept_.erase(kept_order_.front().key);
    kept_order_.pop_front();
  }
}

/// The question no longer waits, neither for its time nor for its turn.
void question_machine::unplan(const atproto::did& repo, entry& x) {
  if (x.due)
    delayed_.erase({*std::exchange(x.due, std::nullopt), repo});
  if (x.ticket != 0)
    turns_.remove(std::exchange(x.ticket, 0), x.asked.pds);
}

void question_machine::forget(const atproto::did& repo) {
  unplan(repo, open_.at(repo));
  places_.leave(repo);
  open_.erase(repo);
}

question_machine::effects question_machine::run(effects out,
                                                steady_time now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const auto repo
      = std::move(delayed_.extract(delayed_.begin()).value().second);
    open_.at(repo).due.reset();
    make_ready(repo);
  }
  while (auto next = turns_.next(now)) {
    auto& x = open_.at(next->repo);
    x.ticket = 0;
    x.running = true;
    places_.set_running(next->repo, true);
    out.ask.push_back({std::move(next->repo), std::move(next->pds)});
  }
  out.timer = turns_.due();
  if (!delayed_.empty()
      && (!out.timer || delayed_.begin()->first < *out.timer))
    out.timer = delayed_.begin()->first;
  return out;
}

} // namespace weir::actors
