#include "storage/log/erasure.hpp"

#include "storage/format/values.hpp"
#include "storage/log/limits.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/row_access.hpp"

namespace weir::storage {

namespace {

void remember(erasure_row& row, std::string_view key) {
  const auto view = as_bytes(key);
  row.resume.assign(view.begin(), view.end());
}

void next_stage(erasure_row& row, erasure_stage stage) {
  row.stage = stage;
  row.resume.clear();
}

/// One step for one repo. Borrows everything.
class eraser {
public:
  eraser(const database& db, collection_table& names, uint16_t partition,
         const atproto::did& repo, write_batch& batch)
    : db_(db), names_(names), partition_(partition), repo_(repo),
      batch_(batch) {}

  result<bool> run(size_t rows_max) {
    auto found = load_row<erasure_row>(db_, erasure_key{repo_});
    if (!found)
      return found.error();
    if (!*found || (*found)->stage == erasure_stage::compact)
      return false;
    auto& row = **found;
    auto ok = row.stage == erasure_stage::heads ? erase_heads(row, rows_max)
                                                : erase_streams(row, rows_max);
    if (!ok)
      return ok.error();
    batch_.put(encode_key(erasure_key{repo_}), encode_value(row));
    return row.stage != erasure_stage::compact;
  }

private:
  // Both stages look at `rows_max` rows, beginning at `row.resume`.

  result<void> erase_heads(erasure_row& row, size_t rows_max) {
    auto rows = rest_of(range_of<record_head_key>(partition_, repo_), row);
    for (size_t n = 0; rows.valid() && n < rows_max; rows.next(), ++n) {
      remember(row, rows.key());
      const auto head = decode_value<record_head>(rows.value());
      if (!head)
        return head.error();
      if (head->op > row.through)
        continue;
      batch_.erase(rows.key());
      if (head->referenced)
        batch_.erase(encode_key(content_reference_key{short_hash_of(head->id),
                                                      partition_, head->op}));
    }
    if (!rows.valid())
      next_stage(row, erasure_stage::streams);
    return rows.status();
  }

  /// A collection is left in the step that erases its last row.
  result<void> erase_streams(erasure_row& row, size_t rows_max) {
    auto rows = rest_of(range_of<stream_block_key>(repo_), row);
    uint32_t scope = 0;
    for (size_t n = 0; rows.valid(); rows.next()) {
      const auto key = decode_key<stream_block_key>(rows.key());
      if (!key)
        return key.error();
      if (scope != 0 && key->scope != scope)
        if (auto ok = leave_collection(scope); !ok)
          return ok;
      scope = 0;
      if (n >= rows_max)
        return {};
      scope = key->scope;
      const auto run = decode_value<stream_run>(rows.value());
      if (!run)
        return run.error();
      const auto looked_at = erase_run(*key, *run, row);
      if (!looked_at)
        return looked_at.error();
      n += *looked_at;
      remember(row, rows.key());
    }
    if (auto ok = rows.status(); !ok)
      return ok;
    if (scope != 0)
      if (auto ok = leave_collection(scope); !ok)
        return ok;
    next_stage(row, erasure_stage::compact);
    return {};
  }

  /// Returns the number of rows that it looked at.
  result<size_t> erase_run(const stream_block_key& key, const stream_run& run,
                           erasure_row& row) {
    if (run.block > row.through || key.scope == account_scope_id)
      return size_t{1};
    if (key.scope >= first_collection_id)
      batch_.erase(encode_key(key));
    const auto value
      = db_.get(encode_key(log_block_key{partition_, run.block}));
    if (!value)
      return value.error();
    if (!*value)
      return size_t{1};
    const auto block = decode_log_block(**value);
    if (!block)
      return block.error();
    size_t out = 1;
    const auto end = run.block + block->ops.size();
    auto rows = db_.scan({encode_key(content_block_key{partition_, run.block}),
                          encode_key(content_block_key{partition_, end})});
    for (; rows.valid(); rows.next(), ++out)
      batch_.erase(rows.key());
    if (auto ok = rows.status(); !ok)
      return ok.error();
    add_span(row.content, {run.block, end - 1}, limits::erasure_spans_max);
    return out;
  }

  /// Called when no old row of the collection is left. Unless the repo has used
  /// the collection again, it is no longer a member of it. The last member
  /// frees the name.
  result<void> leave_collection(uint32_t id) {
    if (id < first_collection_id)
      return {};
    if (!chain_) {
      auto chain = load_chain(db_, names_, repo_);
      if (!chain)
        return chain.error();
      chain_ = std::move(*chain);
    }
    const auto name = names_.name_of(id);
    if (!name || (*chain_ && (*chain_)->find(*name) != nullptr))
      return {};
    const auto own = encode_key(collection_member_key{partition_, id, repo_});
    batch_.erase(own);
    auto members = db_.scan(range_of<collection_member_key>(partition_, id));
    while (members.valid() && members.key() == own)
      members.next();
    if (!members.valid() && members.status())
      names_.free(id, batch_);
    return members.status();
  }

  row_reader rest_of(key_range range, const erasure_row& row) const {
    if (!row.resume.empty())
      range.begin = key_after(std::string{as_text(row.resume)});
    return db_.scan(range);
  }

  const database& db_;
  collection_table& names_;
  uint16_t partition_;
  const atproto::did& repo_;
  write_batch& batch_;
  /// Set after the first read.
  std::optional<std::shared_ptr<const chain_row>> chain_;
};

} // namespace

result<bool> stage_erasure(const database& db, collection_table& names,
                           uint16_t partition, const atproto::did& repo,
                           size_t rows_max, write_batch& batch) {
  return eraser{db, names, partition, repo, batch}.run(rows_max);
}

result<std::vector<open_erasure>> erasures_to_sweep(const database& db,
                                                    size_t limit) {
  std::vector<open_erasure> out;
  size_t waiting = 0;
  auto ok = each_row<erasure_row, erasure_key>(
    db, range_of<erasure_key>(), [&](erasure_key& key, erasure_row& row) {
      const bool waits = row.stage == erasure_stage::compact;
      if (waits && waiting == limit)
        return true;
      waiting += waits ? 1 : 0;
      out.push_back({std::move(key.repo), std::move(row)});
      return out.size() - waiting < limit;
    });
  if (!ok)
    return ok.error();
  return out;
}

result<std::vector<open_erasure>>
open_erasures(const database& db, const atproto::did& after, size_t limit) {
  auto range = range_of<erasure_key>();
  if (!after.empty())
    range = after_key(std::move(range), erasure_key{after});
  return first_rows<erasure_row, erasure_key>(
    db.scan(range), limit, [](erasure_key& key, erasure_row& row) {
      return open_erasure{std::move(key.repo), std::move(row)};
    });
}

result<compacted> compact_waiting(database& db, const atproto::did& first,
                                  const atproto::did& last) {
  const auto gone = db.purge({range_of<sync_buffer_key>(first).begin,
                              range_of<sync_buffer_key>(last).end});
  if (!gone)
    return gone.error();
  return compacted{0, *gone};
}

result<compacted> compact_content(database& db, uint16_t partition,
                                  content_span which, uint64_t slice_bytes) {
  const auto until = [&](op_id end) {
    return key_range{encode_key(content_block_key{partition, which.first}),
                     encode_key(content_block_key{partition, end + 1})};
  };
  auto end = which.last;
  while (end > which.first && db.approximate_bytes(until(end)) > slice_bytes)
    end = which.first + (end - which.first) / 2;
  const auto gone = db.purge(until(end));
  if (!gone)
    return gone.error();
  return compacted{end == which.last ? 0 : end + 1, *gone};
}

} // namespace weir::storage
