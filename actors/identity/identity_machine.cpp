#include "actors/identity/identity_machine.hpp"

#include <algorithm>
#include <limits>

namespace weir::actors {

namespace {

/// What was fetched by a clock that was ahead is as old as can be, or it would
/// be fresh until that time has come.
int64_t age_of(int64_t at, wall_time wall) noexcept {
  return at > wall.seconds() ? std::numeric_limits<int64_t>::max()
                             : wall.seconds() - at;
}

} // namespace

identity_machine::identity_machine(identity_options options)
  : options_(options), budget_(options.per_second, options.per_second) {
  // nop
}

identity_machine::effects
identity_machine::on_ask(const atproto::did& repo, waiter_id who, bool fresh,
                         steady_time now, wall_time wall) {
  effects out;
  if (!fresh && answer_known(repo, who, wall, out))
    return out;
  if (const auto i = pending_.find(repo); i != pending_.end()) {
    // What is on its way may be older than what this one heard of.
    const auto late = fresh && i->second.at == phase::fetching;
    add_waiter(late ? i->second.again : i->second.waiters, who);
    i->second.fresh |= fresh && !late;
    return out;
  }
  // Names that nobody knows must not shut out those that the store knows: who
  // is to be read is counted apart from who is to be looked up.
  const auto known = find(repo) != nullptr;
  if ((known ? looking_up() : pending_.size() - looking_up())
      >= options_.waiting_max) {
    refuse(repo, {who}, out);
    return out;
  }
  auto& ask = pending_[repo];
  ask.fresh = fresh;
  ask.waiters.push_back(who);
  if (known)
    queue_fetch(repo, out, now);
  else
    out.load.push_back(repo);
  return out;
}

/// No room: whoever was told what is known hears nothing more.
void identity_machine::refuse(const atproto::did& repo,
                              const std::vector<waiter_id>& waiters,
                              effects& out) {
  if (out.answers.empty())
    for (const auto who : waiters)
      out.answers.push_back(
        {who, repo,
         fail(ec::limit_reached, "too many identities are being resolved"),
         !told_later(repo, who)});
  else
    for (auto& x : out.answers)
      x.last = !told_later(repo, x.to);
}

/// Tells `who` what is known already. Returns false when it has to be looked up
/// all the same: a row past its freshness serves until the new one is there, or
/// an outage of a day would put every repo out of sync.
bool identity_machine::answer_known(const atproto::did& repo, waiter_id who,
                                    wall_time wall, effects& out) {
  const auto* known = find(repo);
  if (known == nullptr)
    return false;
  const auto age = age_of(known->at, wall);
  if (known->row) {
    const auto fresh = age < options_.fresh.count();
    out.answers.push_back(
      {who, repo, *known->row, fresh && !told_later(repo, who)});
    return fresh;
  }
  if (age >= options_.negative.count())
    return false;
  out.answers.push_back({who, repo, *known->failure, !told_later(repo, who)});
  return true;
}

/// Another answer to `who` about this repo is to come.
bool identity_machine::told_later(const atproto::did& repo,
                                  waiter_id who) const {
  const auto has = [who](const std::vector<waiter_id>& x) {
    return std::find(x.begin(), x.end(), who) != x.end();
  };
  const auto asked = pending_.find(repo);
  if (asked != pending_.end()
      && (has(asked->second.waiters) || has(asked->second.again)))
    return true;
  const auto checked = checking_.find(repo);
  return checked != checking_.end() && has(checked->second.waiters);
}

/// One entry a waiter, however often it asks.
void identity_machine::add_waiter(std::vector<waiter_id>& to, waiter_id who) {
  if (std::find(to.begin(), to.end(), who) == to.end())
    to.push_back(who);
}

identity_machine::effects
identity_machine::on_loaded(const atproto::did& repo,
                            std::optional<storage::identity_row> row,
                            steady_time now, wall_time wall) {
  effects out;
  const auto i = pending_.find(repo);
  if (i == pending_.end() || i->second.at != phase::loading)
    return out;
  if (row) {
    remember(repo, row, std::nullopt, wall);
    cache_.find(repo)->second.at = row->fetched_at;
    if (!i->second.fresh) {
      if (age_of(row->fetched_at, wall) < options_.fresh.count()) {
        answer_all(repo, *row, true, out);
        return out;
      }
      for (const auto who : i->second.waiters)
        out.answers.push_back({who, repo, *row, false});
    }
  }
  if (looking_up() < options_.waiting_max)
    queue_fetch(repo, out, now);
  else
    refuse(repo, pending_.extract(i).mapped().waiters, out);
  return out;
}

identity_machine::effects
identity_machine::on_document(const atproto::did& repo,
                              const result<atproto::did_document>& doc,
                              bool gone, steady_time now, wall_time wall) {
  effects out;
  const auto i = pending_.find(repo);
  if (i == pending_.end() || i->second.at != phase::fetching)
    return out;
  --in_flight_;
  const auto* known = find(repo);
  auto row = known != nullptr && known->row ? *known->row
                                            : storage::identity_row{};
  row.fetched_at = wall.seconds();
  if (gone) {
    row.tombstoned = true;
  } else if (!doc) {
    // Stale is better than nothing while the directory is out of reach.
    const auto stale_allowed = doc.error().code == ec::unreachable
                               && known != nullptr && known->row
                               && !i->second.fresh;
    if (stale_allowed) {
      answer_all(repo, *known->row, true, out);
    } else {
      // A directory that is out of reach says nothing about the DID.
      if ((known == nullptr || !known->row)
          && doc.error().code != ec::unreachable)
        remember(repo, std::nullopt, doc.error(), wall);
      answer_all(repo, doc.error(), true, out);
    }
    run(out, now);
    return out;
  } else {
    row.tombstoned = false;
    row.signing_key = doc->signing_key;
    row.pds = doc->pds;
    row.claimed_handle = doc->claimed_handle;
    if (doc->claimed_handle.empty())
      row.handle.clear();
  }
  remember(repo, row, std::nullopt, wall);
  out.store.emplace_back(repo, row);
  const auto verify = !gone && !row.claimed_handle.empty();
  if (verify) {
    // Or who starts after a crash would take it for checked.
    out.store.back().second.fetched_at = 0;
    auto& check = checking_[repo];
    ++check.checks;
    for (const auto who : i->second.waiters)
      add_waiter(check.waiters, who);
    out.verify.push_back({repo, row.claimed_handle});
  }
  answer_all(repo, row, !verify, out);
  run(out, now);
  return out;
}

identity_machine::effects
identity_machine::on_handle(const atproto::did& repo,
                            const std::string& handle,
                            const result<atproto::did>& owner,
                            steady_time now, wall_time wall) {
  effects out;
  static_cast<void>(now);
  const auto check = checking_.find(repo);
  if (check == checking_.end())
    return out;
  const auto waiters = check->second.waiters;
  if (--check->second.checks == 0)
    checking_.erase(check);
  const auto* known = find(repo);
  if (known != nullptr && known->row && known->row->claimed_handle == handle)
    take_owner(repo, *known, owner, wall, out);
  known = find(repo);
  const auto fact
    = known != nullptr && known->row
        ? result<storage::identity_row>{*known->row}
        : fail(ec::unreachable, "forgotten while its handle was checked");
  for (const auto who : waiters)
    out.answers.push_back({who, repo, fact, !told_later(repo, who)});
  return out;
}

void identity_machine::take_owner(const atproto::did& repo,
                                  const cached_row& known,
                                  const result<atproto::did>& owner,
                                  wall_time wall, effects& out) {
  auto row = *known.row;
  if (owner)
    row.handle = *owner == repo ? row.claimed_handle : std::string{};
  else if (owner.error().code != ec::unreachable
           || row.handle != row.claimed_handle)
    row.handle.clear(); // Unknown is not verified.
  out.store.emplace_back(repo, row);
  const auto fetched_at = known.at;
  remember(repo, row, std::nullopt, wall);
  cache_.find(repo)->second.at = fetched_at;
}

identity_machine::effects identity_machine::on_timer(steady_time now,
                                                     wall_time wall) {
  effects out;
  static_cast<void>(wall);
  run(out, now);
  return out;
}

const identity_machine::cached_row*
identity_machine::find(const atproto::did& repo) {
  const auto i = cache_.find(repo);
  if (i == cache_.end())
    return nullptr;
  lru_.splice(lru_.begin(), lru_, i->second.lru);
  return &i->second;
}

void identity_machine::remember(const atproto::did& repo,
                                std::optional<storage::identity_row> row,
                                std::optional<error> failure,
                                wall_time wall) {
  auto i = cache_.find(repo);
  if (i == cache_.end()) {
    lru_.push_front(repo);
    i = cache_.try_emplace(repo).first;
    i->second.lru = lru_.begin();
  }
  i->second.row = std::move(row);
  i->second.failure = std::move(failure);
  i->second.at = wall.seconds();
  while (cache_.size() > options_.cached_max) {
    cache_.erase(lru_.back());
    lru_.pop_back();
  }
}

void identity_machine::answer_all(const atproto::did& repo,
                                  const result<storage::identity_row>& fact,
                                  bool last, effects& out) {
  auto ask = pending_.extract(repo);
  if (!ask.mapped().again.empty()) {
    pending_[repo] = {phase::queued, true, std::move(ask.mapped().again), {}};
    queue_.push_back(repo);
  }
  for (const auto who : ask.mapped().waiters)
    out.answers.push_back({who, repo, fact, last && !told_later(repo, who)});
}

void identity_machine::queue_fetch(const atproto::did& repo, effects& out,
                                   steady_time now) {
  pending_.find(repo)->second.at = phase::queued;
  queue_.push_back(repo);
  run(out, now);
}

/// Starts look-ups as far as the budget and the wire allow.
void identity_machine::run(effects& out, steady_time now) {
  while (!queue_.empty() && in_flight_ < options_.in_flight_max
         && budget_.take(now)) {
    auto repo = std::move(queue_.front());
    queue_.pop_front();
    ++in_flight_;
    pending_.find(repo)->second.at = phase::fetching;
    out.fetch.push_back(std::move(repo));
  }
  if (!queue_.empty() && in_flight_ < options_.in_flight_max)
    out.timer = now + budget_.delay(now);
}

} // namespace weir::actors
