#include "storage/log/operation_copy.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

indexed_operation staged_of(const stored_operation& x) {
  return {x.index,
          {x.scope, x.action, x.rkey, x.cid, x.body,
           x.content == content_state::invalid}};
}

apply_request request_of(const std::vector<stored_operation>& tx) {
  const auto& in = *tx.front().in;
  apply_request out;
  out.repo = in.repo;
  out.rev = in.rev;
  out.from = in.from;
  out.live = in.live;
  out.job = in.job;
  out.time_us = in.time_us;
  out.idempotent = true;
  out.sync = sync_mode::relaxed;
  for (const auto& op : tx)
    if (std::ranges::find(out.streams, op.scope, &expected_stream::scope)
        == out.streams.end())
      out.streams.push_back({op.scope, op.index});
  return out;
}

/// Where in the source it is, for people.
std::string place_of(const stored_operation& x) {
  return "operation " + std::to_string(x.id) + " (" + x.in->repo.str() + " "
         + x.scope + " " + std::to_string(x.index) + ")";
}

class copier {
public:
  explicit copier(const copy_options& options) : options_(options) {}

  /// Takes the operations of the source in their order.
  result<void> take(stored_operation x) {
    if (!tx_.empty() && tx_.front().in->first != x.in->first)
      return fail(ec::storage_failure,
                  "a part of the transaction of " + place_of(tx_.front())
                    + " is missing");
    tx_.push_back(std::move(x));
    return tx_.size() == tx_.front().in->ops ? write() : result<void>{};
  }

  result<copy_counts> take_counts() const {
    if (!tx_.empty())
      return fail(ec::storage_failure,
                  "the log ends inside of a transaction, at "
                    + place_of(tx_.back()));
    return counts_;
  }

private:
  result<void> write() {
    if (options_.cancelled && options_.cancelled())
      return fail(ec::cancelled, "the copying was interrupted");
    const auto target = options_.target(tx_.front().in->repo);
    if (!target)
      return target.error();
    if (*target == nullptr) {
      counts_.left_out += tx_.size();
      tx_.clear();
      return {};
    }
    for (const auto& x : tx_)
      if (x.content == content_state::deleted)
        return fail(ec::invalid_argument,
                    "the content of " + place_of(x)
                      + " was erased (log_retention), so the log is not whole");
    const auto done = (*target)->apply(
      request_of(tx_), [&](operation_staging& to) {
        result<void> ok;
        for (size_t i = 0; ok && i < tx_.size(); ++i)
          ok = to.add_operations(staged_of(tx_[i]));
        return ok;
      });
    if (!done)
      return done.error();
    if (auto ok = count(*done); !ok)
      return ok;
    tx_.clear();
    return {};
  }

  result<void> count(const apply_receipt& x) {
    if (x.outcome == apply_outcome::replayed) {
      counts_.present += tx_.size();
      return {};
    }
    if (x.outcome != apply_outcome::done)
      return fail(x.outcome == apply_outcome::atomicity_failed
                    ? ec::storage_failure
                    : ec::invalid_argument,
                  place_of(tx_.front()) + " was refused ("
                    + to_string(x.outcome) + "): " + x.reason);
    ++counts_.transactions;
    counts_.operations += tx_.size();
    return check_hashes(x);
  }

  /// The last operation of each stream knows the hash that its end must have.
  result<void> check_hashes(const apply_receipt& x) const {
    for (const auto& end : x.ends) {
      const auto last = std::find_if(tx_.rbegin(), tx_.rend(), [&](auto& op) {
        return op.scope == end.scope;
      });
      if (last == tx_.rend() || !last->hashes
          || last->hashes->stream != end.hash)
        return fail(ec::verification_failed,
                    "the stream of " + place_of(tx_.front())
                      + " has another hash in the copy");
    }
    return {};
  }

  const copy_options& options_;
  std::vector<stored_operation> tx_;
  copy_counts counts_;
};

} // namespace

result<copy_counts> copy_operations(const operation_store& from,
                                    const copy_options& options) {
  copier to{options};
  op_id after = 0;
  for (bool more = true; more;) {
    auto page = from.get_since_id(after, {}, {.cancelled = options.cancelled});
    if (!page)
      return page.error();
    more = page->more;
    after = page->through;
    for (auto& x : page->found)
      if (auto ok = to.take(std::move(x)); !ok)
        return ok.error();
  }
  return to.take_counts();
}

} // namespace weir::storage
