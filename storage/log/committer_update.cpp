#include "storage/log/committer.hpp"
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
}

} // namespace

result<update_receipt> committer::stage_update(const repo_update& in,
                                               commit_result& out) {
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
  if (in.erase)
    if (auto ok = stage_erase(in, chain); !ok)
      return ok.error();
  const auto before = last_id();
  if (auto ok = stage_log(in, chain, out); !ok)
    return ok.error();
  if (auto ok = stage_chain(in, chain); !ok)
    return ok.error();
  if (auto ok = stage_row(in, chain.erased_through, guard); !ok)
    return ok.error();
  if (auto ok = stage_buffer(in); !ok)
    return ok.error();
  guard.learn(chain);
  if (last_id() != before) {
    receipt.first = before + 1;
    receipt.last = last_id();
  }
  receipt.erased_through = chain.erased_through;
  receipt.chain = std::make_shared<const chain_row>(std::move(chain));
  return receipt;
}

result<void> committer::judge(const repo_update& in, repo_guard& guard,
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
  if (in.commit_revision != guard.commit_revision
      || operations != guard.operations
      || (in.base ? in.base->erased_through : 0) != guard.erased_through) {
    out.outcome = update_outcome::mismatch;
    out.reason = "computed on revision " + std::to_string(in.commit_revision)
                 + " and " + std::to_string(operations)
                 + " operations, stored are "
                 + std::to_string(guard.commit_revision) + " and "
                 + std::to_string(guard.operations);
  }
  return {};
}

result<void> committer::learn_chain(const atproto::did& repo,
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

result<void> committer::learn_row(const atproto::did& repo, repo_guard& guard) {
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
result<void> committer::take_names(const repo_update& in,
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
result<std::string> committer::host_of(const repo_update& in) const {
  if (in.row)
    return in.row->pds;
  const auto row = load_row<repo_row>(db_, repo_key{in.repo});
  if (!row)
    return row.error();
  return *row ? (*row)->pds : std::string{};
}

/// Marks everything that the repo has as erased. SWEEPER removes the rows
/// later.
result<void> committer::stage_erase(const repo_update& in, chain_row& chain) {
  if (!in.base || operations_of(*in.base) == 0)
    return {};
  chain.erased_through = last_id();
  for (const auto& stream : in.base->streams) {
    if (stream.scope.starts_with('$'))
      continue;
    const auto id = *names_.id_of(stream.scope);
    if (stream.records != 0)
      batch_.put(
        encode_key(collection_member_key{options_.partition, id, in.repo}),
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

result<void> committer::stage_log(const repo_update& in, chain_row& chain,
                                  commit_result& out) {
  std::vector<bool> held(chain.streams.size());
  std::vector<bool> fresh(chain.streams.size());
  for (size_t i = 0; i < held.size(); ++i) {
    held[i] = chain.streams[i].records != 0;
    fresh[i] = chain.streams[i].hash == atproto::digest{};
  }
  heads_.begin(in.transactions.size() > 1);
  for (const auto& tx : in.transactions) {
    auto entry = log_.append(in.repo, tx, chain, batch_);
    if (!entry)
      return entry.error();
    if (auto ok = heads_.apply(**entry, chain, batch_); !ok)
      return ok;
    out.entries.push_back(std::move(*entry));
  }
  for (size_t i = 0; i < held.size(); ++i) {
    const auto& stream = chain.streams[i];
    const bool holds = stream.records != 0;
    if (stream.scope.starts_with('$') || (held[i] == holds && !fresh[i]))
      continue;
    batch_.put(encode_key(collection_member_key{
                 options_.partition, *names_.id_of(stream.scope), in.repo}),
               encode_value(holder_row{last_id(), holds}));
  }
  return {};
}

result<void> committer::stage_chain(const repo_update& in, chain_row& chain) {
  if (in.chain) {
    chain.rev = in.chain->rev;
    chain.data = in.chain->data;
    chain.commit = in.chain->commit;
    if (in.chain->streamed)
      chain.streamed = in.chain->rev; // CONS-22
  }
  const bool changed = in.chain || in.erase || !in.transactions.empty();
  if (!changed
      || (!in.chain && chain.streams.empty() && chain.erased_through == 0))
    return {};
  return put_chain(in.repo, chain, in.base.get(), names_, batch_);
}

} // namespace weir::storage
