#include "storage/log/stream_reader.hpp"

#include "storage/log/log_blocks.hpp"
#include "storage/log/operation_maker.hpp"
#include "storage/log/page_filler.hpp"
#include "storage/log/stream_runs.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>
#include <limits>

namespace weir::storage {

namespace {

/// A block of the log with the places of one stream's operations.
struct stream_part {
  log_block block;
  std::vector<size_t> places;
};

/// Nothing when the block was trimmed after the run was read.
result<std::optional<stream_part>> load_part(const database& db,
                                             uint16_t partition,
                                             const stream_block_key& key,
                                             const stored_run& run) {
  auto block = load_block(db, partition, run.run.block);
  if (!block)
    return block.error();
  if (!*block) {
    if (auto ok = check_trimmed(db, run.run.block, run.run.block + 1); !ok)
      return ok.error();
    return std::optional<stream_part>{};
  }
  auto places = places_in(**block, key, run);
  if (!places)
    return places.error();
  return std::optional{stream_part{std::move(**block), std::move(*places)}};
}

/// One call that reads a page of a stream.
class stream_pass {
public:
  stream_pass(operation_maker& maker, uint64_t first,
              std::optional<int64_t> timestamp_ms, page_filler& page) noexcept
    : maker_(maker), first_(first), timestamp_ms_(timestamp_ms), page_(page) {}

  /// Returns whether the next block may be looked at.
  result<bool> take(const stored_run& run, const stream_part& x) {
    maker_.enter(run.run.block, x.block);
    for (size_t i = 0; i < x.places.size(); ++i) {
      const auto index = run.first_index + i;
      if (index < first_)
        continue;
      if (!page_.may_look())
        return false;
      if (timestamp_ms_ && x.block.time_us / 1000 < *timestamp_ms_) {
        page_.pass(index);
        continue;
      }
      auto made = maker_.make(x.places[i]);
      if (!made)
        return made.error();
      if (!page_.put(index, std::move(*made)))
        return false;
    }
    return true;
  }

private:
  operation_maker& maker_;
  uint64_t first_;
  std::optional<int64_t> timestamp_ms_;
  page_filler& page_;
};

} // namespace

result<std::optional<stored_operation>>
stream_reader::get(const stream_name& stream, uint64_t index,
                   const read_bounds& bounds) const {
  if (auto ok = page_filler{bounds, 0}.ask(); !ok)
    return ok.error();
  const auto key = key_of(stream, names_);
  if (!key)
    return std::optional<stored_operation>{};
  const auto run = run_before(db_, *key, index);
  if (!run)
    return run.error();
  if (!*run || index >= (*run)->end_index())
    return std::optional<stored_operation>{};
  const auto part = load_part(db_, partition_, *key, **run);
  if (!part)
    return part.error();
  if (!*part)
    return std::optional<stored_operation>{};
  operation_maker maker{db_, names_, partition_, bounds.with_content};
  maker.enter((*run)->run.block, (*part)->block);
  auto made = maker.make((*part)->places[index - (*run)->first_index]);
  if (!made)
    return made.error();
  return std::optional{std::move(*made)};
}

result<operation_page>
stream_reader::get_since(const stream_name& stream,
                         std::optional<uint64_t> after,
                         const read_bounds& bounds) const {
  return read(stream, after, std::nullopt, bounds);
}

result<operation_page>
stream_reader::get_since_time(const stream_name& stream, int64_t timestamp_ms,
                              std::optional<uint64_t> after,
                              const read_bounds& bounds) const {
  return read(stream, after, timestamp_ms, bounds);
}

result<operation_page>
stream_reader::read(const stream_name& stream, std::optional<uint64_t> after,
                    std::optional<int64_t> timestamp_ms,
                    const read_bounds& bounds) const {
  page_filler page{bounds, after.value_or(0)};
  if (auto ok = page.ask(); !ok)
    return ok.error();
  const auto key = key_of(stream, names_);
  if (!key || after == std::numeric_limits<uint64_t>::max())
    return page.take();
  const auto first = after ? *after + 1 : 0;
  auto rows = runs_from(db_, *key, first);
  if (!rows)
    return rows.error();
  operation_maker maker{db_, names_, partition_, bounds.with_content};
  stream_pass pass{maker, first, timestamp_ms, page};
  for (; rows->valid(); rows->next()) {
    const auto run = run_at(*rows);
    if (!run)
      return run.error();
    if (run->end_index() <= first)
      continue;
    if (auto ok = page.ask(); !ok)
      return ok.error();
    const auto part = load_part(db_, partition_, *key, *run);
    if (!part)
      return part.error();
    if (!*part)
      continue;
    const auto more = pass.take(*run, **part);
    if (!more)
      return more.error();
    if (!*more)
      break;
  }
  if (auto ok = rows->status(); !ok)
    return ok.error();
  return page.take();
}

result<uint64_t> stream_reader::next_index(const stream_name& stream,
                                           const read_bounds& bounds) const {
  if (auto ok = page_filler{bounds, 0}.ask(); !ok)
    return ok.error();
  const auto key = key_of(stream, names_);
  if (stream.branch == main_branch)
    return next_of_chain(stream, key);
  const auto last
    = key ? run_before(db_, *key, std::numeric_limits<uint64_t>::max())
          : result<std::optional<stored_run>>{std::optional<stored_run>{}};
  if (!last)
    return last.error();
  return *last ? (*last)->end_index() : uint64_t{0};
}

/// The chain knows it although the last operations of the stream may have been
/// trimmed or erased.
result<uint64_t>
stream_reader::next_of_chain(const stream_name& stream,
                             const std::optional<stream_block_key>& key) const {
  const auto value = db_.get(encode_key(chain_key{stream.repo}));
  if (!value)
    return value.error();
  if (!*value)
    return uint64_t{0};
  const auto stored = decode_chain(**value, names_);
  if (!stored)
    return stored.error();
  if (const auto* head = stored->chain.find(stream.scope))
    return head->next_index;
  if (key) {
    const auto apart = load_row<stream_head_row>(
      db_, chain_key{stream.repo, key->scope, main_branch});
    if (!apart)
      return apart.error();
    if (*apart)
      return (*apart)->next_index;
  }
  return stream.scope.starts_with('$') ? 0 : stored->chain.index_base;
}

} // namespace weir::storage
