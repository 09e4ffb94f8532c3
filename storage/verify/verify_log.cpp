#include "storage/format/content_block.hpp"
#include "storage/format/hashes.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/log_epochs.hpp"
#include "storage/verify/replaced_check.hpp"

#include <algorithm>
#include <limits>

/// The pass over the log, together with its content and the time index. All
/// three are in the order of ids.
namespace weir::storage {

namespace {

constexpr int64_t minute_us = 60'000'000;

/// Reads content items in the order of their numbers.
class content_cursor {
public:
  enum class answer { absent, held, erased, damaged };

  explicit content_cursor(verify_context& x)
    : x_(x),
      rows_(x.db.scan(range_of<content_block_key>(x.options.partition))) {}

  /// @pre `number` is greater than in the call before.
  answer find(uint64_t number, bytes_view& body) {
    while (load() && number >= first_ + std::max<size_t>(block_.count(), 1))
      leave();
    if (!loaded_ || number < first_)
      return number < damaged_before_ ? answer::damaged : answer::absent;
    asked_ = true;
    if (block_.count() == 0)
      return answer::damaged;
    const auto item = block_.at(number - first_);
    if (!item) {
      x_.damaged(operation_name(number), item.error());
      return answer::damaged;
    }
    body = item->body;
    return item->erased ? answer::erased : answer::held;
  }

  /// Call this after the last number.
  void finish(uint64_t last) {
    while (load()) {
      if (asked_ && first_ + block_.count() > last + 1)
        x_.wrong(first_, "content is stored behind the end of the log");
      leave();
    }
    if (auto ok = rows_.status(); !ok)
      x_.damaged("content_block", ok.error());
  }

private:
  /// Loads the next block; false when there is none.
  bool load() {
    if (loaded_)
      return true;
    if (!rows_.valid()) {
      if (damaged_)
        damaged_before_ = std::numeric_limits<uint64_t>::max();
      return false;
    }
    loaded_ = true;
    asked_ = false;
    block_ = {};
    const auto key = decode_key<content_block_key>(rows_.key());
    if (!key) {
      x_.damaged("content_block", key.error());
      return true;
    }
    if (damaged_)
      damaged_before_ = key->first;
    first_ = key->first;
    auto block = content_block_reader::open(rows_.value());
    damaged_ = !block;
    if (block)
      take(std::move(*block));
    else
      x_.damaged(operation_name(first_), block.error());
    return true;
  }

  /// Checks that blocks begin and end with a body and do not overlap.
  void take(content_block_reader block) {
    block_ = std::move(block);
    const auto is_empty = [this](size_t i) {
      const auto item = block_.at(i);
      return item && item->size == 0;
    };
    if (first_ < end_)
      x_.wrong(first_, "its content overlaps the content before it");
    if (is_empty(0) || is_empty(block_.count() - 1))
      x_.wrong(first_, "its content begins or ends with nothing");
    end_ = first_ + block_.count();
  }

  void leave() {
    if (!asked_)
      x_.wrong(first_, "content is stored that no operation names");
    loaded_ = false;
    rows_.next();
  }

  verify_context& x_;
  row_reader rows_;
  content_block_reader block_; ///< Empty when damaged.
  uint64_t first_ = 0;
  uint64_t end_ = 0;            ///< One more than the largest number so far.
  uint64_t damaged_before_ = 0; ///< Lower numbers may be in a damaged block.
  bool loaded_ = false;
  bool asked_ = false;
  bool damaged_ = false;
};

class log_pass {
public:
  explicit log_pass(verify_context& x)
    : x_(x), contents_(x), replaced_(x),
      minutes_(x.db.scan(range_of<time_index_key>(x.options.partition))) {}

  void run() {
    if (const auto whole_from = log_whole_from(x_.db))
      x_.whole_from = *whole_from; // The pass over meta rows reports damage.
    x_.each<chain_key>(range_of<chain_key>(), [this](const chain_key& key,
                                                     std::string_view value) {
      const auto stored = key.scope == 0 ? decode_chain(value, x_.names)
                                         : result<stored_chain>{stored_chain{}};
      if (stored && stored->chain.erased_through != 0)
        erased_through_[key.repo] = stored->chain.erased_through;
    });
    x_.each<log_block_key>(
      range_of<log_block_key>(x_.options.partition),
      [this](const log_block_key& key, std::string_view value) {
        check_block(key.first, value);
      });
    x_.last_id = next_ - 1;
    if (x_.whole_from > next_)
      x_.wrong("meta", "more of the log was trimmed than was ever written");
    replaced_.finish(next_);
    check_epochs();
    x_.log_events = events_;
    contents_.finish(x_.last_id);
    skip_minutes({});
    if (auto ok = minutes_.status(); !ok)
      x_.damaged("time_index", ok.error());
  }

private:
  /// The pass over meta rows reports a damaged row.
  void check_epochs() {
    const auto begun = load_log_epochs(x_.db);
    if (begun && !begun->empty() && begun->back().first > next_)
      x_.wrong("meta", "an epoch of ids begins behind the log");
  }

  void check_block(op_id first, std::string_view value) {
    x_.count("log blocks");
    const bool follows = first == next_;
    const bool trimmed = first > next_ && first <= x_.whole_from;
    if (!follows && !trimmed && (previous_ || first < next_))
      report_place(first);
    const auto block = decode_log_block(value);
    if (!block) {
      x_.find("I3", operation_name(first), block.error().context);
      next_ = first + 1;
      previous_ = std::nullopt;
      return;
    }
    // After a gap or a damaged block there is no hash to compare with.
    if (follows && previous_ && block->previous != *previous_)
      x_.find("I3", operation_name(first),
              "it does not carry the hash of the block before it");
    if (follows && previous_ && block->events_before != events_)
      x_.find("I3", operation_name(first),
              "it counts other events before it than there are");
    if (trimmed && block->events_before < events_)
      x_.find("I3", operation_name(first),
              "it counts fewer events before it than there are");
    if (block->written_us < written_us_)
      x_.find("I3", operation_name(first),
              "its time lies before that of the block before it");
    check_minute(first, block->written_us);
    verify_operations(x_, first, *block);
    check_scopes(first, *block);
    check_contents(first, *block);
    x_.count("operations", block->ops.size());
    next_ = first + block->ops.size();
    previous_ = block_hash(x_.options.partition, first, value);
    written_us_ = block->written_us;
    events_ = block->events_before + block->events();
  }

  void check_contents(op_id first, const log_block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      check_content(block, first + i, block.ops[i]);
      const auto before = block.ops[i].replaced;
      if (before != 0 && !is_erased(block.repo, before))
        replaced_.check_before(first + i, before);
    }
  }

  /// An erased block has no rows in the table of streams, and the names of its
  /// collections may be gone.
  void check_scopes(op_id first, const log_block& block) {
    const bool erased = is_erased(block.repo, first);
    for (const auto& op : block.ops)
      if (!erased || block.streams[op.stream].scope < first_collection_id)
        ++x_.operations_in_streams;
    for (const auto& stream : block.streams)
      if (stream.scope >= first_collection_id
          && (erased ? !x_.names.was_given(stream.scope)
                     : !x_.names.name_of(stream.scope)))
        x_.wrong(first, "its collection has no name");
  }

  /// It does not follow on what is before it.
  void report_place(op_id first) {
    const auto lost = std::max(next_, x_.whole_from);
    x_.find("I3", operation_name(first),
            first > next_ ? "operations from " + std::to_string(lost)
                              + " on are missing before it"
                          : "it overlaps the block before it");
  }

  void check_minute(op_id first, int64_t written_us) {
    const auto minute = static_cast<uint32_t>(written_us / minute_us);
    if (minute <= minute_)
      return;
    minute_ = minute;
    const auto key = encode_key(time_index_key{x_.options.partition, minute});
    skip_minutes(key);
    const bool has_row = minutes_.valid() && minutes_.key() == key;
    // The first operation of its minute may have been trimmed.
    const bool is_whole = first > x_.whole_from || x_.whole_from == 1;
    if (!has_row) {
      if (is_whole)
        x_.wrong(first, "the time index lacks its minute");
      return;
    }
    const auto row = x_.decoded<counter>(minutes_.value(), table::time_index);
    if (row && (is_whole ? row->value != first : row->value > first))
      x_.wrong(first, "the time index does not name it for its minute");
    minutes_.next();
  }

  /// Reports the minutes before `key`; an empty key means all that are left.
  /// Rows of what was trimmed are removed little by little.
  void skip_minutes(std::string_view key) {
    for (; minutes_.valid() && (key.empty() || minutes_.key() < key);
         minutes_.next()) {
      const auto row = x_.decoded<counter>(minutes_.value(), table::time_index);
      if (row && row->value >= x_.whole_from)
        x_.wrong(to_string(table::time_index),
                 "it has a minute in which nothing was written");
    }
  }

  void check_content(const log_block& block, op_id id,
                     const block_operation& op) {
    bytes_view body;
    const auto found = contents_.find(id, body);
    using answer = content_cursor::answer;
    if (op.content == 0) {
      if (found == answer::erased || !body.empty())
        x_.wrong(id, "content is stored that it lacks");
      return;
    }
    x_.count("content items");
    if (op.content != id)
      x_.wrong(id, "its content number is that of another operation");
    if (found == answer::erased && !is_erased(block.repo, id)) {
      replaced_.check_erased(block, id, op);
    } else if (found == answer::absent || found == answer::erased) {
      if (!is_erased(block.repo, id))
        x_.wrong(id, "its content is missing");
    } else if (is_erased(block.repo, id) && !waits(block, op)) {
      x_.wrong(id, "its content should have been erased");
    }
    if (found == answer::held && !matches(op.id, body))
      x_.wrong(id, "its content does not hash to its CID");
  }

  bool is_erased(const atproto::did& repo, op_id id) const {
    const auto i = erased_through_.find(repo);
    return i != erased_through_.end() && id <= i->second;
  }

  /// True when the operation is still to be erased. SWEEPER erases the content
  /// and the stream block of a collection together. The pass over streams
  /// checks the others.
  bool waits(const log_block& block, const block_operation& op) {
    const auto& stream = block.streams[op.stream];
    if (stream.scope < first_collection_id)
      return true;
    const auto row = x_.db.get(encode_key(stream_block_key{
      block.repo, stream.scope, stream.branch, stream.first_index}));
    return !row || *row;
  }

  static bool matches(const atproto::cid& id, bytes_view body) {
    return (id.is_raw() ? atproto::cid::of_raw(body)
                        : atproto::cid::of_dag_cbor(body))
           == id;
  }

  verify_context& x_;
  content_cursor contents_;
  replaced_check replaced_;
  row_reader minutes_;
  op_id next_ = 1;
  std::optional<atproto::digest> previous_{std::in_place};
  int64_t written_us_ = 0;
  uint64_t events_ = 0;
  uint32_t minute_ = 0;
  /// The last erased operation of each erased repo.
  std::unordered_map<atproto::did, op_id> erased_through_;
};

} // namespace

void verify_log(verify_context& x) {
  log_pass{x}.run();
}

} // namespace weir::storage
