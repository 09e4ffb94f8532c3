#include "storage/verify/verify_context.hpp"

#include <unordered_map>

/// Compares the result of folding a collection's stream with its record heads,
/// their references and their counts.
namespace weir::storage {

namespace {

/// The result of an operation, which the record's head must show.
struct folded {
  op_id op = 0;
  uint64_t index = 0; ///< Its place in the stream.
  atproto::cid id;
  atproto::tid rev;
  uint64_t content = 0;

  bool is(const record_head& x) const {
    return x.op == op && x.id == id && x.rev == rev && x.content == content;
  }
};

using records = std::unordered_map<std::string, folded>;

class head_check {
public:
  head_check(verify_context& x, const stream_block_key& stream,
             const chain_row& chain, const stream_head& head,
             uint64_t trimmed_before)
    : x_(x), stream_(stream), chain_(chain), head_(head),
      trimmed_before_(trimmed_before), where_(x.stream_name(stream)),
      parts_(1 + head.next_index / x.options.fold_records_max) {}

  /// A collection that is too large for memory is compared in parts.
  void run() {
    for (part_ = 0; part_ < parts_; ++part_) {
      auto expected = fold();
      compare(expected);
      // What deleted a record may have been trimmed.
      for (const auto& [rkey, last] : expected)
        if (last.index >= trimmed_before_)
          x_.wrong(path_of(rkey), "its record head is missing");
    }
    if (heads_ != head_.records)
      x_.wrong(where_, "the chain counts " + std::to_string(head_.records)
                         + " records, there are " + std::to_string(heads_));
    x_.count("records", heads_);
    check_member();
  }

private:
  std::string path_of(const std::string& rkey) const {
    return where_ + "/" + rkey;
  }

  bool is_in_part(const std::string& rkey) const {
    return parts_ == 1 || atproto::stable_hash(rkey) % parts_ == part_;
  }

  records fold() {
    records out;
    x_.each_row<stream_run, stream_block_key>(
      range_of<stream_block_key>(stream_.repo, stream_.scope, stream_.branch),
      [&](const stream_block_key& key, const stream_run& run) {
        const auto block = x_.block_at(run.block);
        auto index = key.first_index;
        if (const auto slot = block ? stream_in(*block, key) : std::nullopt)
          for (size_t i = 0; i < block->ops.size(); ++i)
            if (block->ops[i].stream == *slot)
              fold_one(*block, run.block + i, i, index++, out);
      });
    return out;
  }

  void fold_one(const log_block& block, op_id id, size_t i, uint64_t index,
                records& out) {
    const auto& op = block.ops[i];
    if (id <= chain_.erased_through || !is_in_part(op.rkey))
      return;
    check_replaced(op, id, out);
    if (op.action == atproto::op_action::remove)
      out.erase(op.rkey);
    else
      out.insert_or_assign(op.rkey, folded{id, index, op.id, block.rev, op.content});
  }

  /// The version that an operation replaced is the one before it, unless that
  /// one, or what deleted it, was trimmed.
  void check_replaced(const block_operation& op, op_id id,
                      const records& before) {
    const auto found = before.find(op.rkey);
    const op_id known = found == before.end() ? 0 : found->second.op;
    const bool trimmed = known < x_.whole_from && op.replaced < x_.whole_from
                         && (op.replaced == 0 || op.replaced > known);
    if ((op.replaced != known && !trimmed) || op.replaced >= id)
      x_.wrong(id, "it says that it replaces operation "
                     + std::to_string(op.replaced) + ", the one before it is "
                     + std::to_string(known));
  }

  /// Removes from `expected` the heads that are there.
  void compare(records& expected) {
    x_.each_row<record_head, record_head_key>(
      range_of<record_head_key>(x_.options.partition, stream_.repo,
                                stream_.scope),
      [&](const record_head_key& key, const record_head& head) {
        const auto& rkey = key.rkey.text;
        if (!is_in_part(rkey))
          return;
        if (head.op <= chain_.erased_through) {
          verify_left_over(x_, key, path_of(rkey));
          return;
        }
        ++heads_;
        check_reference(rkey, head);
        const auto last = expected.find(rkey);
        if (last == expected.end()) {
          x_.wrong(path_of(rkey), "its record head has no operation");
          return;
        }
        if (!last->second.is(head))
          x_.wrong(path_of(rkey), "its record head is not what operation "
                                    + std::to_string(last->second.op)
                                    + " wrote last");
        expected.erase(last);
      });
  }

  /// References that no head has are found in the table of references.
  void check_reference(const std::string& rkey, const record_head& head) {
    if (!head.referenced)
      return;
    const auto row
      = x_.row_at<counter>(content_reference_key{short_hash_of(head.id),
                                                 x_.options.partition, head.op},
                           path_of(rkey));
    if (!row)
      x_.find("I6", path_of(rkey), "its content reference is missing");
    else if (row->value != head.content)
      x_.find("I6", path_of(rkey), "its content reference names other content");
  }

  void check_member() {
    const auto row = x_.row_at<holder_row>(
      collection_member_key{x_.options.partition, stream_.scope, stream_.repo},
      where_);
    if (!row)
      x_.wrong(where_, "the repo is not listed as holding the collection");
  }

  verify_context& x_;
  const stream_block_key& stream_;
  const chain_row& chain_;
  const stream_head& head_;
  uint64_t trimmed_before_;
  std::string where_;
  uint64_t parts_;
  uint64_t part_ = 0;
  uint64_t heads_ = 0;
};

} // namespace

void verify_left_over(verify_context& x, const record_head_key& key,
                      const std::string& where) {
  const auto row = x.row_at<erasure_row>(erasure_key{key.repo}, where);
  if (!row || row->stage != erasure_stage::heads
      || encode_key(key) <= as_text(row->resume))
    x.wrong(where, "its record head should have been erased");
}

void verify_heads(verify_context& x, const stream_block_key& stream,
                  const chain_row& chain, const stream_head& head,
                  uint64_t trimmed_before) {
  head_check{x, stream, chain, head, trimmed_before}.run();
}

} // namespace weir::storage
