#include "storage/erasure.hpp"

#include "storage/values.hpp"

namespace weir::storage {

namespace {

class eraser {
public:
  eraser(const database& db, uint16_t partition, const atproto::did& repo,
         size_t rows_max, write_batch& batch)
    : db_(db), partition_(partition), repo_(repo), rows_max_(rows_max),
      batch_(batch) {
    // nop
  }

  result<bool> step() {
    const auto key = encode_key(erasure_key{repo_});
    const auto value = db_.get(key);
    if (!value)
      return value.error();
    if (!*value)
      return false;
    auto row = decode_value<erasure_row>(**value);
    if (!row)
      return row.error();
    auto more = row->heads_done ? erase_content(*row) : erase_heads(*row);
    if (!more)
      return more.error();
    if (*more)
      batch_.put(key, encode_value(*row));
    else
      batch_.erase(key);
    return *more;
  }

private:
  // Both phases look at `rows_max_` rows from `row.resume` on; true = go on.

  result<bool> erase_heads(erasure_row& row) {
    auto rows = rest_of(range_of<record_head_key>(partition_, repo_), row);
    for (size_t n = 0; rows.valid() && n < rows_max_; rows.next(), ++n) {
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
    if (auto ok = rows.status(); !ok)
      return ok.error();
    if (!rows.valid()) {
      row.heads_done = true;
      row.resume.clear();
    }
    return true;
  }

  result<bool> erase_content(erasure_row& row) {
    auto rows = rest_of(range_of<stream_block_key>(repo_), row);
    for (size_t n = 0; rows.valid() && n < rows_max_; rows.next()) {
      remember(row, rows.key());
      const auto key = decode_key<stream_block_key>(rows.key());
      if (!key)
        return key.error();
      const auto run = decode_value<stream_run>(rows.value());
      if (!run)
        return run.error();
      ++n;
      if (run->block > row.through || key->scope == account_scope_id)
        continue;
      const auto erased = erase_content_of(run->block);
      if (!erased)
        return erased.error();
      n += *erased;
    }
    if (auto ok = rows.status(); !ok)
      return ok.error();
    return rows.valid();
  }

  /// All content blocks of one transaction; returns how many.
  result<size_t> erase_content_of(op_id first) {
    const auto value = db_.get(encode_key(log_block_key{partition_, first}));
    if (!value)
      return value.error();
    if (!*value)
      return size_t{0};
    const auto block = decode_log_block(**value);
    if (!block)
      return block.error();
    size_t out = 0;
    const auto end = first + block->ops.size();
    auto rows = db_.scan({encode_key(content_block_key{partition_, first}),
                          encode_key(content_block_key{partition_, end})});
    for (; rows.valid(); rows.next(), ++out)
      batch_.erase(rows.key());
    if (auto ok = rows.status(); !ok)
      return ok.error();
    return out;
  }

  row_reader rest_of(key_range range, const erasure_row& row) const {
    if (!row.resume.empty())
      range.begin = key_after(std::string{as_text(row.resume)});
    return db_.scan(range);
  }

  static void remember(erasure_row& row, std::string_view key) {
    const auto view = as_bytes(key);
    row.resume.assign(view.begin(), view.end());
  }

  const database& db_;
  uint16_t partition_;
  const atproto::did& repo_;
  size_t rows_max_;
  write_batch& batch_;
};

} // namespace

result<bool> stage_erase_step(const database& db, uint16_t partition,
                              const atproto::did& repo, size_t rows_max,
                              write_batch& batch) {
  return eraser{db, partition, repo, rows_max, batch}.step();
}

result<std::vector<atproto::did>>
repos_to_erase(const database& db, const atproto::did& after, size_t limit) {
  auto range = range_of<erasure_key>();
  if (!after.empty())
    range.begin = key_after(encode_key(erasure_key{after}));
  std::vector<atproto::did> out;
  auto rows = db.scan(range);
  for (; rows.valid() && out.size() < limit; rows.next()) {
    auto key = decode_key<erasure_key>(rows.key());
    if (!key)
      return key.error();
    out.push_back(std::move(key->repo));
  }
  if (auto ok = rows.status(); !ok)
    return ok.error();
  return out;
}

} // namespace weir::storage
