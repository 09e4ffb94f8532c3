#include "actors/identity/identity_machine.hpp"

#include "actors/support/site.hpp"
#include "base/stored_time.hpp"

#include <utility>

namespace weir::actors {

identity_machine::identity_machine(identity_options options)
  : options_(options), cache_(options.cached_max), desk_(options, cache_) {}

identity_machine::effects
identity_machine::on_ask(const atproto::did& repo, waiter_id who, bool fresh,
                         steady_time now, wall_time wall,
                         const std::string& by) {
  effects out;
  if (fresh || !answer_known(repo, who, now, wall, out))
    desk_.ask(repo, who, fresh, now, wall, by, out);
  return completed(std::move(out));
}

/// Answers `who` from the cache. Returns false when a look-up is needed as
/// well. A row that is no longer fresh is used until the new one arrives:
/// otherwise an outage of one day would put every repo out of sync.
bool identity_machine::answer_known(const atproto::did& repo, waiter_id who,
                                    steady_time now, wall_time wall,
                                    effects& out) {
  const auto* known = cache_.find(repo);
  if (known == nullptr)
    return false;
  if (known->row) {
    // Its handle is being checked: this asker gets that answer, too.
    if (const auto check = checking_.find(repo); check != checking_.end())
      lookup_desk::add_waiter(check->second.waiters, who);
    out.answers.push_back({{repo, *known->row}, who});
    return age_of(known->at, wall) < options_.fresh.count();
  }
  // A DID that was not found may exist a moment later.
  if (!desk_.backoff().until(repo, now))
    return false;
  out.answers.push_back({{repo, *known->failure}, who});
  return true;
}

/// Adds to each answer whether its document is the newest one, and whether
/// another answer about this repo follows.
identity_machine::effects identity_machine::completed(effects x) const {
  for (auto& y : x.answers) {
    y.settled = !desk_.looked_up_later(y.repo, y.to);
    const auto checked = checking_.find(y.repo);
    y.last = y.settled
             && (checked == checking_.end()
                 || !lookup_desk::has(checked->second.waiters, y.to));
  }
  return x;
}

identity_machine::effects
identity_machine::on_loaded(const atproto::did& repo,
                            std::optional<storage::identity_row> row,
                            steady_time now, wall_time wall,
                            std::optional<storage::identity_row> exported) {
  effects out;
  if (!row && exported && desk_.is_served_by_export(repo)) {
    desk_.queue().drop(repo);
    out.taken.push_back(repo);
    const auto at = exported->fetched_at;
    take_document(repo, std::move(*exported), at, now, out);
    return completed(std::move(out));
  }
  const auto* ask = desk_.find(repo);
  if (ask == nullptr || ask->at != lookup_desk::phase::loading)
    return completed(std::move(out));
  if (row) {
    cache_.put(repo, row, std::nullopt, row->fetched_at);
    if (!ask->fresh) {
      if (age_of(row->fetched_at, wall) < options_.fresh.count()) {
        desk_.answer_all(repo, *row, now, out);
        return completed(std::move(out));
      }
      for (const auto who : ask->waiters)
        out.answers.push_back({{repo, *row}, who});
    }
  }
  desk_.look_up(repo, now, wall, out);
  return completed(std::move(out));
}

identity_machine::effects
identity_machine::on_document(const atproto::did& repo,
                              const result<atproto::did_document>& doc,
                              bool gone, steady_time now, wall_time wall,
                              std::optional<std::chrono::seconds> limited) {
  effects out;
  const auto directory_rests = limited && !document_is_foreign(repo);
  if (directory_rests)
    rest_directory(*limited, now);
  const auto* ask = desk_.find(repo);
  if (ask == nullptr || ask->at != lookup_desk::phase::fetching)
    return out;
  const auto answered = doc || gone || doc.error().code != ec::unreachable;
  desk_.queue().done(repo, {doc || gone, answered, limited.has_value()}, now);
  if (directory_rests) {
    desk_.wait_again(repo, now, wall, out);
  } else if (!doc && !gone) {
    take_failure(repo, doc.error(), now, wall, out);
  } else {
    desk_.succeeded(repo, now);
    const auto* known = cache_.find(repo);
    auto row
      = known != nullptr && known->row ? *known->row : storage::identity_row{};
    row.fetched_at = wall.seconds();
    row.tombstoned = gone;
    if (!gone) {
      row.signing_key = doc->signing_key;
      row.pds = doc->pds;
      row.claimed_handle = doc->claimed_handle;
      if (doc->claimed_handle.empty())
        row.handle.clear();
    }
    take_document(repo, std::move(row), wall.seconds(), now, out);
  }
  return completed(std::move(out));
}

/// An old row is better than none while the directory cannot be reached.
/// @pre it was being looked up
void identity_machine::take_failure(const atproto::did& repo, const error& why,
                                    steady_time now, wall_time wall,
                                    effects& out) {
  const auto not_before = desk_.failed(repo, why, now);
  // A directory keeps every document: not to find one is no answer.
  const auto* known = cache_.find(repo);
  const auto is_known = known != nullptr && known->row.has_value();
  const auto is_away
    = why.code == ec::unreachable || (is_known && why.code == ec::not_found);
  if (is_away && is_known && !desk_.find(repo)->fresh) {
    desk_.answer_all(repo, *known->row, now, out);
  } else {
    // A directory that cannot be reached decides nothing about the DID.
    if (!is_known && !is_away)
      cache_.put(repo, std::nullopt, why, wall.seconds());
    desk_.answer_all(repo, why, now, out);
    for (auto& x : out.answers)
      x.not_before = not_before;
  }
  desk_.run(now, out);
}

/// Takes the result of a look-up or of the export.
/// @param at When it was read, in Unix seconds.
/// @pre it is pending
void identity_machine::take_document(const atproto::did& repo,
                                     storage::identity_row row, int64_t at,
                                     steady_time now, effects& out) {
  cache_.put(repo, row, std::nullopt, at);
  out.store.emplace_back(repo, row);
  if (!row.tombstoned && !row.claimed_handle.empty()) {
    // Otherwise the row would count as checked after a crash.
    out.store.back().second.fetched_at = 0;
    auto& check = checking_[repo];
    ++check.checks;
    for (const auto who : desk_.find(repo)->waiters)
      lookup_desk::add_waiter(check.waiters, who);
    out.verify.push_back({repo, row.claimed_handle});
  }
  desk_.answer_all(repo, row, now, out);
  desk_.run(now, out);
}

identity_machine::effects
identity_machine::on_handle(const atproto::did& repo, const std::string& handle,
                            const result<atproto::did>& owner) {
  effects out;
  const auto check = checking_.find(repo);
  if (check == checking_.end())
    return out;
  const auto waiters = check->second.waiters;
  if (--check->second.checks == 0)
    checking_.erase(check);
  const auto* known = cache_.find(repo);
  if (known != nullptr && known->row && known->row->claimed_handle == handle)
    take_owner(repo, owner, out);
  known = cache_.find(repo);
  const auto fact
    = known != nullptr && known->row
        ? result<storage::identity_row>{*known->row}
        : fail(ec::unreachable, "forgotten while its handle was checked");
  const auto checked = owner || owner.error().code != ec::unreachable;
  for (const auto who : waiters)
    out.answers.emplace_back(answer{{repo, fact}, who}).checked = checked;
  return completed(std::move(out));
}

/// @pre its row is in the cache
void identity_machine::take_owner(const atproto::did& repo,
                                  const result<atproto::did>& owner,
                                  effects& out) {
  const auto known = *cache_.find(repo);
  auto row = *known.row;
  if (owner)
    row.handle = *owner == repo ? row.claimed_handle : std::string{};
  else if (owner.error().code != ec::unreachable
           || row.handle != row.claimed_handle)
    row.handle.clear(); // An unknown owner is not a verified one.
  out.store.emplace_back(repo, row);
  cache_.put(repo, std::move(row), std::nullopt, known.at);
}

identity_machine::effects identity_machine::on_timer(steady_time now) {
  effects out;
  desk_.run(now, out);
  return completed(std::move(out));
}

} // namespace weir::actors
