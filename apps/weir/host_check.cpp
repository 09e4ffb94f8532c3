#include "apps/weir/host_check.hpp"

#include "apps/weir/account_check.hpp"
#include "apps/weir/key_look_up.hpp"
#include "apps/weir/repo_fetch.hpp"
#include "apps/weir/stream_claims.hpp"
#include "storage/tables/filter_table.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/limits.hpp"
#include "storage/tables/repo_table.hpp"
#include "wire/filter.hpp"

#include <deque>
#include <functional>
#include <iterator>

namespace weir::apps {

namespace {

/// How many paths are listed for one repo; others are only counted.
constexpr size_t paths_named_max = 10;

constexpr size_t walk_step = 1'024;

/// @param how The difference, as the rest of a sentence about the path.
using difference = std::function<void(std::string_view path, const char* how)>;

/// Reads the heads of one repo one by one.
class head_reader {
public:
  explicit head_reader(storage::head_cursor from) : from_(std::move(from)) {}

  /// The next head, which is not removed; null at the end.
  result<const storage::head_entry*> peek() {
    if (page_.empty() && !over_) {
      auto more = from_.next();
      if (!more)
        return more.error();
      over_ = more->empty();
      std::move(more->begin(), more->end(), std::back_inserter(page_));
    }
    return page_.empty() ? nullptr : &page_.front();
  }

  void pop() { page_.pop_front(); }

private:
  storage::head_cursor from_;
  std::deque<storage::head_entry> page_;
  bool over_ = false;
};

class host_checker {
public:
  host_checker(const closed_stores& stores, web_client& web,
               const host_check_options& options, std::string origin)
    : stores_(stores), web_(web), options_(options), origin_(std::move(origin)),
      out_(options_) {}

  result<host_check_report> run() {
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

private:
  /// Visits every known repo, page by page, until `visit` returns false.
  result<void> each_row(
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

  /// Loads what the streams claim, and finds out whether the host is a PDS, at
  /// which some account here is at home. No account is at home at a relay.
  result<void> learn_host() {
    auto claims = stream_claims::load(stores_.root());
    if (!claims)
      return claims.error();
    claims_ = std::move(*claims);
    bool is_pds = false;
    const auto ok = each_row([&](const auto&, const storage::repo_row& row) {
      is_pds = row.pds == origin_;
      return !is_pds;
    });
    accounts_.emplace(stores_.repos(), web_,
                      account_check::host{origin_, is_pds}, claims_, options_,
                      out_);
    return ok;
  }

  void check_row(const atproto::did& repo, const storage::repo_row& row) {
    const bool active = row.account == storage::account_status::active;
    const bool synced = row.status == storage::repo_status::synced;
    if (!accounts_->is_its_own(row))
      out_.count("of other hosts");
    else if (active && synced)
      check(repo);
    else
      accounts_->check(repo, row);
  }

  void check(const atproto::did& repo) {
    const auto& store = stores_.repos().of(repo);
    const auto here = storage::repo_table{store.db, store.names}.load(repo);
    const auto identity = store.load_identity(repo);
    if (!here || !identity)
      return out_.find(repo, (here ? identity.error() : here.error()).context);
    if (!here->chain || !*identity)
      return out_.find(repo, "is synced without a commit or an identity");
    const auto key
      = atproto::public_key::from_multikey((*identity)->signing_key);
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
  void check_key(const atproto::did& repo, const storage::repo_state& here,
                 const std::string& known, const std::string& reason) {
    const auto unknown = [&](const std::string& why) {
      out_.count("not proved by the key known here");
      out_.find(repo,
                "cannot be proved by the key known here: " + reason + why);
    };
    if (options_.directory.empty())
      return unknown("");
    const auto text = look_up_key(web_, repo, options_.directory);
    if (!text)
      return unknown("; its document: " + text.error().context);
    if (*text == known)
      return out_.note(repo, "unproved at the host",
                        "does not verify at the host: " + reason);
    const auto key = atproto::public_key::from_multikey(*text);
    if (!key)
      return unknown("; its document has no key");
    out_.count("of another key than here");
    repo_fetch there{repo, *key};
    there.run(web_, origin_);
    judge(repo, here, there);
  }

  void judge(const atproto::did& repo, const storage::repo_state& here,
             repo_fetch& there) {
    switch (there.outcome()) {
      case fetch_outcome::good:
        return compare(repo, here, there);
      case fetch_outcome::absent:
        return accounts_->refused(repo, host_standing::absent);
      case fetch_outcome::inactive:
        return accounts_->refused(repo, host_standing::inactive);
      case fetch_outcome::unproved:
        return out_.note(repo, "unproved at the host",
                          "does not verify at the host: " + there.reason());
      case fetch_outcome::failed:
        return out_.find(repo, "cannot be compared: " + there.reason());
    }
  }

  void compare(const atproto::did& repo, const storage::repo_state& here,
               repo_fetch& there) {
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

  result<void> compare_records(const atproto::did& repo,
                               const storage::repo_state& here,
                               repo_fetch& there) {
    const auto& store = stores_.repos().of(repo);
    head_reader heads{
      {store.db, store.names, store.key_partition, repo, *here.chain}};
    uint64_t records = 0;
    uint64_t wrong = 0;
    const auto differs = [&](std::string_view path, const char* how) {
      if (++wrong <= paths_named_max)
        out_.find(repo, std::string{path} + " " + how);
    };
    auto ok = there.visit(walk_step, [&](const atproto::walked_record& x) {
      ++records;
      return compare_record(heads, x, differs);
    });
    while (ok) {
      const auto head = heads.peek();
      if (!head)
        return head.error();
      if (*head == nullptr)
        break;
      differs((*head)->path(), "is not at the host");
      heads.pop();
    }
    if (!ok)
      return ok;
    out_.count("records compared", records);
    if (wrong > paths_named_max)
      out_.find(repo,
                std::to_string(wrong - paths_named_max) + " more paths differ");
    return {};
  }

  /// Reads the heads up to the path of a record of the host.
  result<void> compare_record(head_reader& heads,
                              const atproto::walked_record& x,
                              const difference& differs) const {
    for (;;) {
      const auto head = heads.peek();
      if (!head)
        return head.error();
      const auto mine = *head == nullptr ? std::string{} : (*head)->path();
      if (*head == nullptr || mine > x.path) {
        if (kept(x.path))
          differs(x.path, "is missing here");
        return {};
      }
      if (mine == x.path && (*head)->head.id != x.id)
        differs(x.path, "has another cid than at the host");
      if (mine < x.path)
        differs(mine, "is not at the host");
      heads.pop();
      if (mine == x.path)
        return {};
    }
  }

  std::optional<wire::collection_filter>
  filter_of(const atproto::did& repo, const storage::repo_row& row) const {
    const auto patterns = storage::kept_collections(stores_.repos().of(repo).db,
                                                    stores_.root(), repo, row);
    if (!patterns || !*patterns)
      return std::nullopt;
    auto out = wire::collection_filter::parse(**patterns);
    return out ? std::optional{std::move(*out)} : std::nullopt;
  }

  /// True when a record of the host should be here, too.
  bool kept(std::string_view path) const {
    return filter_ && filter_->matches(atproto::split_path(path).collection);
  }

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
