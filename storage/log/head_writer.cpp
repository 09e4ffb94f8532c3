#include "storage/log/head_writer.hpp"

#include "storage/disk/database.hpp"

#include <cassert>

namespace weir::storage {

namespace {

// A damaged count is never lowered below 0; `weir verify` reports it.
void count(uint64_t& records, bool before, bool after) noexcept {
  if (after && !before)
    ++records;
  else if (before && !after && records != 0)
    --records;
}

} // namespace

result<std::vector<head_writer::old_head>>
head_writer::find(const atproto::did& repo, const transaction& tx,
                  const chain_row& chain) const {
  std::vector<old_head> out(tx.ops.size());
  for (size_t i = 0; i < tx.ops.size(); ++i) {
    const auto& op = tx.ops[i];
    if (op.scope.starts_with('$'))
      continue;
    const auto collection = names_.id_of(op.scope);
    if (!collection)
      return fail(ec::invalid_argument, "unknown scope " + op.scope);
    out[i].key = encode_key(
      record_head_key{partition_, repo, *collection, {op.rkey}});
    if (op.action == atproto::op_action::create && chain.erased_through == 0)
      continue;
    auto head = load(out[i].key);
    if (!head)
      return head.error();
    out[i].head = std::move(*head);
  }
  return out;
}

void head_writer::apply(const log_entry& entry, std::vector<old_head> before,
                        chain_row& chain, write_batch& out) {
  for (size_t i = 0; i < entry.ops.size(); ++i)
    if (!before[i].key.empty())
      apply_one(entry, i, std::move(before[i]), chain, out);
}

void head_writer::apply_one(const log_entry& entry, size_t i, old_head before,
                            chain_row& chain, write_batch& out) {
  using atproto::op_action;
  const auto& op = entry.ops[i];
  const auto* found = chain.find(op.scope);
  assert(found != nullptr); // No other scope is in the log.
  auto& stream = chain.streams[static_cast<size_t>(found - &chain.streams[0])];
  const bool was_there = before.replaced(chain.erased_through) != 0;
  if (before.head)
    release(*before.head, out);
  found_head after;
  if (op.action == op_action::remove) {
    if (before.head)
      out.erase(before.key);
  } else {
    after = record_head{op.id, entry.rev, entry.first + i, op.content,
                        op.body.size() > inline_refs_min_};
    refer(*after, out);
    out.put(before.key, encode_value(*after));
  }
  count(stream.records, was_there, after.has_value());
  count(chain.record_count, was_there, after.has_value());
  if (several_)
    unwritten_.insert_or_assign(std::move(before.key), std::move(after));
}

result<head_writer::found_head>
head_writer::load(const std::string& key) const {
  if (const auto i = unwritten_.find(key); i != unwritten_.end())
    return i->second;
  auto value = db_.get(key);
  if (!value)
    return value.error();
  if (!*value)
    return found_head{};
  auto head = decode_value<record_head>(**value);
  if (!head)
    return head.error();
  return found_head{std::move(*head)};
}

void head_writer::refer(const record_head& head, write_batch& out) const {
  if (head.referenced)
    out.put(encode_key(content_reference_key{short_hash_of(head.id), partition_,
                                             head.op}),
            encode_value(counter{head.content}));
}

void head_writer::release(const record_head& head, write_batch& out) const {
  if (head.referenced)
    out.erase(encode_key(
      content_reference_key{short_hash_of(head.id), partition_, head.op}));
}

} // namespace weir::storage
