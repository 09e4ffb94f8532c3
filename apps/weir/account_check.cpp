#include "apps/weir/account_check.hpp"

#include "actors/support/state_words.hpp"
#include "apps/weir/key_look_up.hpp"
#include "storage/format/keys.hpp"
#include "storage/tables/row_access.hpp"

namespace weir::apps {

namespace {

using storage::account_status;
using storage::repo_status;

constexpr uint16_t partition = 0;

} // namespace

void account_check::check(const atproto::did& repo,
                          const storage::repo_row& row) {
  const bool active = row.account == account_status::active;
  out_.count(active ? "not in sync here" : "not active here");
  if (row.account == account_status::deleted)
    return; // Nothing is kept; a listing shows it.
  const auto there = accounts_.standing_of(repo);
  if (!there)
    return out_.find(repo, "cannot be asked for: " + there.error().context);
  if (active && *there == host_standing::active)
    return check_unsynced(repo, row);
  if (active)
    return refused(repo, *there);
  if (*there == host_standing::absent)
    check_gone(repo, row);
  else if (*there == host_standing::active && !is_listed_)
    check_away(repo, row);
}

void account_check::refused(const atproto::did& repo, host_standing there) {
  if (there == host_standing::absent)
    out_.find(repo, "is active here and not at the host");
  if (there == host_standing::inactive)
    out_.find(repo, "is active here and not active at the host");
}

/// The account is active on both sides but has no copy that claims to be true:
/// its fetch is still to come, or the node has failed.
void account_check::check_unsynced(const atproto::did& repo,
                                   const storage::repo_row& row) {
  auto sentence = std::string{"is in state "} + storage::to_string(row.status)
                  + " here and active at the host";
  if (!row.error.empty())
    sentence += ": " + row.error;
  if (row.status == repo_status::pending || row.status == repo_status::syncing)
    out_.unfinished(repo, "not fetched yet", std::move(sentence));
  else
    out_.find(repo, std::move(sentence));
}

/// The account is active only at the host.
void account_check::check_away(const atproto::did& repo,
                               const storage::repo_row& row) {
  if (row.words.tombstoned)
    check_tombstone(repo);
  else if (is_others_verdict(row))
    out_.count("taken down by another relay");
  else
    out_.find(repo, "is " + std::string{actors::account_word(row.account)}
                      + " here and active at the host");
}

/// The account is temporarily inactive here, and deleted there.
void account_check::check_gone(const atproto::did& repo,
                               const storage::repo_row& row) {
  const auto sentence = "is " + std::string{actors::account_word(row.account)}
                        + " here and gone at the host";
  if (keeps_records(repo))
    out_.find(repo, sentence + ", and its records are kept");
  else
    out_.unfinished(repo, "gone at the host", sentence);
}

/// A host's word does not lift a tombstone. Only the directory can say whether
/// it still has one, or gave a wrong answer before.
void account_check::check_tombstone(const atproto::did& repo) {
  const std::string sentence = "is deleted here because the directory had a "
                               "tombstone for it, and active at the host";
  if (options_.directory.empty())
    return out_.find(repo, sentence);
  const auto gone = has_tombstone(web_, repo, options_.directory);
  if (!gone)
    out_.find(repo, sentence + "; its document: " + gone.error().context);
  else if (*gone)
    out_.count("tombstoned by the directory");
  else
    out_.find(repo, sentence + "; the directory has a document");
}

/// True when the host's own state is the same here and another relay took it
/// down.
bool account_check::is_others_verdict(const storage::repo_row& row) const {
  auto words = row.words;
  const auto taken_down
    = std::erase_if(words.relays, [this](const storage::relay_word& x) {
        return x.said != account_status::active
               && x.at.upstream != claims_.id_of(where_.origin);
      });
  return taken_down > 0 && storage::combined(words) == account_status::active;
}

bool account_check::keeps_records(const atproto::did& repo) const {
  const auto& store = stores_.of(repo);
  return store.db
    .scan(storage::range_of<storage::record_head_key>(store.key_partition, repo))
    .valid();
}

void account_check::check_listing() {
  result<void> read;
  const auto ok = accounts_.each([&](const listed_account& x) {
    if (read && x.active)
      read = check_listed(x);
  });
  const auto& failed = read ? ok : read;
  is_listed_ = failed.has_value();
  if (is_listed_)
    return;
  if (failed.error().code == ec::not_found && !options_.full_network)
    out_.count("without a listing");
  else
    out_.find_of_host(where_.origin, "its accounts cannot be compared: "
                                       + failed.error().context);
}

result<void> account_check::check_listed(const listed_account& x) {
  out_.count("accounts compared");
  const auto found = stores_.of(x.repo).load_row(x.repo);
  if (!found)
    return found.error();
  if (!*found)
    return check_unknown(x);
  const auto& row = **found;
  if (row.account != account_status::active)
    check_away(x.repo, row);
  else if (!is_its_own(row) && row.pds.empty()
           && row.status != repo_status::synced)
    check_unsynced(x.repo, row); // Its host could not be found.
  return {};
}

/// The host has an account without a row here. It should be here when it is
/// tracked, or when the node follows all accounts.
result<void> account_check::check_unknown(const listed_account& x) {
  const auto& db = stores_.of(x.repo).db;
  const auto member = storage::load_row<storage::member_row>(
    db, storage::member_key{storage::default_dataset, x.repo});
  if (!member)
    return member.error();
  const auto chain = db.get(encode_key(storage::chain_key{x.repo}));
  if (!chain)
    return chain.error();
  if (*member)
    out_.find(x.repo, "is tracked and active at the host, and not known here");
  else if (*chain)
    out_.count("removed here");
  else if (!options_.full_network)
    out_.count("not followed here");
  else if (x.rev.time().micros > claims_.passed_us(where_.origin))
    out_.newer(x.repo,
               "is at " + x.rev.str() + " at the host and not known here");
  else
    out_.find(x.repo, "is at " + x.rev.str()
                        + " at the host, which the node says it has passed, "
                          "and not known here");
  return {};
}

} // namespace weir::apps
