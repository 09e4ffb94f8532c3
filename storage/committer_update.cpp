#include "storage/collection_table.hpp"
#include "storage/committer.hpp"
#include "storage/update_check.hpp"

namespace weir::storage {

result<update_receipt> committer::stage_update(const repo_update& in,
                                               commit_result& out) {
  update_receipt receipt;
  auto& guard = guards_.at(in.repo);
  if (auto ok = judge(in, guard, receipt); !ok)
    return ok.error();
  if (receipt.outcome != update_outcome::done)
    return receipt;
  auto chain = in.base ? *in.base : chain_row{};
  add_streams(in, chain);
  receipt.reason = refusal_of(in, chain, names_);
  if (!receipt.reason.empty()) {
    receipt.outcome = update_outcome::refused;
    return receipt;
  }
  stage_names(chain);
  if (in.erase)
    stage_erase(in.repo, chain);
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
      || operations != guard.operations) {
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
  chain_row chain;
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
  const auto value = db_.get(encode_key(repo_key{repo}));
  if (!value)
    return value.error();
  guard.row_known = true;
  if (*value) {
    const auto row = decode_value<repo_row>(**value);
    if (!row)
      return row.error();
    guard.learn(*row);
  }
  return {};
}

void committer::stage_names(const chain_row& chain) {
  for (const auto& stream : chain.streams)
    if (lacks_id(stream, names_))
      names_.add(stream.scope, batch_);
}

void committer::stage_erase(const atproto::did& repo, chain_row& chain) {
  for (auto& stream : chain.streams) {
    if (stream.records != 0)
      batch_.erase(encode_key(collection_member_key{
        options_.partition, *names_.id_of(stream.scope), repo}));
    stream.records = 0;
  }
  chain.rev = {};
  chain.data = {};
  chain.commit = {};
  chain.record_count = 0;
  if (operations_of(chain) == 0)
    return;
  chain.erased_through = last_id();
  batch_.put(encode_key(erasure_key{repo}),
             encode_value(erasure_row{chain.erased_through, false, {}}));
}

result<void> committer::stage_log(const repo_update& in, chain_row& chain,
                                  commit_result& out) {
  std::vector<bool> held(chain.streams.size());
  for (size_t i = 0; i < held.size(); ++i)
    held[i] = chain.streams[i].records != 0;
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
    if (held[i] == (stream.records != 0))
      continue;
    const auto key = encode_key(collection_member_key{
      options_.partition, *names_.id_of(stream.scope), in.repo});
    if (held[i])
      batch_.erase(key);
    else
      batch_.put(key, encode_value(counter{last_id()}));
  }
  return {};
}

result<void> committer::stage_chain(const repo_update& in, chain_row& chain) {
  if (in.chain) {
    chain.rev = in.chain->rev;
    chain.data = in.chain->data;
    chain.commit = in.chain->commit;
  }
  const bool changed = in.chain || in.erase || !in.transactions.empty();
  if (!changed || (!in.chain && chain.streams.empty()))
    return {};
  const auto value = encode_chain(chain, names_);
  if (!value)
    return value.error();
  batch_.put(encode_key(chain_key{in.repo}), *value);
  return {};
}

} // namespace weir::storage
