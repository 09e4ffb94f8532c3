#include "apps/weir/host_check.hpp"

#include "apps/weir/host_accounts.hpp"
#include "apps/weir/key_look_up.hpp"
#include "apps/weir/record_diff.hpp"
#include "apps/weir/stream_claims.hpp"
#include "base/limits.hpp"
#include "storage/collection_table.hpp"
#include "storage/filter_table.hpp"
#include "storage/identity_table.hpp"
#include "storage/repo_table.hpp"
#include "storage/row_access.hpp"
#include "wire/filter.hpp"

#include <functional>

namespace weir::apps {

namespace {

/// Paths named for one repo; the rest is counted.
constexpr size_t paths_named_max = 10;
constexpr uint16_t partition = 0;

class host_checker {
public:
  host_checker(const storage::database& db,
               const storage::collection_names& names, web_client& web,
               const host_check_options& options, std::string origin)
    : db_(db), names_(names), table_(db, names), web_(web), options_(options),
      origin_(std::move(origin)), accounts_(web, origin_) {
    // nop
  }

  result<host_check_report> run();

private:
  void find(const atproto::did& repo, std::string sentence);
  void doubt(const atproto::did& repo, const char* what, std::string sentence);
  void newer(const atproto::did& repo, std::string sentence);
  bool is_others_verdict(const storage::repo_row& row) const;
  result<void> each_row(
    const std::function<bool(const atproto::did&, const storage::repo_row&)>&
      visit);
  result<void> learn_host();
  void check_row(const atproto::did& repo, const storage::repo_row& row);
  void check_standing(const atproto::did& repo);
  void take_standing(const atproto::did& repo, host_standing x);
  void check_listing();
  result<void> check_listed(const listed_account& x);
  result<void> check_unknown(const listed_account& x);
  void check(const atproto::did& repo);
  void check_key(const atproto::did& repo, const storage::repo_state& here,
                 const std::string& known, const std::string& reason);
  void judge(const atproto::did& repo, const storage::repo_state& here,
             repo_fetch& there);
  void compare(const atproto::did& repo, const storage::repo_state& here,
               repo_fetch& there);
  result<void> compare_records(const atproto::did& repo,
                               const storage::repo_state& here,
                               repo_fetch& there);
  std::optional<wire::collection_filter>
  filter_of(const atproto::did& repo, const storage::repo_row& row) const;
  bool kept(std::string_view path) const;

  const storage::database& db_;
  const storage::collection_names& names_;
  storage::repo_table table_;
  web_client& web_;
  const host_check_options& options_;
  const std::string origin_;
  host_accounts accounts_;
  bool is_pds_ = false;
  stream_claims claims_;
  /// Of the repo that is looked at, when it is known.
  std::optional<wire::collection_filter> filter_;
  host_check_report report_;
};

void host_checker::find(const atproto::did& repo, std::string sentence) {
  if (++report_.findings_total <= options_.findings_max)
    report_.findings.push_back({"I9", repo.str(), std::move(sentence)});
}

/// What is no proof of damage.
void host_checker::doubt(const atproto::did& repo, const char* what,
                         std::string sentence) {
  ++report_.counts[what];
  if (options_.strict)
    find(repo, std::move(sentence));
}

/// It came to be at the host after what the node claims to know.
void host_checker::newer(const atproto::did& repo, std::string sentence) {
  if (++report_.counts["newer at the host"] <= options_.findings_max)
    report_.newer.push_back({"newer", repo.str(), sentence});
  if (options_.strict)
    find(repo, std::move(sentence));
}

std::optional<wire::collection_filter>
host_checker::filter_of(const atproto::did& repo,
                        const storage::repo_row& row) const {
  const auto patterns = storage::kept_collections(db_, repo, row);
  if (!patterns || !*patterns)
    return std::nullopt;
  auto out = wire::collection_filter::parse(**patterns);
  return out ? std::optional{std::move(*out)} : std::nullopt;
}

/// Whether a record there should be here, too.
bool host_checker::kept(std::string_view path) const {
  return filter_ && filter_->matches(atproto::split_path(path).collection);
}

result<host_check_report> host_checker::run() {
  if (auto ok = learn_host(); !ok)
    return ok.error();
  const auto ok = each_row([this](const auto& repo, const auto& row) {
    check_row(repo, row);
    return true;
  });
  if (!ok)
    return ok.error();
  check_listing();
  return std::move(report_);
}

/// Every known repo, page by page, until `visit` is false.
result<void> host_checker::each_row(
  const std::function<bool(const atproto::did&, const storage::repo_row&)>&
    visit) {
  for (atproto::did after;;) {
    const auto page = table_.page(after);
    if (!page)
      return page.error();
    for (const auto& [repo, row] : *page)
      if (!visit(repo, row))
        return {};
    if (page->size() < limits::repos_page_max)
      return {};
    after = page->back().first;
  }
}

/// No account is at home at a relay.
result<void> host_checker::learn_host() {
  auto claims = stream_claims::load(db_);
  if (!claims)
    return claims.error();
  claims_ = std::move(*claims);
  return each_row([this](const auto&, const storage::repo_row& row) {
    is_pds_ = row.pds == origin_;
    return !is_pds_;
  });
}

void host_checker::check_row(const atproto::did& repo,
                             const storage::repo_row& row) {
  const bool active = row.account == storage::account_status::active;
  const bool synced = row.status == storage::repo_status::synced;
  if (is_pds_ && row.pds != origin_) {
    ++report_.counts["of other hosts"];
  } else if (active && synced) {
    check(repo);
  } else {
    ++report_.counts["not in sync here"];
    if (active)
      check_standing(repo);
  }
}

// -- accounts -----------------------------------------------------------------

void host_checker::check_standing(const atproto::did& repo) {
  if (const auto there = accounts_.standing_of(repo))
    take_standing(repo, *there);
  else
    find(repo, "cannot be asked for: " + there.error().context);
}

/// @pre It is active here.
void host_checker::take_standing(const atproto::did& repo, host_standing x) {
  if (x == host_standing::absent)
    find(repo, "is active here and not at the host");
  if (x == host_standing::inactive)
    find(repo, "is active here and not active at the host");
}

/// What the host says is known and the same; another relay took it down, or the
/// directory has a tombstone.
bool host_checker::is_others_verdict(const storage::repo_row& row) const {
  auto words = row.words;
  words.tombstoned = false;
  std::erase_if(words.relays, [this](const storage::relay_word& x) {
    return x.at.upstream != claims_.id_of(origin_);
  });
  return storage::combined(words) == storage::account_status::active;
}

void host_checker::check_listing() {
  result<void> read;
  const auto ok = accounts_.each([&](const listed_account& x) {
    if (read && x.active)
      read = check_listed(x);
  });
  const auto& failed = read ? ok : read;
  if (failed)
    return;
  if (failed.error().code == ec::not_found && !options_.full_network)
    ++report_.counts["without a listing"];
  else if (++report_.findings_total <= options_.findings_max)
    report_.findings.push_back(
      {"I9", origin_,
       "its accounts cannot be compared: " + failed.error().context});
}

result<void> host_checker::check_listed(const listed_account& x) {
  ++report_.counts["accounts compared"];
  const auto row
    = storage::load_row<storage::repo_row>(db_, storage::repo_key{x.repo});
  if (!row)
    return row.error();
  if (!*row)
    return check_unknown(x);
  if ((*row)->account == storage::account_status::active)
    return {};
  if (is_others_verdict(**row))
    ++report_.counts["taken down by another relay"];
  else
    find(x.repo, std::string{"is "} + storage::to_string((*row)->account)
                   + " here and active at the host");
  return {};
}

/// The host has it, we have no row of it: whether it should be here is known
/// of those that are tracked, and of all when the node follows all.
result<void> host_checker::check_unknown(const listed_account& x) {
  const auto member = storage::load_row<storage::member_row>(
    db_, storage::member_key{storage::default_dataset, x.repo});
  if (!member)
    return member.error();
  const auto chain = db_.get(encode_key(storage::chain_key{x.repo}));
  if (!chain)
    return chain.error();
  if (*member)
    find(x.repo, "is tracked and active at the host, and not known here");
  else if (*chain)
    ++report_.counts["removed here"];
  else if (!options_.full_network)
    ++report_.counts["not followed here"];
  else if (x.rev.time().micros > claims_.passed_us(origin_))
    newer(x.repo, "is at " + x.rev.str() + " at the host and not known here");
  else
    find(x.repo, "is at " + x.rev.str()
                   + " at the host, which the node says it has passed, and not "
                     "known here");
  return {};
}

// -- repos --------------------------------------------------------------------

void host_checker::check(const atproto::did& repo) {
  const auto here = table_.load(repo);
  const auto identity = storage::load_identity(db_, repo);
  if (!here || !identity)
    return find(repo, (here ? identity.error() : here.error()).context);
  if (!here->chain || !*identity)
    return find(repo, "is synced without a commit or an identity");
  const auto key = atproto::public_key::from_multikey((*identity)->signing_key);
  if (!key)
    return find(repo, "is synced without a usable key");
  repo_fetch there{repo, *key};
  there.run(web_, origin_);
  if (there.outcome() == fetch_outcome::unproved)
    check_key(repo, *here, (*identity)->signing_key, there.reason());
  else
    judge(repo, *here, there);
}

/// The key may have changed without the node's knowledge.
void host_checker::check_key(const atproto::did& repo,
                             const storage::repo_state& here,
                             const std::string& known,
                             const std::string& reason) {
  const auto unknown = [&](const std::string& why) {
    ++report_.counts["not proved by the key known here"];
    find(repo, "cannot be proved by the key known here: " + reason + why);
  };
  if (options_.directory.empty())
    return unknown("");
  const auto text = look_up_key(web_, repo, options_.directory);
  if (!text)
    return unknown("; its document: " + text.error().context);
  if (*text == known)
    return doubt(repo, "unproved at the host",
                 "does not verify at the host: " + reason);
  const auto key = atproto::public_key::from_multikey(*text);
  if (!key)
    return unknown("; its document has no key");
  ++report_.counts["of another key than here"];
  repo_fetch there{repo, *key};
  there.run(web_, origin_);
  judge(repo, here, there);
}

void host_checker::judge(const atproto::did& repo,
                         const storage::repo_state& here, repo_fetch& there) {
  switch (there.outcome()) {
    case fetch_outcome::good:
      return compare(repo, here, there);
    case fetch_outcome::absent:
      return take_standing(repo, host_standing::absent);
    case fetch_outcome::inactive:
      return take_standing(repo, host_standing::inactive);
    case fetch_outcome::unproved:
      return doubt(repo, "unproved at the host",
                   "does not verify at the host: " + there.reason());
    case fetch_outcome::failed:
      return find(repo, "cannot be compared: " + there.reason());
  }
}

void host_checker::compare(const atproto::did& repo,
                           const storage::repo_state& here, repo_fetch& there) {
  const auto& chain = *here.chain;
  const auto& root = there.root();
  if (root.data != chain.data && root.rev > chain.rev) {
    const auto sentence
      = "is at " + chain.rev.str() + ", the host at " + root.rev.str();
    return root.rev.time().micros > claims_.passed_us(here.row->pds)
             ? newer(repo, sentence)
             : find(repo, sentence + ", which the node says it has passed");
  }
  if (root.rev < chain.rev)
    find(repo, "is at " + chain.rev.str() + ", ahead of the host's "
                 + root.rev.str());
  else if (root.rev == chain.rev && root.data != chain.data)
    find(repo, "has another tree than the host at " + root.rev.str());
  ++report_.counts["repos compared"];
  filter_ = filter_of(repo, *here.row);
  if (const auto ok = compare_records(repo, here, there); !ok)
    find(repo, "cannot be compared: " + ok.error().context);
}

result<void> host_checker::compare_records(const atproto::did& repo,
                                           const storage::repo_state& here,
                                           repo_fetch& there) {
  uint64_t wrong = 0;
  record_diff diff;
  diff.kept = [this](std::string_view path) {
    return kept(path);
  };
  diff.differs = [&](std::string_view path, const char* how) {
    if (++wrong <= paths_named_max)
      find(repo, std::string{path} + " " + how);
  };
  const auto compared = diff.run(
    head_reader{
      storage::head_cursor{db_, names_, partition, repo, *here.chain}},
    there);
  if (!compared)
    return compared.error();
  report_.counts["records compared"] += *compared;
  if (wrong > paths_named_max)
    find(repo, std::to_string(wrong - paths_named_max) + " more paths differ");
  return {};
}

} // namespace

result<host_check_report>
check_against_host(const storage::database& db, web_client& web,
                   const host_check_options& options) {
  const auto names = storage::collection_table::load(db);
  if (!names)
    return names.error();
  const auto url = net::parse_url(options.origin);
  if (!url)
    return url.error();
  return host_checker{db, **names, web, options, url->origin()}.run();
}

} // namespace weir::apps
