#include "storage/log/update_writer.hpp"

#include "storage/disk/database.hpp"
#include "storage/disk/write_batch.hpp"
#include "storage/format/keys.hpp"
#include "storage/log/update_check.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

/// An erased repo has no tree, and its collections have no streams. Streams
/// that begin later start above the highest index of those that end here.
void end_streams(chain_row& chain) {
  for (const auto& stream : chain.streams)
    if (!stream.scope.starts_with('$'))
      chain.index_base = std::max(chain.index_base, stream.next_index);
  std::erase_if(chain.streams, [](const stream_head& x) {
    return !x.scope.starts_with('$');
  });
  chain.rev = {};
  chain.data = {};
  chain.commit = {};
  chain.record_count = 0;
  chain.passed = 0;
  chain.passed_block = {};
}

} // namespace

update_writer::update_writer(const database& db, collection_table& names,
                             write_batch& batch, const update_options& options,
                             const log_tail& tail)
  : db_(db), names_(names), batch_(batch), partition_(options.partition),
    log_(names, options.partition, tail),
    heads_(db, names, options.partition, options.inline_refs_min),
    guards_(options.guards_max) {}

result<update_receipt>
update_writer::stage(const repo_update& in,
                     std::vector<log_entry_ptr>& entries) {
  update_receipt receipt;
  auto& guard = guards_.at(in.repo);
  if (auto ok = judge(in, guard, receipt); !ok)
    return ok.error();
  if (receipt.outcome != update_outcome::done)
    return receipt;
  auto chain = in.base ? *in.base : chain_row{};
  if (in.erase)
    end_streams(chain);
  const auto fresh = add_streams(in, chain);
  receipt.reason = refusal_of(in, chain);
  if (receipt.reason.empty() && !fresh.empty())
    if (auto ok = take_names(in, fresh, receipt); !ok)
      return ok.error();
  if (!receipt.reason.empty()) {
    receipt.outcome = update_outcome::refused;
    return receipt;
  }
  const auto before = last_id();
  if (auto ok = stage_rows(in, chain, guard, entries); !ok)
    return ok.error();
  if (last_id() != before) {
    receipt.first = before + 1;
    receipt.last = last_id();
  }
  receipt.erased_through = chain.erased_through;
  receipt.chain = std::make_shared<const chain_row>(std::move(chain));
  return receipt;
}

/// The rows of an update that is written.
result<void> update_writer::stage_rows(const repo_update& in, chain_row& chain,
                                       repo_guard& guard,
                                       std::vector<log_entry_ptr>& entries) {
  if (in.erase)
    if (auto ok = stage_erase(in, chain); !ok)
      return ok;
  if (auto ok = stage_log(in, chain, entries); !ok)
    return ok;
  if (auto ok = stage_chain(in, chain); !ok)
    return ok;
  if (auto ok = stage_row(in, chain.erased_through, guard); !ok)
    return ok;
  guard.learn(chain);
  return stage_buffer(in);
}

result<void> update_writer::judge(const repo_update& in, repo_guard& guard,
                                  update_receipt& out) {
  const auto fence = fences_.find(in.repo);
  if (fence != fences_.end() && in.actor_incarnation < fence->second) {
    out.outcome = update_outcome::fenced;
    out.reason = "from an actor that was replaced";
    return {};
  }
  if (in.resync_id != 0) {
    if (auto ok = learn_row(in.repo, guard); !ok)
      return ok;
    if (!guard.has_row || guard.resync_id != in.resync_id) {
      out.outcome = update_outcome::stale;
      out.reason = "its resync is over";
      return {};
    }
  }
  if (auto ok = learn_chain(in.repo, guard); !ok)
    return ok;
  const auto operations = in.base ? operations_of(*in.base) : 0;
  const auto rev = in.base ? in.base->rev : atproto::tid{};
  if (in.commit_revision != guard.commit_revision
      || operations != guard.operations || rev != guard.rev
      || (in.base ? in.base->erased_through : 0) != guard.erased_through) {
    out.outcome = update_outcome::mismatch;
    out.reason = "computed on revision " + std::to_string(in.commit_revision)
                 + " and " + std::to_string(operations)
                 + " operations at rev " + rev.str() + ", stored are "
                 + std::to_string(guard.commit_revision) + " and "
                 + std::to_string(guard.operations) + " at rev "
                 + guard.rev.str();
  }
  return {};
}

result<void> update_writer::learn_chain(const atproto::did& repo,
                                        repo_guard& guard) {
  if (guard.chain_known)
    return {};
  const auto value = db_.get(encode_key(chain_key{repo}));
  if (!value)
    return value.error();
  stored_chain chain;
  if (*value) {
    auto stored = decode_chain(**value, names_);
    if (!stored)
      return stored.error();
    chain = std::move(*stored);
  }
  guard.learn(chain);
  return {};
}

result<void> update_writer::learn_row(const atproto::did& repo,
                                      repo_guard& guard) {
  if (guard.row_known)
    return {};
  const auto row = load_row<repo_row>(db_, repo_key{repo});
  if (!row)
    return row.error();
  guard.row_known = true;
  if (*row)
    guard.learn(**row);
  return {};
}

/// Gives the repo the collections that first appear in `in`, or says in
/// `receipt` why it cannot have them.
result<void> update_writer::take_names(const repo_update& in,
                                       const std::vector<std::string>& fresh,
                                       update_receipt& receipt) {
  const auto host = host_of(in);
  if (!host)
    return host.error();
  const name_user who{in.repo.str(), *host};
  receipt.reason = names_.refusal(fresh, who);
  if (receipt.reason.empty())
    for (const auto& name : fresh)
      names_.use(name, who, batch_);
  return {};
}

/// The host in the row that `in` writes, or else in the stored row.
result<std::string> update_writer::host_of(const repo_update& in) const {
  if (in.row)
    return in.row->pds;
  const auto row = load_row<repo_row>(db_, repo_key{in.repo});
  if (!row)
    return row.error();
  return *row ? (*row)->pds : std::string{};
}

/// Marks everything that the repo has as erased. SWEEPER removes the rows
/// later.
result<void> update_writer::stage_erase(const repo_update& in,
                                        chain_row& chain) {
  if (!in.base || operations_of(*in.base) == 0)
    return {};
  chain.erased_through = last_id();
  for (const auto& stream : in.base->streams) {
    if (stream.scope.starts_with('$'))
      continue;
    const auto id = *names_.id_of(stream.scope);
    if (stream.records != 0)
      batch_.put(encode_key(collection_member_key{partition_, id, in.repo}),
                 encode_value(holder_row{last_id(), false}));
    if (stream.apart)
      batch_.erase(encode_key(chain_key{in.repo, id, main_branch}));
  }
  // The content of an unfinished erasing must be compacted as well.
  auto row = load_row<erasure_row>(db_, erasure_key{in.repo});
  if (!row)
    return row.error();
  const auto old = row->value_or(erasure_row{});
  batch_.put(encode_key(erasure_key{in.repo}),
             encode_value(erasure_row{
               chain.erased_through, erasure_stage::heads, {}, old.content}));
  return {};
}

result<void> update_writer::stage_log(const repo_update& in, chain_row& chain,
                                      std::vector<log_entry_ptr>& entries) {
  std::vector<bool> held(chain.streams.size());
  std::vector<bool> fresh(chain.streams.size());
  for (size_t i = 0; i < held.size(); ++i) {
    held[i] = chain.streams[i].records != 0;
    fresh[i] = chain.streams[i].hash == atproto::digest{};
  }
  heads_.begin(in.transactions.size() > 1);
  for (const auto& tx : in.transactions) {
    auto before = heads_.find(in.repo, tx, chain);
    if (!before)
      return before.error();
    std::vector<op_id> replaced;
    for (const auto& one : *before)
      replaced.push_back(one.replaced(chain.erased_through));
    auto entry = log_.append(in.repo, tx, replaced, chain, batch_);
    if (!entry)
      return entry.error();
    heads_.apply(**entry, std::move(*before), chain, batch_);
    entries.push_back(std::move(*entry));
  }
  for (size_t i = 0; i < held.size(); ++i) {
    const auto& stream = chain.streams[i];
    const bool holds = stream.records != 0;
    if (stream.scope.starts_with('$') || (held[i] == holds && !fresh[i]))
      continue;
    batch_.put(encode_key(collection_member_key{
                 partition_, *names_.id_of(stream.scope), in.repo}),
               encode_value(holder_row{last_id(), holds}));
  }
  return {};
}

result<void> update_writer::stage_chain(const repo_update& in,
                                        chain_row& chain) {
  if (in.chain) {
    chain.rev = in.chain->rev;
    chain.data = in.chain->data;
    chain.commit = in.chain->commit;
    chain.passed = in.chain->passed;
    chain.passed_block = in.chain->passed_block;
    if (in.chain->streamed)
      chain.streamed = in.chain->rev; // CONS-22
  }
  const bool changed = in.chain || in.erase || !in.transactions.empty();
  if (!changed
      || (!in.chain && chain.streams.empty() && chain.erased_through == 0))
    return {};
  return put_chain(in.repo, chain, in.base.get(), names_, batch_);
}

result<void> update_writer::stage_row(const repo_update& in,
                                      op_id erased_through, repo_guard& guard) {
  if (in.member)
    batch_.put(encode_key(member_key{default_dataset, in.repo}),
               encode_value(*in.member));
  if (!in.row && !in.forget)
    return {};
  if (auto ok = learn_row(in.repo, guard); !ok)
    return ok;
  const auto index_key = [&] {
    return encode_key(repo_by_status_key{guard.status, guard.due, in.repo});
  };
  const bool moves = !in.row || !guard.has_row || in.row->status != guard.status
                     || due_of(*in.row) != guard.due;
  if (guard.has_row && moves)
    batch_.erase(index_key());
  if (!in.row) {
    batch_.erase(encode_key(repo_key{in.repo}));
    batch_.erase(encode_key(member_key{default_dataset, in.repo}));
    guard.has_row = false;
    return {};
  }
  auto row = *in.row;
  row.erased_through = erased_through;
  batch_.put(encode_key(repo_key{in.repo}), encode_value(row));
  guard.learn(row);
  if (moves)
    batch_.put(index_key(), {});
  return {};
}

result<void> update_writer::stage_buffer(const repo_update& in) {
  const auto range = range_of<sync_buffer_key>(in.repo);
  if (in.buffer_clear || in.forget) {
    auto rows = db_.scan(range);
    for (; rows.valid(); rows.next())
      batch_.erase(rows.key());
    if (auto ok = rows.status(); !ok)
      return ok;
    for (const auto& key : unwritten_buffer_)
      if (key >= range.begin && key < range.end)
        batch_.erase(key);
  }
  for (const auto& [number, frame] : in.buffer_put) {
    const auto view = frame.bytes.view();
    auto key = encode_key(sync_buffer_key{in.repo, number});
    batch_.put(
      key, encode_value(waiting_row{frame.at, frame.first_cursor, frame.relay,
                                    stored_bytes{{view.begin(), view.end()}}}));
    unwritten_buffer_.push_back(std::move(key));
  }
  return {};
}

uint64_t update_writer::fence(const atproto::did& repo) {
  auto& known = fences_[repo];
  fence_order_.erase(known);
  known = ++last_fence_;
  fence_order_.emplace(known, repo);
  if (fence_order_.size() > limits::fences_max) {
    fences_.erase(fence_order_.begin()->second);
    fence_order_.erase(fence_order_.begin());
  }
  return last_fence_;
}

} // namespace weir::storage
