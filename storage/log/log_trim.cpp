#include "storage/log/log_trim.hpp"

#include "storage/disk/write_batch.hpp"
#include "storage/format/keys.hpp"
#include "storage/format/values.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/replaced_content.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

constexpr int64_t minute_us = 60'000'000;

/// Decides about blocks, with the heads as they are now. Borrows the store. A
/// lap over an old log must not fill the block cache, which scans leave alone.
class spent_check {
public:
  spent_check(const database& db, const collection_names& names,
              uint16_t partition, const log_needs& needs)
    : db_(db), names_(names), partition_(partition), needs_(needs),
      heads_(db.scan(range_of<record_head_key>(partition))) {}

  result<bool> run(op_id first, const log_block& block) {
    const auto record = has_current_record(first, block);
    if (!record || *record)
      return record ? result<bool>{false} : record.error();
    const auto erasing = load_row<erasure_row>(db_, erasure_key{block.repo});
    if (!erasing || *erasing)
      return erasing ? result<bool>{false} : erasing.error();
    const auto own = has_last_of_scope(block);
    if (!own || *own)
      return own ? result<bool>{false} : own.error();
    const auto needed = needs_.needs_any(first, block);
    return needed ? result<bool>{!*needed} : needed.error();
  }

private:
  result<bool> has_current_record(op_id first, const log_block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const auto& op = block.ops[i];
      const auto scope = block.streams[op.stream].scope;
      if (scope < first_collection_id
          || op.action == atproto::op_action::remove)
        continue;
      const auto key = encode_key(
        record_head_key{partition_, block.repo, scope, {op.rkey}});
      heads_.seek(key);
      if (!heads_.valid() || heads_.key() != key)
        continue;
      const auto head = decode_value<record_head>(heads_.value());
      if (!head)
        return head.error();
      if (head->op == first + i)
        return true;
    }
    if (auto ok = heads_.status(); !ok)
      return ok.error();
    return false;
  }

  /// True when the last operation of a `$` scope is in the block.
  result<bool> has_last_of_scope(const log_block& block) const {
    const auto is_own = [](const block_stream& x) {
      return x.scope < first_collection_id;
    };
    if (std::ranges::none_of(block.streams, is_own))
      return false;
    // The `$` streams of a repo are always in the chain's own row.
    const auto value = db_.get(encode_key(chain_key{block.repo}));
    if (!value)
      return value.error();
    const auto stored = *value ? decode_chain(**value, names_)
                               : result<stored_chain>{stored_chain{}};
    if (!stored)
      return stored.error();
    for (size_t i = 0; i < block.streams.size(); ++i) {
      const auto& stream = block.streams[i];
      const auto name = scope_name(names_, stream.scope);
      const auto* head
        = name && is_own(stream) ? stored->chain.find(*name) : nullptr;
      const auto count = std::ranges::count(block.ops, i,
                                            &block_operation::stream);
      if (head != nullptr
          && head->next_index
               == stream.first_index + static_cast<uint64_t>(count))
        return true;
    }
    return false;
  }

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
  const log_needs& needs_;
  row_reader heads_;
};

/// Erases a block of the log with everything that belongs to it.
result<void> erase_block(const database& db, uint16_t partition, op_id first,
                         const log_block& block, write_batch& batch) {
  batch.erase(encode_key(log_block_key{partition, first}));
  for (const auto& stream : block.streams)
    batch.erase(encode_key(stream_block_key{block.repo, stream.scope,
                                            stream.branch,
                                            stream.first_index}));
  auto rows = db.scan(
    {encode_key(content_block_key{partition, first}),
     encode_key(content_block_key{partition, first + block.ops.size()})});
  for (; rows.valid(); rows.next())
    batch.erase(rows.key());
  return rows.status();
}

/// Erases the block that begins with `first`, if it is spent.
/// @returns the end of the block; 0 when it stays.
result<op_id> erase_spent(const database& db, uint16_t partition, op_id first,
                          spent_check& check, write_batch& batch) {
  const auto block = load_block(db, partition, first);
  if (!block)
    return block.error();
  if (!*block)
    return op_id{0};
  const auto end = first + (*block)->ops.size();
  const auto spent = check.run(first, **block);
  if (!spent)
    return spent.error();
  if (!*spent)
    return op_id{0};
  if (auto ok = erase_block(db, partition, first, **block, batch); !ok)
    return ok.error();
  return end;
}

/// Erases rows of the time index that name operations before `whole_from`. A
/// few are enough for each call: one is written in a minute at most.
result<void> erase_minutes(const database& db, uint16_t partition,
                           op_id whole_from, write_batch& batch) {
  size_t left = limits::trim_minutes_max;
  return each_row<counter, time_index_key>(
    db, range_of<time_index_key>(partition),
    [&](const time_index_key& key, const counter& first) {
      if (first.value >= whole_from || left-- == 0)
        return false;
      batch.erase(encode_key(key));
      return true;
    });
}

} // namespace

result<op_id> first_written_since(const database& db, uint16_t partition,
                                  int64_t time_us) {
  const auto last = db.last_in(range_of<log_block_key>(partition));
  if (!last)
    return last.error();
  if (!*last)
    return op_id{1};
  const auto end = decode_key<log_block_key>((*last)->first);
  if (!end)
    return end.error();
  auto range = range_of<time_index_key>(partition);
  const auto minute = static_cast<uint32_t>(std::max<int64_t>(
    time_us / minute_us, 0));
  range.begin = encode_key(time_index_key{partition, minute});
  auto out = end->first;
  auto ok = each_row<counter, time_index_key>(
    db, range, [&](const time_index_key&, const counter& first) {
      out = std::min(out, first.value);
      return false;
    });
  return ok ? result<op_id>{out} : ok.error();
}

result<spent_blocks> find_spent(const database& db,
                                const collection_names& names,
                                uint16_t partition, const log_needs& needs,
                                op_id from, op_id until, size_t ops_max) {
  spent_blocks out;
  const auto walked = replaced_through(db);
  if (!walked)
    return walked.error();
  until = std::min(until, *walked);
  if (from >= until)
    return out;
  spent_check check{db, names, partition, needs};
  size_t looked_at = 0;
  auto ok = each_value<log_block_key>(
    db,
    {encode_key(log_block_key{partition, from}),
     encode_key(log_block_key{partition, until})},
    [&](const log_block_key& key, std::string_view value) -> result<bool> {
      if (looked_at >= ops_max) {
        out.next = key.first;
        return false;
      }
      const auto block = decode_log_block(value);
      if (!block)
        return block.error();
      looked_at += block->ops.size();
      const auto spent = check.run(key.first, *block);
      if (!spent)
        return spent.error();
      if (*spent)
        out.firsts.push_back(key.first);
      return true;
    });
  if (!ok)
    return ok.error();
  return out;
}

result<trimmed_log> stage_trim(const database& db,
                               const collection_names& names,
                               uint16_t partition,
                               const std::vector<op_id>& firsts,
                               const log_needs& needs, write_batch& batch) {
  trimmed_log out;
  const auto known = log_whole_from(db);
  const auto walked = replaced_through(db);
  if (!known || !walked)
    return known ? walked.error() : known.error();
  out.whole_from = *known;
  spent_check check{db, names, partition, needs};
  std::vector<content_span> spans;
  for (const auto first : firsts) {
    if (first >= *walked)
      continue;
    const auto end = erase_spent(db, partition, first, check, batch);
    if (!end)
      return end.error();
    if (*end == 0)
      continue;
    out.whole_from = std::max(out.whole_from, *end);
    ++out.blocks;
    out.operations += *end - first;
    add_span(spans, {first, *end - 1}, limits::erasure_spans_max);
  }
  if (out.blocks == 0)
    return out;
  batch.put(encode_key(meta_key{log_whole_from_row}),
            encode_value(counter{out.whole_from}));
  if (auto ok = erase_minutes(db, partition, out.whole_from, batch); !ok)
    return ok.error();
  if (auto ok = stage_purge(db, spans, batch); !ok)
    return ok.error();
  return out;
}

} // namespace weir::storage
