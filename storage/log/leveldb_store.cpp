#include "storage/log/leveldb_store.hpp"

#include "atproto/commit.hpp"
#include "storage/format/account_fact.hpp"
#include "storage/format/keys.hpp"
#include "storage/log/apply_check.hpp"
#include "storage/log/stream_reader.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/row_access.hpp"

#include <set>

namespace weir::storage {

namespace {

/// The partition in keys: each partition has a store of its own.
constexpr uint16_t key_partition = 0;

/// A receipt that is done, with the ends of the streams that got operations.
apply_receipt receipt_of(const update_receipt& x,
                         const std::vector<indexed_operation>& staged) {
  apply_receipt out;
  out.first = x.first;
  out.last = x.last;
  std::set<std::string_view> scopes;
  for (const auto& each : staged)
    scopes.insert(each.operation.scope);
  for (const auto scope : scopes)
    if (const auto* head = x.chain->find(scope))
      out.ends.push_back({head->scope, head->next_index, head->hash});
  return out;
}

bool is_fact(const new_operation& x) {
  return x.scope == identity_scope || x.scope == account_scope;
}

} // namespace

result<std::unique_ptr<leveldb_store>>
leveldb_store::open(database& db, const clock& time) {
  auto names = collection_table::load(db);
  if (!names)
    return names.error();
  auto writer = committer::open(db, **names, time);
  if (!writer)
    return writer.error();
  return std::unique_ptr<leveldb_store>{
    new leveldb_store{db, std::move(*names), std::move(*writer)}};
}

result<std::optional<stored_operation>>
leveldb_store::get(const stream_name& stream, uint64_t index,
                   const read_bounds& bounds) const {
  return stream_reader{db_, *names_, key_partition}.get(stream, index, bounds);
}

result<operation_page>
leveldb_store::get_since(const stream_name& stream,
                         std::optional<uint64_t> after,
                         const read_bounds& bounds) const {
  return stream_reader{db_, *names_, key_partition}.get_since(stream, after,
                                                           bounds);
}

result<operation_page>
leveldb_store::get_since_time(const stream_name& stream, int64_t timestamp_ms,
                              std::optional<uint64_t> after,
                              const read_bounds& bounds) const {
  return stream_reader{db_, *names_, key_partition}.get_since_time(
    stream, timestamp_ms, after, bounds);
}

result<operation_page>
leveldb_store::get_since_id(op_id after, const operation_filter& filter,
                            const read_bounds& bounds) const {
  return operation_reader{db_, *names_, key_partition}.get_since_id(
    after, last_id(), filter, bounds);
}

result<uint64_t> leveldb_store::next_index(const stream_name& stream) const {
  return stream_reader{db_, *names_, key_partition}.next_index(stream);
}

/// The log of LevelDB is synced up to its end.
result<void> leveldb_store::sync() {
  return db_.write({}, sync_mode::durable);
}

result<apply_receipt>
leveldb_store::append(const apply_request& request,
                      const std::vector<indexed_operation>& staged) {
  const auto group = group_of(request, staged);
  if (!group)
    return group.error();
  const auto done = writer_->commit(*group, request.sync);
  if (!done)
    return done.error();
  const auto& receipt = done->receipts.front();
  if (receipt.outcome == update_outcome::done)
    return receipt_of(receipt, staged);
  return refusal(receipt.outcome == update_outcome::mismatch
                   ? apply_outcome::revision_mismatch
                   : apply_outcome::invalid_operation,
                 receipt.reason);
}

result<journal_batch>
leveldb_store::group_of(const apply_request& request,
                        const std::vector<indexed_operation>& staged) {
  auto chain = load_chain(db_, *names_, request.repo);
  if (!chain)
    return chain.error();
  journal_batch out;
  auto& update = out.updates.emplace_back();
  update.repo = request.repo;
  update.base = std::move(*chain);
  update.commit_revision
    = update.base ? update.base->commit_revision() : 0;
  auto& tx = update.transactions.emplace_back();
  tx.rev = request.rev;
  tx.from = request.from;
  tx.live = request.live;
  tx.job = request.job;
  tx.time_us = request.time_us;
  for (const auto& x : staged) {
    tx.ops.push_back(x.operation);
    if (x.operation.scope != commit_scope)
      continue;
    const auto commit = atproto::decode_commit(x.operation.content.view());
    if (!commit)
      return commit.error();
    update.chain = chain_step{commit->rev, commit->data, x.operation.id,
                              request.from != provenance::resync};
  }
  if (auto ok = add_row(out); !ok)
    return ok.error();
  return out;
}

/// Adds the row of the repo when the transaction makes or changes it.
result<void> leveldb_store::add_row(journal_batch& to) const {
  auto& update = to.updates.front();
  auto stored = load_row<repo_row>(db_, repo_key{update.repo});
  if (!stored)
    return stored.error();
  auto row = stored->value_or(repo_row{});
  bool changed = !*stored;
  if (changed)
    update.member = member_row{};
  for (const auto& op : update.transactions.front().ops) {
    if (!is_fact(op))
      continue;
    read_fact(as_text(op.content.view()), row);
    identity_row known; // Fetched at 0, so it is looked up again.
    known.handle = has_handle(row) ? row.handle : "";
    to.identities.assign(1, {update.repo, std::move(known)});
    changed = true;
  }
  if (changed)
    update.row = std::move(row);
  return {};
}

} // namespace weir::storage
