#include "apps/weir/host_check.hpp"

#include "apps/weir/repo_fetch.hpp"
#include "base/limits.hpp"
#include "storage/collection_table.hpp"
#include "storage/head_cursor.hpp"
#include "storage/identity_table.hpp"
#include "storage/repo_table.hpp"
#include "wire/filter.hpp"

#include <deque>

namespace weir::apps {

namespace {

/// Paths named for one repo; the rest is counted.
constexpr size_t paths_named_max = 10;
constexpr size_t walk_step = 1'024;

class host_checker {
public:
  host_checker(const storage::database& db,
               const storage::collection_names& names, web_client& web,
               const host_check_options& options)
    : db_(db), names_(names), table_(db, names), web_(web), options_(options) {
    // nop
  }

  result<storage::verify_report> run();

private:
  void find(const atproto::did& repo, std::string sentence);
  void doubt(const atproto::did& repo, const char* what, std::string sentence);
  void check(const atproto::did& repo);
  void compare(const atproto::did& repo, const storage::repo_state& here,
               repo_fetch& there);
  result<void> compare_records(const atproto::did& repo,
                               const storage::repo_state& here,
                               repo_fetch& there);
  bool kept(std::string_view path) const;

  const storage::database& db_;
  const storage::collection_names& names_;
  storage::repo_table table_;
  web_client& web_;
  const host_check_options& options_;
  wire::collection_filter filter_; ///< Of the repo that is looked at.
  storage::verify_report report_;
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

bool host_checker::kept(std::string_view path) const {
  return !options_.filtered && filter_.matches(path.substr(0, path.find('/')));
}

result<storage::verify_report> host_checker::run() {
  for (atproto::did after;;) {
    const auto page = table_.page(after);
    if (!page)
      return page.error();
    for (const auto& [repo, row] : *page) {
      if (row.status == storage::repo_status::synced
          && row.account == storage::account_status::active)
        check(repo);
      else
        ++report_.counts["not in sync here"];
    }
    if (page->size() < limits::repos_page_max)
      return std::move(report_);
    after = page->back().first;
  }
}

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
  there.run(web_, options_.origin);
  switch (there.outcome()) {
    case fetch_outcome::good:
      return compare(repo, *here, there);
    case fetch_outcome::absent:
      return doubt(repo, "not at the host", "is not at the host");
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
  if (root.data != chain.data && root.rev > chain.rev)
    return doubt(repo, "behind",
                 "is at " + chain.rev.str() + ", the host at "
                   + root.rev.str());
  if (root.rev < chain.rev)
    find(repo, "is at " + chain.rev.str() + ", ahead of the host's "
                 + root.rev.str());
  else if (root.rev == chain.rev && root.data != chain.data)
    find(repo, "has another tree than the host at " + root.rev.str());
  ++report_.counts["repos compared"];
  filter_ = {};
  if (here.member)
    if (auto own = wire::collection_filter::parse(here.member->collections))
      filter_ = std::move(*own);
  if (const auto ok = compare_records(repo, here, there); !ok)
    find(repo, "cannot be compared: " + ok.error().context);
}

/// Heads of one repo, one by one.
class head_reader {
public:
  explicit head_reader(storage::head_cursor from) : from_(std::move(from)) {
    // nop
  }

  /// Null at the end.
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

result<void> host_checker::compare_records(const atproto::did& repo,
                                           const storage::repo_state& here,
                                           repo_fetch& there) {
  constexpr uint16_t partition = 0;
  head_reader heads{
    storage::head_cursor{db_, names_, partition, repo, *here.chain}};
  uint64_t wrong = 0;
  const auto differs = [&](std::string_view path, const char* how) {
    if (++wrong <= paths_named_max)
      find(repo, std::string{path} + " " + how);
  };
  const auto visit = [&](const atproto::walked_record& x) -> result<void> {
    ++report_.counts["records compared"];
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
  };
  if (auto ok = there.visit(walk_step, visit); !ok)
    return ok;
  for (;;) {
    const auto head = heads.peek();
    if (!head)
      return head.error();
    if (*head == nullptr)
      break;
    differs((*head)->path(), "is not at the host");
    heads.pop();
  }
  if (wrong > paths_named_max)
    find(repo, std::to_string(wrong - paths_named_max) + " more paths differ");
  return {};
}

} // namespace

result<storage::verify_report>
check_against_host(const storage::database& db, web_client& web,
                   const host_check_options& options) {
  const auto names = storage::collection_table::load(db);
  if (!names)
    return names.error();
  return host_checker{db, **names, web, options}.run();
}

} // namespace weir::apps
