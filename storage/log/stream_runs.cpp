#include "storage/log/stream_runs.hpp"

#include "storage/tables/row_access.hpp"

namespace weir::storage {

namespace {

result<stored_run> decode_run(std::string_view key, std::string_view value) {
  const auto at = decode_key<stream_block_key>(key);
  if (!at)
    return at.error();
  const auto run = decode_value<stream_run>(value);
  if (!run)
    return run.error();
  return stored_run{at->first_index, *run};
}

} // namespace

std::optional<stream_block_key> key_of(const stream_name& stream,
                                       const collection_names& names) {
  const auto scope = scope_id(names, stream.scope);
  if (!scope)
    return std::nullopt;
  return stream_block_key{stream.repo, *scope, stream.branch, 0};
}

result<row_reader> runs_from(const database& db, stream_block_key key,
                             uint64_t index) {
  const auto first = run_before(db, key, index);
  if (!first)
    return first.error();
  auto range = range_of<stream_block_key>(key.repo, key.scope, key.branch);
  if (*first) {
    key.first_index = (*first)->first_index;
    range.begin = encode_key(key);
  }
  return db.scan(range);
}

result<stored_run> run_at(const row_reader& rows) {
  return decode_run(rows.key(), rows.value());
}

result<std::optional<stored_run>>
run_before(const database& db, stream_block_key key, uint64_t index) {
  auto range = range_of<stream_block_key>(key.repo, key.scope, key.branch);
  key.first_index = index;
  range.end = key_after(encode_key(key));
  const auto row = db.last_in(range);
  if (!row)
    return row.error();
  if (!*row)
    return std::optional<stored_run>{};
  const auto out = decode_run((*row)->first, (*row)->second);
  if (!out)
    return out.error();
  return std::optional{*out};
}

result<std::vector<size_t>> places_in(const log_block& block,
                                      const stream_block_key& key,
                                      const stored_run& run) {
  std::vector<size_t> out;
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const auto& stream = block.streams[block.ops[i].stream];
    if (stream.scope == key.scope && stream.branch == key.branch
        && stream.first_index == run.first_index)
      out.push_back(i);
  }
  if (block.repo != key.repo || out.size() != run.run.count)
    return fail(ec::storage_failure,
                "the log block " + std::to_string(run.run.block)
                  + " does not have what a row of a stream says");
  return out;
}

} // namespace weir::storage
