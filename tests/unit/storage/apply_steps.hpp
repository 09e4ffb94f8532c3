#pragma once

#include "atproto/base_encodings.hpp"
#include "storage/format/hashes.hpp"
#include "storage/log/operation_store.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <string>
#include <vector>

// Transactions for operation stores, made by accounts with a valid history.

namespace weir::tests {

/// A transaction that can be applied to any store.
struct apply_step {
  storage::apply_request request;
  std::vector<storage::indexed_operation> operations;

  storage::apply_receipt on(storage::operation_store& x) const {
    auto out = x.apply(request, [&](storage::operation_staging& to) {
      result<void> ok;
      for (const auto& op : operations)
        if (ok)
          ok = to.add_operations(op);
      return ok;
    });
    return out.value();
  }
};

/// An account that knows the revisions of its streams.
class applying_account {
public:
  explicit applying_account(char letter) : who(letter) {}

  apply_step commit(const std::vector<change>& changes) {
    return step_of(who.commit(changes).transactions.front());
  }

  /// A part of a fetch.
  apply_step chunk(const std::vector<change>& changes) {
    who.row.resync_id = 77;
    return step_of(who.chunk(changes).transactions.front());
  }

  apply_step fact(std::string_view scope, const std::string& handle,
                  storage::account_status status
                  = storage::account_status::active) {
    who.row.handle = handle;
    who.row.account = who.row.words.host = status;
    storage::transaction tx;
    tx.time_us = static_cast<int64_t>(++who.rev) * 1'000'000;
    tx.ops.push_back(who.fact(scope));
    return step_of(tx);
  }

  /// The step was not written: its indices are free again.
  void undo(const apply_step& x) {
    for (const auto& op : x.operations)
      --next_[op.operation.scope];
  }

  test_account who;

private:
  apply_step step_of(const storage::transaction& tx) {
    apply_step out;
    auto& to = out.request;
    to.repo = who.repo;
    to.rev = tx.rev;
    to.from = tx.from;
    to.live = tx.live;
    to.job = tx.job;
    to.time_us = tx.time_us;
    for (const auto& op : tx.ops) {
      auto& next = next_[op.scope];
      if (std::ranges::find(to.streams, op.scope,
                            &storage::expected_stream::scope)
          == to.streams.end())
        to.streams.push_back({op.scope, next});
      auto staged = op;
      if (staged.undecodable)
        staged.content = {};
      out.operations.push_back({next++, std::move(staged)});
    }
    return out;
  }

  std::map<std::string, uint64_t> next_;
};

/// Everything that a store answers about an operation, but for the time at
/// which it was written.
inline std::string all_of(const storage::stored_operation& x) {
  const auto hex = [](const auto& digest) {
    return atproto::encode_hex(bytes_view{digest}.first(4));
  };
  auto out = std::to_string(x.id) + " " + x.in->repo.str() + " " + x.scope
             + "/" + std::to_string(x.index) + " "
             + atproto::to_string(x.action) + " " + x.rkey + " "
             + x.cid.to_text() + " " + to_string(x.content) + " "
             + std::string{as_text(x.body.view())} + " "
             + std::to_string(x.in->rev.value()) + " "
             + std::to_string(x.in->time_us) + " "
             + std::to_string(x.in->job) + " " + x.in->commit.to_text();
  if (x.hashes)
    out += " " + hex(x.hashes->operation) + " " + hex(x.hashes->stream) + " "
           + (x.hashes->previous ? hex(*x.hashes->previous) : "-");
  return out;
}

/// All pages of a reading, joined.
/// @param read Reads the page after a place; nothing: the first one.
template <class Read>
std::vector<std::string> all_pages(Read read) {
  std::vector<std::string> out;
  std::optional<uint64_t> after;
  for (bool more = true; more;) {
    const auto page = read(after).value();
    for (const auto& x : page.found)
      out.push_back(all_of(x));
    const bool moves = !after || page.through > *after;
    EXPECT_TRUE(!page.more || moves) << "no progress";
    more = page.more && moves;
    after = page.through;
  }
  return out;
}

} // namespace weir::tests
