#include "storage/log/log_reader.hpp"

#include "storage/format/content_block.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

result<std::shared_ptr<log_entry>> make_entry(op_id first, const log_block& x,
                                              const collection_names& names) {
  auto out = std::make_shared<log_entry>();
  static_cast<log_envelope&>(*out) = x;
  std::vector<std::string> scopes;
  std::vector<uint64_t> next;
  for (const auto& stream : x.streams) {
    auto name = scope_name(names, stream.scope);
    if (!name && !names.was_given(stream.scope))
      return fail(ec::storage_failure, "a log block names no known scope");
    out->erased |= !name;
    scopes.push_back(std::move(name).value_or(""));
    next.push_back(stream.first_index);
  }
  out->first = first;
  out->ops.reserve(x.ops.size());
  for (const auto& op : x.ops)
    out->ops.push_back({scopes[op.stream], next[op.stream]++, op.action,
                        op.rkey, op.id, op.skip, op.content, shared_bytes{},
                        op.undecodable});
  return out;
}

/// A page while it is being filled.
struct log_reader::filling {
  const log_page& page;
  op_id after;
  op_id durable;
  op_id whole_from; ///< Operations before it may be outdated.
  std::vector<log_entry_ptr> entries;
  size_t ops = 0;
  size_t bytes = 0;
};

result<std::vector<log_entry_ptr>>
log_reader::read(op_id after, op_id durable, const log_page& page) const {
  const auto whole_from = log_whole_from(db_);
  if (!whole_from)
    return whole_from.error();
  filling out{page, after, durable, *whole_from, {}, 0, 0};
  auto ok = each_block(db_, partition_, after, durable,
                       [&](op_id first, const log_block& block) {
                         return add(out, first, block);
                       });
  if (!ok)
    return ok.error();
  return std::move(out.entries);
}

result<bool> log_reader::add(filling& to, op_id first,
                             const log_block& block) const {
  const auto last = first + block.ops.size() - 1;
  if (last > to.durable)
    return false;
  if (last <= to.after)
    return true;
  auto entry = make_entry(first, block, names_);
  if (!entry)
    return entry.error();
  if (first < std::min(to.whole_from, to.page.current_before))
    if (auto ok = mark_outdated(block, **entry); !ok)
      return ok.error();
  if (to.page.with_content) {
    if (auto ok = add_bodies(**entry); !ok)
      return ok.error();
    if (auto ok = mark_erased(block, **entry); !ok)
      return ok.error();
  }
  to.ops += block.ops.size();
  to.bytes += (*entry)->bytes_held();
  if (!to.entries.empty()
      && (to.ops > to.page.ops_max || to.bytes > to.page.bytes_max))
    return false;
  to.entries.push_back(std::move(*entry));
  return to.ops < to.page.ops_max && to.bytes < to.page.bytes_max
         && last < to.durable;
}

result<void> log_reader::add_bodies(log_entry& entry) const {
  // The bodies of a transaction are stored under its own ids.
  const key_range own{
    encode_key(content_block_key{partition_, entry.first}),
    encode_key(content_block_key{partition_, entry.last() + 1})};
  size_t i = 0;
  size_t found = 0;
  auto ok = each_value<content_block_key>(
    db_, own,
    [&](const content_block_key& key, std::string_view value) -> result<bool> {
      const auto owner = std::make_shared<const std::string>(value);
      const auto block = content_block_reader::open(*owner);
      if (!block)
        return block.error();
      for (; i < entry.ops.size(); ++i) {
        auto& op = entry.ops[i];
        if (op.content < key.first)
          continue;
        if (op.content - key.first >= block->count())
          break;
        const auto item = block->at(op.content - key.first);
        if (!item)
          return item.error();
        op.body = shared_bytes{owner, item->body};
        op.outdated |= item->erased;
        ++found;
      }
      return true;
    });
  const auto expected = std::ranges::count_if(
    entry.ops, [](const auto& op) { return op.content != 0; });
  entry.erased |= found < static_cast<size_t>(expected);
  return ok;
}

/// Versions of records that are not the current ones. What replaced or deleted
/// them may be gone from the log.
result<void> log_reader::mark_outdated(const log_block& block,
                                       log_entry& entry) const {
  for (size_t i = 0; i < entry.ops.size(); ++i) {
    const auto& op = block.ops[i];
    const auto scope = block.streams[op.stream].scope;
    if (scope < first_collection_id || op.action == atproto::op_action::remove)
      continue;
    const auto head = load_row<record_head>(
      db_, record_head_key{partition_, block.repo, scope, {op.rkey}});
    if (!head)
      return head.error();
    entry.ops[i].outdated = !*head || (*head)->op != entry.first + i;
  }
  return {};
}

/// An erasing removes the content of whole blocks and their stream blocks.
/// Facts of the account stay.
result<void> log_reader::mark_erased(const log_block& block,
                                     log_entry& entry) const {
  const auto has_content = std::ranges::any_of(
    entry.ops, [](const auto& op) { return op.content != 0; });
  if (has_content || entry.erased)
    return {}; // `add_bodies` has seen it.
  const auto& stream = block.streams.front();
  const auto row = db_.get(encode_key(stream_block_key{
    block.repo, stream.scope, stream.branch, stream.first_index}));
  if (!row)
    return row.error();
  entry.erased = !*row;
  return {};
}

result<log_entry_ptr> log_reader::find(op_id id) const {
  const auto first = block_of(db_, partition_, id);
  if (!first)
    return first.error();
  if (*first == 0)
    return log_entry_ptr{};
  const auto block = load_block(db_, partition_, *first);
  if (!block)
    return block.error();
  if (!*block)
    return log_entry_ptr{};
  auto entry = make_entry(*first, **block, names_);
  if (!entry)
    return entry.error();
  return log_entry_ptr{std::move(*entry)};
}

result<std::vector<log_entry_ptr>>
log_reader::read_repo(const atproto::did& repo, const chain_row& chain,
                      op_id after, op_id durable, const log_page& page) const {
  const auto whole_from = log_whole_from(db_);
  if (!whole_from)
    return whole_from.error();
  filling out{page, after, durable, *whole_from, {}, 0, 0};
  // A stream that is cut at `ops_max` blocks leaves no gap, since those blocks
  // alone fill the page.
  std::vector<op_id> blocks;
  for (const auto& stream : chain.streams) {
    const auto scope = scope_id(names_, stream.scope);
    if (!scope)
      return fail(ec::storage_failure, "no id for the scope " + stream.scope);
    const auto more = blocks_after({repo, *scope, main_branch, 0},
                                   stream.next_index, after, page.ops_max);
    if (!more)
      return more.error();
    blocks.insert(blocks.end(), more->begin(), more->end());
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (const auto first : blocks) {
    const auto block = load_block(db_, partition_, first);
    if (!block)
      return block.error();
    if (!*block) {
      // It was trimmed after its row of the stream was read.
      if (auto ok = check_trimmed(db_, first, first + 1); !ok)
        return ok.error();
      continue;
    }
    const auto more = add(out, first, **block);
    if (!more)
      return more.error();
    if (!*more)
      break;
  }
  return std::move(out.entries);
}

/// First ids of the blocks with operations of a stream after `after`: the last
/// block that begins at or before `after`, and the next `limit` blocks.
result<std::vector<op_id>>
log_reader::blocks_after(const stream_block_key& stream, uint64_t next_index,
                         op_id after, size_t limit) const {
  auto rows = db_.scan(
    range_of<stream_block_key>(stream.repo, stream.scope, stream.branch));
  const auto run_here = [&] {
    return decode_value<stream_run>(rows.value());
  };
  uint64_t low = 0; // The first run to return is at or after `low`.
  for (uint64_t high = next_index; low < high;) {
    const auto middle = low + (high - low) / 2;
    auto probe = stream;
    probe.first_index = middle + 1;
    rows.seek(encode_key(probe));
    if (!rows.valid()) {
      high = middle;
      continue;
    }
    const auto key = decode_key<stream_block_key>(rows.key());
    const auto run = run_here();
    if (!key || !run)
      return key ? run.error() : key.error();
    if (run->block <= after)
      low = key->first_index;
    else
      high = middle;
  }
  auto begin = stream;
  begin.first_index = low;
  rows.seek(encode_key(begin));
  std::vector<op_id> out;
  for (; rows.valid() && out.size() <= limit; rows.next()) {
    const auto run = run_here();
    if (!run)
      return run.error();
    out.push_back(run->block);
  }
  if (auto ok = rows.status(); !ok)
    return ok.error();
  return out;
}

} // namespace weir::storage
