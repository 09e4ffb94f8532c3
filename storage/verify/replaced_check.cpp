#include "storage/verify/replaced_check.hpp"

#include "storage/log/log_blocks.hpp"

namespace weir::storage {

replaced_check::replaced_check(verify_context& x) : x_(x) {
  if (const auto through = replaced_through(x.db))
    through_ = *through; // The pass over meta rows reports damage.
}

void replaced_check::check_erased(const log_block& block, op_id id,
                                  const block_operation& op) {
  const auto scope = block.streams[op.stream].scope;
  if (scope < first_collection_id || id >= through_)
    return x_.wrong(id, "its content is missing");
  x_.count("contents erased");
  const auto head = x_.row_at<record_head>(
    record_head_key{x_.options.partition, block.repo, scope, {op.rkey}},
    operation_name(id));
  if (head && head->op == id)
    x_.wrong(id, "its content is missing, and it is current");
}

/// Damage of the content is reported where it is.
void replaced_check::check_before(op_id id, op_id before) {
  const auto stored = x_.contents.read(before);
  if (!stored)
    return;
  if (id >= through_) {
    if (stored->erased)
      x_.wrong(before, "its content was erased before its time");
    return;
  }
  if (stored->body.empty())
    return;
  const auto kept
    = x_.db.get(encode_key(kept_content_key{x_.options.partition, before}));
  if (kept && !*kept)
    x_.wrong(before, "it was replaced long ago, and its content is there");
}

void replaced_check::finish(op_id end) {
  if (through_ > end)
    x_.wrong("meta", "contents were erased behind the end of the log");
  x_.each<kept_content_key>(
    range_of<kept_content_key>(),
    [this](const kept_content_key& key, std::string_view value) {
      check_kept(key, value);
    });
}

/// The content may have gone with its account, or its block been trimmed.
void replaced_check::check_kept(const kept_content_key& key,
                                std::string_view value) {
  if (key.partition != x_.options.partition || !value.empty()
      || key.id >= through_)
    return x_.wrong(key.id, "its content is kept, although it is not old");
  const auto [first, block] = x_.block_holding(key.id);
  if (!block) {
    if (key.id >= x_.whole_from)
      x_.wrong(key.id, "content of no operation is kept");
    return;
  }
  const auto& op = block->ops[key.id - first];
  const auto scope = block->streams[op.stream].scope;
  const auto chain = x_.chain_of(block->repo);
  if (chain && key.id <= chain->erased_through)
    return;
  const auto stored = x_.contents.read(op.content);
  const auto head = x_.row_at<record_head>(
    record_head_key{key.partition, block->repo, scope, {op.rkey}},
    operation_name(key.id));
  const bool gone = op.content != 0 && stored && stored->body.empty();
  if (gone || scope < first_collection_id
      || (head && head->op == key.id))
    x_.wrong(key.id, "its content is kept, although it was not replaced");
}

} // namespace weir::storage
