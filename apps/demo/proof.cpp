#include "apps/demo/proof.hpp"

#include "storage/log/erasure.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/limits.hpp"
#include "storage/tables/repo_table.hpp"
#include "wire/position.hpp"

namespace weir::apps {

namespace {

constexpr size_t differences_named_max = 20;

class comparer {
public:
  comparer(const std::map<std::string, listed_repo>& node,
           const event_copy& copy)
    : node_(node), copy_(copy) {}

  void check(const simnet::expected_account& x) {
    const auto& did = x.account.id.str();
    known_.insert(did);
    const auto listed = node_.find(did);
    const auto copied = copy_.accounts().find(did);
    const bool active = x.account.status == simnet::standing::active;
    ++(active ? out.active : out.inactive);
    if (listed == node_.end())
      return differ(did, "is not known to the node");
    if (copied == copy_.accounts().end())
      return differ(did, "is not known to the consumer");
    if (active)
      check_active(x, listed->second, copied->second);
    else
      check_inactive(x.account, listed->second, copied->second);
  }

  void check_strangers() {
    for (const auto& [did, ignored] : node_)
      if (!known_.contains(did))
        differ(did, "is not of this network");
    for (const auto& [did, ignored] : copy_.accounts())
      if (!known_.contains(did))
        differ(did, "is not of this network");
  }

  comparison out;

private:
  void differ(const std::string& did, const std::string& how) {
    out.wrong.insert(did);
    if (out.differences.size() < differences_named_max)
      out.differences.push_back(did + " " + how);
  }

  void check_active(const simnet::expected_account& x,
                    const listed_repo& listed, const copied_account& copied) {
    const auto& did = x.account.id.str();
    out.records += x.records.size();
    if (listed.status != "synced")
      return differ(did, "is " + listed.status + " in the node");
    if (listed.rev != x.account.rev.str())
      return differ(did, "is at " + listed.rev + " in the node, at "
                           + x.account.rev.str() + " in the network");
    if (listed.records != x.records.size())
      return differ(
        did, "has " + std::to_string(listed.records) + " records in the node, "
               + std::to_string(x.records.size()) + " in the network");
    if (!copied.active || copied.status != "active")
      return differ(did, "is " + copied.status + " for the consumer");
    if (copied.handle != x.account.handle)
      return differ(did, "is called " + copied.handle + " by the consumer, is "
                           + x.account.handle);
    check_records(x, copied);
  }

  void check_inactive(const simnet::account_view& x, const listed_repo& listed,
                      const copied_account& copied) {
    const auto* word = status_word(x.status);
    if (copied.active || copied.status != word)
      return differ(x.id.str(),
                    "is " + copied.status + " for the consumer, is " + word);
    if (x.status == simnet::standing::deleted
        && (listed.records != 0 || !copied.records.empty()))
      differ(x.id.str(),
             "was deleted, and "
               + std::to_string(listed.records + copied.records.size())
               + " records are still there");
  }

  void check_records(const simnet::expected_account& x,
                     const copied_account& copied) {
    size_t equal = 0;
    std::string example;
    for (const auto& each : x.records) {
      const auto found = copied.records.find(each.path);
      if (found != copied.records.end() && found->second == each.id.to_text())
        ++equal;
      else
        example = each.path;
    }
    const auto missing = x.records.size() - equal;
    const auto extra = copied.records.size() - equal;
    if (missing > 0 || extra > 0)
      differ(x.account.id.str(),
             "differs for the consumer: " + std::to_string(missing)
               + " records missing or other, " + std::to_string(extra)
               + " of its own " + example);
  }

  const std::map<std::string, listed_repo>& node_;
  const event_copy& copy_;
  std::set<std::string> known_;
};

/// Reads the log and compares it with what the consumer received.
class delivery_checker {
public:
  delivery_checker(const store_readers& store, const event_copy& copy,
                   storage::op_id all_until, delivery_check& out)
    : db_(store.db), log_(store.db, store.names, store.key_partition),
      repos_(store.db, store.names), which_(db_.identity()), copy_(copy),
      all_until_(all_until), out_(out) {}

  result<void> run() {
    if (auto ok = read_erasures(); !ok)
      return ok.error();
    for (storage::op_id after = 0;;) {
      // With their contents: of some versions they were erased meanwhile.
      const auto entries = log_.read(after, UINT64_MAX);
      if (!entries)
        return entries.error();
      if (entries->empty())
        break;
      for (const auto& entry : *entries)
        if (auto ok = check(*entry); !ok)
          return ok.error();
      after = last_ = entries->back()->last();
    }
    for (const auto& [id, ignored] : copy_.ids())
      if (const auto at = wire::place_of(id, which_.partitions).value();
          at.partition == which_.partition)
        out_.invented += at.op > last_ ? 1 : 0;
    return {};
  }

private:
  result<void> read_erasures() {
    atproto::did after;
    for (;;) {
      const auto page = storage::open_erasures(db_, after);
      if (!page)
        return page.error();
      for (const auto& [repo, row] : *page)
        erasures_[repo.str()] = row.through;
      if (page->size() < limits::repos_page_max)
        return {};
      after = page->back().repo;
    }
  }

  result<void> check(const storage::log_entry& entry) {
    for (size_t i = 0; i < entry.ops.size(); ++i) {
      const auto id = entry.first + i;
      const auto skipped = withheld(entry.repo, id);
      if (!skipped)
        return skipped.error();
      check(entry, entry.ops[i], id,
            *skipped || entry.erased || entry.ops[i].outdated
              || id > all_until_);
    }
    return {};
  }

  void check(const storage::log_entry& entry,
             const storage::logged_operation& op, storage::op_id id,
             bool may_be_withheld) {
    ++out_.operations;
    const auto sent = copy_.ids().find(
      wire::event_id({which_.partition, id}, which_.partitions).value());
    if (op.scope == storage::commit_scope) {
      ++out_.commits;
      out_.invented += sent == copy_.ids().end() ? 0 : 1;
      return;
    }
    if (sent == copy_.ids().end()) {
      ++(may_be_withheld ? out_.withheld : out_.lost);
      return;
    }
    const auto& did = entry.repo.str();
    const bool record = !op.scope.starts_with('$');
    const auto path = record ? op.scope + "/" + op.rkey : std::string{};
    const bool removed = op.action == atproto::op_action::remove;
    // The log may no longer know the collection of erased content.
    const bool forgotten = entry.erased && op.scope.empty();
    const bool same
      = forgotten
        || (sent->second.place == event_place(did, path)
            && (!record
                || sent->second.content
                     == record_content(
                       did, entry.rev.str(), path, to_string(op.action),
                       removed ? std::string{} : op.id.to_text())));
    ++(same ? out_.delivered : out_.altered);
  }

  /// True for operations that are not delivered because of the account's
  /// status.
  result<bool> withheld(const atproto::did& repo, storage::op_id id) {
    if (repo != row_owner_) {
      auto state = repos_.load(repo);
      if (!state)
        return state.error();
      row_owner_ = repo;
      row_ = std::move(state->row);
    }
    const auto erasure = erasures_.find(repo.str());
    return !row_ || row_->account != storage::account_status::active
           || id <= row_->erased_through
           || (erasure != erasures_.end() && id <= erasure->second);
  }

  const storage::database& db_;
  storage::log_reader log_;
  storage::repo_table repos_;
  const storage::store_identity which_;
  const event_copy& copy_;
  storage::op_id all_until_;
  storage::op_id last_ = 0;
  delivery_check& out_;
  atproto::did row_owner_;
  std::optional<storage::repo_row> row_;
  /// Erased content that is still on disk: for each repo, up to which id.
  std::map<std::string, storage::op_id> erasures_;
};

} // namespace

comparison compare(std::span<const simnet::expected_account> truth,
                   const std::map<std::string, listed_repo>& node,
                   const event_copy& copy) {
  comparer x{node, copy};
  for (const auto& each : truth)
    x.check(each);
  x.check_strangers();
  return std::move(x.out);
}

completeness_findings
judge_completeness(simnet::world& truth,
                   const std::map<std::string, listed_repo>& repos) {
  completeness_findings out;
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    if (x.status != simnet::standing::active || x.relay_takedown)
      continue;
    const auto found = repos.find(x.id.str());
    if (found == repos.end()) {
      out.missing.push_back(x.id.str() + " is not known");
      continue;
    }
    const auto& known = found->second;
    if (!known.complete)
      out.missing.push_back(x.id.str() + " is not complete: " + known.reason);
    else if (known.rev != x.rev.str() || known.records != x.records)
      out.wrong.push_back(x.id.str() + " is called complete and differs");
  }
  return out;
}

result<delivery_check>
check_delivery(const closed_stores& stores, const event_copy& copy,
               const std::vector<storage::op_id>& all_until) {
  delivery_check out;
  for (const auto* x : stores.repos().each()) {
    const auto until = all_until.empty()
                         ? UINT64_MAX
                         : all_until.at(x->db.identity().partition);
    if (auto ok = delivery_checker{*x, copy, until, out}.run(); !ok)
      return ok.error();
  }
  return out;
}

} // namespace weir::apps
