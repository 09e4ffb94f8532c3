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

result<stream_part> load_part(const database& db, uint16_t partition,
                              const stream_block_key& key,
                              const stored_run& run) {
  auto block = load_block(db, partition, run.run.block);
  if (!block)
    return block.error();
  if (!*block)
    return fail(ec::storage_failure,
                "the log has no operation " + std::to_string(run.run.block));
  auto places = places_in(**block, key, run);
  if (!places)
    return places.error();
  return stream_part{std::move(**block), std::move(*places)};
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
  operation_maker maker{db_, names_, partition_, bounds.with_content};
  maker.enter((*run)->run.block, part->block);
  auto made = maker.make(part->places[index - (*run)->first_index]);
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
    const auto more = pass.take(*run, *part);
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
  uint64_t out = 0;
  if (const auto key = key_of(stream, names_)) {
    const auto last
      = run_before(db_, *key, std::numeric_limits<uint64_t>::max());
    if (!last)
      return last.error();
    out = *last ? (*last)->end_index() : 0;
  }
  if (stream.branch != main_branch || stream.scope.starts_with('$'))
    return out;
  // After an erasing the indices of before are not used again.
  const auto value = db_.get(encode_key(chain_key{stream.repo}));
  if (!value)
    return value.error();
  if (!*value)
    return out;
  const auto stored = decode_chain(**value, names_);
  if (!stored)
    return stored.error();
  return std::max(out, stored->chain.index_base);
}

} // namespace weir::storage
