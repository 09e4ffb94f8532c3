#include "actors/identity/identity_machine.hpp"

#include "actors/support/did_method.hpp"
#include "base/stored_time.hpp"

namespace weir::actors {

identity_machine::identity_machine(identity_options options)
  : options_(options), queue_(options.per_second, options.in_flight_max,
                              options.waiting_max),
    backoff_(options.failures_max) {}

identity_machine::effects
identity_machine::on_ask(const atproto::did& repo, waiter_id who, bool fresh,
                         steady_time now, wall_time wall,
                         const std::string& by) {
  effects out;
  if (!fresh && answer_known(repo, who, now, wall, out))
    return told(std::move(out));
  if (const auto i = pending_.find(repo); i != pending_.end()) {
    // The look-up may have begun before the change that this asker knows of.
    const auto late = fresh && i->second.at == phase::fetching;
    add_waiter(late ? i->second.again : i->second.waiters, who);
    i->second.fresh |= fresh && !late;
    on_shared(repo, by);
    return told(std::move(out));
  }
  // Names that nobody knows must not crowd out those that the store knows: DIDs
  // to be read and DIDs to be looked up are counted separately.
  const auto known = find(repo) != nullptr;
  if ((known || fresh) && answer_failing(repo, {who}, fresh, now, out))
    return told(std::move(out));
  if (!known && pending_.size() - queue_.size() >= options_.waiting_max) {
    refuse(repo, {who}, {}, out);
    return told(std::move(out));
  }
  auto& ask = pending_[repo];
  ask.fresh = fresh;
  ask.waiters.push_back(who);
  ask.by = by;
  if (known)
    queue_fetch(repo, out, now, wall);
  else
    out.load.push_back(repo);
  return told(std::move(out));
}

/// Answers `who` from the cache. Returns false when a look-up is needed as
/// well. A row that is no longer fresh is used until the new one arrives:
/// otherwise an outage of one day would put every repo out of sync.
bool identity_machine::answer_known(const atproto::did& repo, waiter_id who,
                                    steady_time now, wall_time wall,
                                    effects& out) {
  const auto* known = find(repo);
  if (known == nullptr)
    return false;
  const auto age = age_of(known->at, wall);
  if (known->row) {
    const auto fresh = age < options_.fresh.count();
    // Its handle is being checked: this asker gets that answer, too.
    if (const auto check = checking_.find(repo); check != checking_.end())
      add_waiter(check->second.waiters, who);
    out.answers.push_back(
      {{repo, *known->row, 0, fresh && !told_later(repo, who)}, who});
    return fresh;
  }
  // A DID that was not found may exist a moment later.
  if (!backoff_.until(repo, now))
    return false;
  out.answers.push_back(
      {{repo, *known->failure, 0, !told_later(repo, who)}, who});
  return true;
}

/// Whether another answer to `who` about this repo follows.
bool identity_machine::told_later(const atproto::did& repo,
                                  waiter_id who) const {
  if (looked_up_later(repo, who))
    return true;
  const auto checked = checking_.find(repo);
  return checked != checking_.end() && has(checked->second.waiters, who);
}

/// Whether another document for `who` follows.
bool identity_machine::looked_up_later(const atproto::did& repo,
                                       waiter_id who) const {
  const auto asked = pending_.find(repo);
  return asked != pending_.end()
         && (has(asked->second.waiters, who) || has(asked->second.again, who));
}

/// Adds to each answer whether its document is the newest one.
identity_machine::effects identity_machine::told(effects x) const {
  for (auto& y : x.answers)
    y.settled = !looked_up_later(y.repo, y.to);
  return x;
}

identity_machine::effects
identity_machine::on_loaded(const atproto::did& repo,
                            std::optional<storage::identity_row> row,
                            steady_time now, wall_time wall,
                            std::optional<storage::identity_row> exported) {
  effects out;
  const auto i = pending_.find(repo);
  if (!row && exported && is_served_by_export(repo)) {
    take_exported(repo, std::move(*exported), now, out);
    return told(std::move(out));
  }
  if (i == pending_.end() || i->second.at != phase::loading)
    return told(std::move(out));
  if (row) {
    remember(repo, row, std::nullopt, wall);
    cache_.find(repo)->second.at = row->fetched_at;
    if (!i->second.fresh) {
      if (age_of(row->fetched_at, wall) < options_.fresh.count()) {
        answer_all(repo, *row, true, now, out);
        return told(std::move(out));
      }
      for (const auto who : i->second.waiters)
        out.answers.push_back({{repo, *row, 0, false}, who});
    }
  }
  if (backoff_.until(repo, now)) {
    const auto ask = pending_.extract(i);
    answer_failing(repo, ask.mapped().waiters, ask.mapped().fresh, now, out);
  } else {
    queue_fetch(repo, out, now, wall);
  }
  return told(std::move(out));
}

identity_machine::effects
identity_machine::on_document(const atproto::did& repo,
                              const result<atproto::did_document>& doc,
                              bool gone, steady_time now, wall_time wall,
                              std::optional<std::chrono::seconds> limited) {
  effects out;
  if (limited && !document_is_foreign(repo))
    queue_.rest_directory(*limited, now);
  const auto i = pending_.find(repo);
  if (i == pending_.end() || i->second.at != phase::fetching)
    return told(std::move(out));
  const auto answered = doc || gone || doc.error().code != ec::unreachable;
  queue_.done(repo, {doc || gone, answered, limited.has_value()}, now);
  if (limited && !document_is_foreign(repo)) {
    wait_again(repo, out, now, wall);
    return told(std::move(out));
  }
  if (doc || gone)
    backoff_.succeeded(repo, now);
  const auto* known = find(repo);
  auto row = known != nullptr && known->row ? *known->row
                                            : storage::identity_row{};
  row.fetched_at = wall.seconds();
  if (gone) {
    row.tombstoned = true;
  } else if (!doc) {
    // An old row is better than none while the directory cannot be reached.
    const auto not_before = backoff_.failed(repo, now, doc.error());
    for (const auto who : std::exchange(i->second.again, {}))
      add_waiter(i->second.waiters, who);
    // A directory keeps every document: not to find one is no answer.
    const auto is_known = known != nullptr && known->row.has_value();
    const auto is_away = doc.error().code == ec::unreachable
                         || (is_known && doc.error().code == ec::not_found);
    if (is_away && is_known && !i->second.fresh) {
      answer_all(repo, *known->row, true, now, out);
    } else {
      // A directory that cannot be reached decides nothing about the DID.
      if (!is_known && !is_away)
        remember(repo, std::nullopt, doc.error(), wall);
      answer_all(repo, doc.error(), true, now, out);
      for (auto& x : out.answers)
        x.not_before = not_before;
    }
    run(out, now);
    return told(std::move(out));
  } else {
    row.tombstoned = false;
    row.signing_key = doc->signing_key;
    row.pds = doc->pds;
    row.claimed_handle = doc->claimed_handle;
    if (doc->claimed_handle.empty())
      row.handle.clear();
  }
  take_document(repo, std::move(row), wall, now, out);
  return told(std::move(out));
}

/// Takes the result of a look-up or of the export.
/// @pre it is pending
void identity_machine::take_document(const atproto::did& repo,
                                     storage::identity_row row, wall_time at,
                                     steady_time now, effects& out) {
  remember(repo, row, std::nullopt, at);
  out.store.emplace_back(repo, row);
  const auto verify = !row.tombstoned && !row.claimed_handle.empty();
  if (verify) {
    // Otherwise the row would count as checked after a crash.
    out.store.back().second.fetched_at = 0;
    auto& check = checking_[repo];
    ++check.checks;
    for (const auto who : pending_.find(repo)->second.waiters)
      add_waiter(check.waiters, who);
    out.verify.push_back({repo, row.claimed_handle});
  }
  answer_all(repo, row, !verify, now, out);
  run(out, now);
}

identity_machine::effects
identity_machine::on_handle(const atproto::did& repo,
                            const std::string& handle,
                            const result<atproto::did>& owner,
                            wall_time wall) {
  effects out;
  const auto check = checking_.find(repo);
  if (check == checking_.end())
    return told(std::move(out));
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
  const auto checked = owner || owner.error().code != ec::unreachable;
  for (const auto who : waiters) {
    auto& x = out.answers.emplace_back(answer{{repo, fact}, who});
    x.last = !told_later(repo, who);
    x.checked = checked;
  }
  return told(std::move(out));
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
    row.handle.clear(); // An unknown owner is not a verified one.
  out.store.emplace_back(repo, row);
  const auto fetched_at = known.at;
  remember(repo, row, std::nullopt, wall);
  cache_.find(repo)->second.at = fetched_at;
}

identity_machine::effects identity_machine::on_timer(steady_time now) {
  effects out;
  run(out, now);
  return told(std::move(out));
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

} // namespace weir::actors
