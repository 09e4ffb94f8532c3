#include "storage/log/replaced_content.hpp"

#include "storage/disk/write_batch.hpp"
#include "storage/log/content_reader.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/tables/row_access.hpp"

#include <map>
#include <set>

namespace weir::storage {

namespace {

/// Contents of one step. Those of one row are erased together, because the
/// batch cannot be read before it is written.
class content_eraser {
public:
  content_eraser(const database& db, uint16_t partition)
    : db_(db), partition_(partition) {}

  uint64_t erased() const noexcept { return erased_; }

  /// Whether the step has as much as fits.
  bool full() const noexcept {
    return bytes_ > limits::replaced_step_bytes_max;
  }

  /// Content that is gone or erased is left alone.
  result<void> add(op_id number) {
    auto row = find_content_row(db_, partition_, number);
    if (!row)
      return row.error();
    if (!*row)
      return {};
    const auto first = (*row)->first;
    const auto block = content_block_reader::open((*row)->value);
    if (!block)
      return block.error();
    const auto place = number - first;
    if (place >= block->count())
      return {};
    const auto item = block->at(place);
    if (!item)
      return item.error();
    if (item->erased || item->size == 0)
      return {};
    auto& to = rows_[first];
    if (to.places.empty()) {
      bytes_ += (*row)->value.size();
      to.count = block->count();
      to.value = std::move((*row)->value);
    }
    erased_ += to.places.insert(place).second ? 1 : 0;
    return {};
  }

  /// Adds the rows to the batch, and what they were to the contents that a
  /// compaction must remove.
  result<void> finish(write_batch& batch) {
    std::vector<content_span> spans;
    for (const auto& [first, what] : rows_) {
      const auto value = without(what);
      if (!value)
        return value.error();
      batch.put(encode_key(content_block_key{partition_, first}), *value);
      add_span(spans, {first, first + what.count - 1},
               limits::erasure_spans_max);
    }
    return stage_purge(db_, spans, batch);
  }

private:
  struct changed_row {
    std::string value;
    size_t count = 0;        ///< Items in it.
    std::set<size_t> places; ///< They are to be erased.
  };

  static result<std::string> without(const changed_row& x) {
    const auto block = content_block_reader::open(x.value);
    if (!block)
      return block.error();
    content_block_writer out;
    for (size_t i = 0; i < block->count(); ++i) {
      const auto item = block->at(i);
      if (!item)
        return item.error();
      if (item->erased || x.places.contains(i))
        out.add_erased(item->size);
      else
        out.add(item->body);
    }
    return out.take();
  }

  const database& db_;
  uint16_t partition_;
  std::map<op_id, changed_row> rows_;
  size_t bytes_ = 0;
  uint64_t erased_ = 0;
};

/// Erases what the operations from `from` on, before `until`, replaced.
/// @returns the operation to go on with.
result<op_id> walk(const database& db, uint16_t partition, op_id from,
                   op_id until, const log_needs& needs, size_t ops_max,
                   content_eraser& eraser, write_batch& batch) {
  auto next = from;
  size_t looked_at = 0;
  auto ok = each_value<log_block_key>(
    db,
    {encode_key(log_block_key{partition, from}),
     encode_key(log_block_key{partition, until})},
    [&](const log_block_key& key, std::string_view value) -> result<bool> {
      next = key.first;
      if (looked_at >= ops_max || eraser.full())
        return false;
      const auto block = decode_log_block(value);
      if (!block)
        return block.error();
      looked_at += block->ops.size();
      next += block->ops.size();
      for (const auto& op : block->ops) {
        if (op.replaced == 0)
          continue;
        const auto needed = needs.needs(op.replaced);
        if (!needed)
          return needed.error();
        if (*needed || eraser.full())
          batch.put(encode_key(kept_content_key{partition, op.replaced}), {});
        else if (auto erased = eraser.add(op.replaced); !erased)
          return erased.error();
      }
      return true;
    });
  if (!ok)
    return ok.error();
  // Without a further block before `until`, all were walked.
  return next < until && looked_at < ops_max && !eraser.full() ? until : next;
}

/// Erases kept contents that are not needed any more.
/// @returns the last one that was looked at; 0 when there are no more.
result<op_id> look_at_kept(const database& db, uint16_t partition, op_id after,
                           const log_needs& needs, size_t rows_max,
                           content_eraser& eraser, write_batch& batch) {
  auto range = range_of<kept_content_key>(partition);
  range.begin = encode_key(kept_content_key{partition, after + 1});
  auto rows = db.scan(range);
  op_id last = 0;
  for (size_t n = 0; rows.valid(); rows.next(), ++n) {
    if (n == rows_max || eraser.full())
      return last;
    const auto key = decode_key<kept_content_key>(rows.key());
    if (!key)
      return key.error();
    last = key->id;
    const auto needed = needs.needs(last);
    if (!needed)
      return needed.error();
    if (*needed)
      continue;
    batch.erase(rows.key());
    if (auto erased = eraser.add(last); !erased)
      return erased.error();
  }
  if (auto ok = rows.status(); !ok)
    return ok.error();
  return op_id{0};
}

} // namespace

result<replaced_step> stage_replaced(const database& db, uint16_t partition,
                                     op_id until, const log_needs& needs,
                                     size_t ops_max, op_id& kept_after,
                                     write_batch& batch) {
  const auto from = replaced_through(db);
  if (!from)
    return from.error();
  content_eraser eraser{db, partition};
  replaced_step out;
  if (*from < until) {
    const auto next
      = walk(db, partition, *from, until, needs, ops_max, eraser, batch);
    if (!next)
      return next.error();
    batch.put(encode_key(meta_key{replaced_through_row}),
              encode_value(counter{*next}));
    out.more = true; // The kept contents follow.
  } else {
    const auto last = look_at_kept(db, partition, kept_after, needs, ops_max,
                                   eraser, batch);
    if (!last)
      return last.error();
    kept_after = *last;
    out.more = *last != 0;
  }
  out.erased = eraser.erased();
  if (auto ok = eraser.finish(batch); !ok)
    return ok.error();
  return out;
}

result<void> stage_purge(const database& db,
                         const std::vector<content_span>& spans,
                         write_batch& batch) {
  if (spans.empty())
    return {};
  auto all = content_to_purge(db);
  if (!all)
    return all.error();
  for (const auto& span : spans)
    add_span(*all, span, limits::erasure_spans_max);
  batch.put(encode_key(meta_key{content_to_purge_row}),
            encode_value(purge_row{std::move(*all)}));
  return {};
}

result<std::vector<content_span>> content_to_purge(const database& db) {
  auto row = load_row<purge_row>(db, meta_key{content_to_purge_row});
  if (!row)
    return row.error();
  return *row ? std::move((*row)->content) : std::vector<content_span>{};
}

} // namespace weir::storage
