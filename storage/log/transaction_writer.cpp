#include "storage/log/transaction_writer.hpp"

#include "storage/disk/database.hpp"
#include "storage/log/limits.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

constexpr int64_t minute_us = 60'000'000;

bool has_body(const new_operation& op) noexcept {
  return !op.content.empty() && !op.undecodable;
}

log_envelope envelope_of(const atproto::did& repo, const transaction& tx,
                         const log_tail& tail) {
  return {repo,       tx.rev,          tx.from,     tx.live,  tx.job,
          tx.time_us, tail.written_us, tail.events, tx.passed};
}

logged_operation logged_of(const new_operation& op, uint64_t index) {
  logged_operation out;
  out.scope = op.scope;
  out.index = index;
  out.action = op.action;
  out.rkey = op.rkey;
  out.id = op.id;
  out.undecodable = op.undecodable;
  return out;
}

} // namespace

result<log_tail> read_log_tail(const database& db, uint16_t partition) {
  log_tail out;
  auto row = db.last_in(range_of<log_block_key>(partition));
  if (!row)
    return row.error();
  if (!*row)
    return out;
  const auto& [encoded_key, value] = **row;
  auto key = decode_key<log_block_key>(encoded_key);
  if (!key)
    return key.error();
  auto block = decode_log_block(value);
  if (!block)
    return block.error();
  out.next = key->first + block->ops.size();
  out.previous = block_hash(partition, key->first, value);
  out.written_us = block->written_us;
  out.events = block->events_before + block->events();
  auto minute = db.last_in(range_of<time_index_key>(partition));
  if (!minute)
    return minute.error();
  if (*minute) {
    auto last = decode_key<time_index_key>((*minute)->first);
    if (!last)
      return last.error();
    out.minute = last->minute;
  }
  return out;
}

void transaction_writer::set_time(int64_t now_us) noexcept {
  tail_.written_us = std::max(tail_.written_us, now_us);
}

result<log_entry_ptr> transaction_writer::append(const atproto::did& repo,
                                                 const transaction& tx,
                                                 const std::vector<op_id>&
                                                   replaced,
                                                 chain_row& chain,
                                                 write_batch& out) {
  auto entry = std::make_shared<log_entry>();
  log_block block;
  static_cast<log_envelope&>(block) = envelope_of(repo, tx, tail_);
  static_cast<log_envelope&>(*entry) = block;
  entry->first = tail_.next;
  entry->ops.reserve(tx.ops.size());
  block.previous = tail_.previous;
  block.ops.reserve(tx.ops.size());
  slots_.clear();
  for (size_t i = 0; i < tx.ops.size(); ++i) {
    const auto& op = tx.ops[i];
    const auto stream = slot_of(op.scope, chain, block);
    if (!stream)
      return stream.error();
    auto& at = slots_[*stream];
    auto& logged = entry->ops.emplace_back(logged_of(op, at.head->next_index));
    if (has_body(op))
      logged.content = entry->last();
    block.ops.push_back({*stream, op.action, op.undecodable, 0, op.rkey, op.id,
                         logged.content, replaced[i]});
    advance(block, op, at);
  }
  put_content(tx, *entry, out);
  put_streams(block, out);
  if (auto ok = put_block(block, out); !ok)
    return ok.error();
  return log_entry_ptr{std::move(entry)};
}

result<uint32_t> transaction_writer::slot_of(const std::string& scope,
                                             chain_row& chain,
                                             log_block& block) {
  // Operations of the same scope mostly follow each other.
  for (auto i = slots_.size(); i-- > 0;)
    if (slots_[i].head->scope == scope)
      return static_cast<uint32_t>(i);
  const auto id = scope_id(names_, scope);
  const auto* found = chain.find(scope);
  if (!id || found == nullptr)
    return fail(ec::invalid_argument, "unknown scope " + scope);
  auto* head = &chain.streams[static_cast<size_t>(found - &chain.streams[0])];
  slots_.push_back({head, *id, 0});
  block.streams.push_back({*id, main_branch, head->next_index, head->hash});
  return static_cast<uint32_t>(slots_.size() - 1);
}

void transaction_writer::advance(const log_block& block,
                                 const new_operation& op, slot& at) {
  const auto& did = block.repo.str();
  const auto operation = hasher_.operation(
    {did, block.rev, op.scope, op.rkey, op.action, &op.id,
     origin_of(op.scope, block.from, block.job, at.head->next_index)});
  at.head->hash = hasher_.stream(
    {did, op.scope, main_branch, at.head->next_index, 0, operation,
     at.head->hash, block.time_us / 1000, op.action, op.rkey, &op.id});
  ++at.head->next_index;
  ++at.count;
}

void transaction_writer::put_content(const transaction& tx, log_entry& entry,
                                     write_batch& out) {
  size_t first = 0; // The first operation with a body here.
  for (size_t i = 0; i < tx.ops.size(); ++i) {
    if (!has_body(tx.ops[i]))
      continue;
    const auto body = tx.ops[i].content.view();
    if (content_.body_bytes() + body.size() > limits::content_block_bytes_max)
      put_content_block(tx, first, entry, out);
    if (content_.count() == 0)
      first = i;
    while (first + content_.count() < i)
      content_.add({});
    content_.add(body);
  }
  put_content_block(tx, first, entry, out);
}

void transaction_writer::put_content_block(const transaction& tx, size_t first,
                                           log_entry& entry, write_batch& out) {
  const auto count = content_.count();
  if (count == 0)
    return;
  const auto bodies = content_.body_bytes();
  const auto value = std::make_shared<const std::string>(content_.take());
  out.put(encode_key(content_block_key{partition_, entry.ops[first].content}),
          *value);
  // Readers of the newest operations share the value that is written.
  auto rest = as_bytes(*value).last(bodies);
  for (auto i = first; i < first + count; ++i)
    if (has_body(tx.ops[i])) {
      const auto size = tx.ops[i].content.size();
      entry.ops[i].body = {value, rest.first(size)};
      rest = rest.subspan(size);
    }
}

void transaction_writer::put_streams(const log_block& block, write_batch& out) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const auto& stream = block.streams[i];
    out.put(encode_key(stream_block_key{block.repo, stream.scope, stream.branch,
                                        stream.first_index}),
            encode_value(stream_run{tail_.next, slots_[i].count}));
  }
}

result<void> transaction_writer::put_block(const log_block& block,
                                           write_batch& out) {
  const auto value = encode_log_block(block);
  if (!value)
    return value.error();
  out.put(encode_key(log_block_key{partition_, tail_.next}), *value);
  const auto minute = static_cast<uint32_t>(tail_.written_us / minute_us);
  if (minute > tail_.minute) {
    out.put(encode_key(time_index_key{partition_, minute}),
            encode_value(counter{tail_.next}));
    tail_.minute = minute;
  }
  tail_.previous = block_hash(partition_, tail_.next, *value);
  tail_.next += block.ops.size();
  tail_.events += block.events();
  return {};
}

} // namespace weir::storage
