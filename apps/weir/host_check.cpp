#include "apps/weir/host_check.hpp"

#include "apps/weir/account_check.hpp"
#include "apps/weir/key_look_up.hpp"
#include "apps/weir/record_diff.hpp"
#include "apps/weir/stream_claims.hpp"
#include "storage/format/limits.hpp"
#include "storage/tables/filter_table.hpp"
#include "storage/tables/repo_table.hpp"
#include "wire/filter.hpp"

#include <functional>

namespace weir::apps {

namespace {

/// How many paths are listed for one repo; others are only counted.
constexpr size_t paths_named_max = 10;

class host_checker {
public:
  host_checker(const closed_stores& stores, web_client& web,
               const host_check_options& options, std::string origin)
    : stores_(stores), web_(web), options_(options), origin_(std::move(origin)),
      out_(options_) {}

  result<host_check_report> run();

private:
  result<void> each_row(
    const std::function<bool(const atproto::did&, const storage::repo_row&)>&
      visit);
  result<void> learn_host();
  void check_row(const atproto::did& repo, const storage::repo_row& row);
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

  const closed_stores& stores_;
  web_client& web_;
  const host_check_options& options_;
  const std::string origin_;
  stream_claims claims_;
  std::optional<account_check> accounts_; ///< Set when the host is known.
  /// The filter of the current repo, if it is known.
  std::optional<wire::collection_filter> filter_;
  host_findings out_;
};

std::optional<wire::collection_filter>
host_checker::filter_of(const atproto::did& repo,
                        const storage::repo_row& row) const {
  const auto patterns = storage::kept_collections(stores_.repos().of(repo).db,
                                                  stores_.root(), repo, row);
  if (!patterns || !*patterns)
    return std::nullopt;
  auto out = wire::collection_filter::parse(**patterns);
  return out ? std::optional{std::move(*out)} : std::nullopt;
}

/// True when a record of the host should be here, too.
bool host_checker::kept(std::string_view path) const {
  return filter_ && filter_->matches(atproto::split_path(path).collection);
}

result<host_check_report> host_checker::run() {
  if (auto ok = learn_host(); !ok)
    return ok.error();
  accounts_->check_listing();
  const auto ok = each_row([this](const auto& repo, const auto& row) {
    check_row(repo, row);
    return true;
  });
  if (!ok)
    return ok.error();
  return out_.take();
}

/// Visits every known repo, page by page, until `visit` returns false.
result<void> host_checker::each_row(
  const std::function<bool(const atproto::did&, const storage::repo_row&)>&
    visit) {
  for (atproto::did after;;) {
    const auto page = stores_.repos().page(after);
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

/// Finds the host among the upstreams. No account is at home at a relay.
result<void> host_checker::learn_host() {
  auto claims = stream_claims::load(stores_.root());
  if (!claims)
    return claims.error();
  claims_ = std::move(*claims);
  bool is_pds = false;
  const auto ok = each_row([&](const auto&, const storage::repo_row& row) {
    is_pds = row.pds == origin_;
    return !is_pds;
  });
  accounts_.emplace(stores_.repos(), web_, account_check::host{origin_, is_pds},
                    claims_, options_, out_);
  return ok;
}

void host_checker::check_row(const atproto::did& repo,
                             const storage::repo_row& row) {
  const bool active = row.account == storage::account_status::active;
  const bool synced = row.status == storage::repo_status::synced;
  if (!accounts_->is_its_own(row))
    out_.count("of other hosts");
  else if (active && synced)
    check(repo);
  else
    accounts_->check(repo, row);
}

// -- repos --------------------------------------------------------------------

void host_checker::check(const atproto::did& repo) {
  const auto& store = stores_.repos().of(repo);
  const auto here = storage::repo_table{store.db, store.names}.load(repo);
  const auto identity = store.load_identity(repo);
  if (!here || !identity)
    return out_.find(repo, (here ? identity.error() : here.error()).context);
  if (!here->chain || !*identity)
    return out_.find(repo, "is synced without a commit or an identity");
  const auto key = atproto::public_key::from_multikey((*identity)->signing_key);
  if (!key)
    return out_.find(repo, "is synced without a usable key");
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
    out_.count("not proved by the key known here");
    out_.find(repo, "cannot be proved by the key known here: " + reason + why);
  };
  if (options_.directory.empty())
    return unknown("");
  const auto text = look_up_key(web_, repo, options_.directory);
  if (!text)
    return unknown("; its document: " + text.error().context);
  if (*text == known)
    return out_.doubt(repo, "unproved at the host",
                      "does not verify at the host: " + reason);
  const auto key = atproto::public_key::from_multikey(*text);
  if (!key)
    return unknown("; its document has no key");
  out_.count("of another key than here");
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
      return accounts_->refused(repo, host_standing::absent);
    case fetch_outcome::inactive:
      return accounts_->refused(repo, host_standing::inactive);
    case fetch_outcome::unproved:
      return out_.doubt(repo, "unproved at the host",
                        "does not verify at the host: " + there.reason());
    case fetch_outcome::failed:
      return out_.find(repo, "cannot be compared: " + there.reason());
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
             ? out_.newer(repo, sentence)
             : out_.find(repo,
                         sentence + ", which the node says it has passed");
  }
  if (root.rev < chain.rev)
    out_.find(repo, "is at " + chain.rev.str() + ", ahead of the host's "
                      + root.rev.str());
  else if (root.rev == chain.rev && root.data != chain.data)
    out_.find(repo, "has another tree than the host at " + root.rev.str());
  out_.count("repos compared");
  filter_ = filter_of(repo, *here.row);
  if (const auto ok = compare_records(repo, here, there); !ok)
    out_.find(repo, "cannot be compared: " + ok.error().context);
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
      out_.find(repo, std::string{path} + " " + how);
  };
  const auto& store = stores_.repos().of(repo);
  const auto compared
    = diff.run(head_reader{storage::head_cursor{
                 store.db, store.names, store.partition, repo, *here.chain}},
               there);
  if (!compared)
    return compared.error();
  out_.count("records compared", *compared);
  if (wrong > paths_named_max)
    out_.find(repo,
              std::to_string(wrong - paths_named_max) + " more paths differ");
  return {};
}

} // namespace

result<host_check_report>
check_against_host(const closed_stores& stores, web_client& web,
                   const host_check_options& options) {
  const auto url = net::parse_url(options.origin);
  if (!url)
    return url.error();
  return host_checker{stores, web, options, url->origin()}.run();
}

} // namespace weir::apps
