#include "storage/format/hashes.hpp"
#include "storage/verify/verify_context.hpp"

#include <algorithm>
#include <unordered_set>

/// The pass over streams, repo by repo: their indices and hashes, and the
/// resulting chains.
namespace weir::storage {

namespace {

class stream_pass {
public:
  explicit stream_pass(verify_context& x) : x_(x) {}

  void run() {
    x_.each_row<stream_run, stream_block_key>(
      range_of<stream_block_key>(),
      [this](const stream_block_key& key, const stream_run& run) {
        if (key.repo != at_.repo || key.scope != at_.scope
            || key.branch != at_.branch) {
          end_stream();
          begin_stream(key);
        }
        check_run(key, run);
      });
    end_stream();
    end_repo();
    if (operations_ != x_.operations_in_streams)
      x_.find("I3", "streams",
              "they hold " + std::to_string(operations_)
                + " operations, the log holds "
                + std::to_string(x_.operations_in_streams));
  }

private:
  std::string where() const { return x_.stream_name(at_); }

  // -- one stream -------------------------------------------------------------

  void begin_stream(const stream_block_key& key) {
    if (key.repo != at_.repo) {
      end_repo();
      seen_.clear();
      begin_repo(key.repo);
    }
    at_ = key;
    // After an erasing, collections begin above the indices that they had
    // before.
    next_ = is_collection() ? index_base_ : 0;
    hash_ = atproto::digest{};
    lives_ = false;
    next_id_ = 1;
    trimmed_before_ = 0;
    x_.count("streams");
  }

  bool is_collection() const { return at_.scope >= first_collection_id; }

  /// Checks a row of a collection that is still to be erased.
  void check_left_over(const stream_block_key& key, const stream_run& run) {
    if (!erasing_ || erasing_->stage == erasure_stage::compact
        || (erasing_->stage == erasure_stage::streams
            && encode_key(key) <= as_text(erasing_->resume)))
      x_.wrong(where(), "its rows should have been erased");
    const auto found = x_.block_at(run.block);
    const auto slot = found ? stream_in(*found, key) : std::nullopt;
    const auto is_of_it = [&](const block_operation& op) {
      return op.stream == *slot;
    };
    if (!slot || key.first_index >= index_base_
        || std::count_if(found->ops.begin(), found->ops.end(), is_of_it)
             != run.count)
      x_.wrong(where(), "its rows to be erased differ from the log block");
    const collection_member_key member{x_.options.partition, key.scope,
                                       key.repo};
    if (!x_.row_at<holder_row>(member, where()))
      x_.wrong(where(), "it has rows to be erased, but no row as a member");
  }

  void check_run(const stream_block_key& key, const stream_run& run) {
    if (is_collection() && run.block <= erased_through_) {
      check_left_over(key, run);
      return;
    }
    lives_ = true;
    check_place(key.first_index);
    const auto found = x_.block_at(run.block);
    const auto slot = found ? stream_in(*found, key) : std::nullopt;
    if (!slot) {
      x_.wrong(where(), "operation " + std::to_string(run.block)
                          + " does not hold its index "
                          + std::to_string(key.first_index));
      next_ = key.first_index + run.count;
      hash_ = std::nullopt;
      return;
    }
    const auto& previous = found->streams[*slot].previous;
    if (hash_ && previous != *hash_)
      x_.find("I3", where(),
              "the hash before index " + std::to_string(key.first_index)
                + " is not the hash of the operations before it");
    hash_ = previous;
    next_ = key.first_index;
    for (size_t i = 0; i < found->ops.size(); ++i)
      if (found->ops[i].stream == *slot)
        step(*found, run.block, i);
    next_id_ = run.block + found->ops.size();
    const auto count = next_ - key.first_index;
    if (count != run.count)
      x_.wrong(where(), "its row says " + std::to_string(run.count)
                          + " operations, the log block holds "
                          + std::to_string(count));
    operations_ += count;
    if (run.block <= erased_through_ && key.scope != account_scope_id)
      check_erased(key, run.block, found->ops.size());
  }

  /// The stream goes on here.
  void check_place(uint64_t index) {
    if (index > next_ && next_id_ < x_.whole_from)
      skip_trimmed(index);
    if (index != next_)
      x_.find("I3", where(),
              "index " + std::to_string(next_) + " is followed by "
                + std::to_string(index));
  }

  /// The operations before this index were trimmed.
  void skip_trimmed(uint64_t index) {
    next_ = trimmed_before_ = index;
    hash_ = std::nullopt;
    last_.has_indexed |= at_.scope == commit_scope_id;
  }

  /// SWEEPER erases a repo's streams in their order; facts of the account stay.
  void check_erased(const stream_block_key& key, op_id block, size_t count) {
    if (erasing_
        && (erasing_->stage == erasure_stage::heads
            || (erasing_->stage == erasure_stage::streams
                && encode_key(key) > as_text(erasing_->resume))))
      return;
    const auto partition = x_.options.partition;
    if (x_.db
          .scan({encode_key(content_block_key{partition, block}),
                 encode_key(content_block_key{partition, block + count})})
          .valid())
      x_.wrong(block, "its content should have been erased");
  }

  void step(const log_block& block, op_id first, size_t i) {
    const auto& op = block.ops[i];
    note(block, first + i, op);
    const auto scope = scope_name(x_.names, at_.scope).value_or("");
    const auto& did = block.repo.str();
    const auto operation
      = hasher_.operation({did, block.rev, scope, op.rkey, op.action, &op.id,
                           origin_of(scope, block.from, block.job, next_)});
    hash_ = hasher_.stream({did, scope, at_.branch, next_, op.skip, operation,
                            *hash_, block.time_us / 1000, op.action, op.rkey,
                            &op.id});
    ++next_;
  }

  /// Notes the operation if it is the last one of its kind. Streams of one repo
  /// are not read in the order of ids.
  void note(const log_block& block, op_id id, const block_operation& op) {
    if (id <= erased_through_ || at_.branch != main_branch)
      return;
    if (at_.scope == commit_scope_id) {
      const auto indexed
        = last_.row ? last_.row->last_indexed_rev : atproto::tid{};
      last_.has_indexed |= indexed == block.rev
                           || (block.passed != 0 && indexed < block.rev
                               && indexed > last_.commit_rev);
      last_.commit = {id, op.id};
      last_.commit_rev = block.rev;
    } else if (at_.scope < first_collection_id && id > last_.fact.number) {
      last_.fact = {id, op.id};
    }
  }

  void end_stream() {
    if (at_.repo.empty())
      return;
    if (at_.branch != main_branch || !lives_)
      return;
    seen_.insert(at_.scope);
    const auto chain = x_.chain_of(at_.repo);
    const auto name = scope_name(x_.names, at_.scope);
    const auto* head = chain && name ? chain->find(*name) : nullptr;
    if (head == nullptr) {
      x_.wrong(where(), "the chain lacks this stream");
      return;
    }
    // The last operation of a `$` scope is never trimmed.
    if (is_collection() && head->next_index > next_
        && next_id_ < x_.whole_from)
      skip_trimmed(head->next_index);
    if (head->next_index != next_)
      x_.find("I3", where(),
              "the chain goes on at index " + std::to_string(head->next_index)
                + ", the stream at " + std::to_string(next_));
    else if (hash_ && head->hash != *hash_)
      x_.find("I3", where(), "the chain has another hash than the stream");
    if (at_.scope >= first_collection_id)
      verify_heads(x_, at_, *chain, *head, trimmed_before_);
  }

  // -- one repo ---------------------------------------------------------------

  void begin_repo(const atproto::did& repo) {
    last_ = {};
    last_.row = x_.row_at<repo_row>(repo_key{repo}, repo.str());
    const auto chain = x_.chain_of(repo);
    erased_through_ = chain ? chain->erased_through : 0;
    index_base_ = chain ? chain->index_base : 0;
    erasing_.reset();
    if (erased_through_ != 0)
      erasing_ = x_.row_at<erasure_row>(erasure_key{repo}, repo.str());
  }

  void end_repo() {
    if (at_.repo.empty())
      return;
    const auto chain = x_.chain_of(at_.repo);
    if (!chain)
      return;
    uint64_t sum = 0;
    for (const auto& stream : chain->streams) {
      sum += stream.records;
      const auto id = scope_id(x_.names, stream.scope);
      if (!id || (!seen_.contains(*id) && !may_be_trimmed(x_, stream)))
        x_.wrong(at_.repo.str() + " " + stream.scope,
                 "the chain has a stream that has no operation");
    }
    if (sum != chain->record_count)
      x_.wrong(at_.repo.str(),
               "the chain's record count is not the sum of its collections");
    verify_latest(x_, at_.repo, *chain, last_);
  }

  verify_context& x_;
  log_hasher hasher_;
  stream_block_key at_;
  uint64_t next_ = 0;
  std::optional<atproto::digest> hash_; ///< Empty after a gap.
  std::unordered_set<uint32_t> seen_;   ///< Main streams of this repo.
  last_operations last_;                ///< Those of this repo.
  bool lives_ = false;       ///< The stream has rows that are not erased.
  op_id erased_through_ = 0; ///< The last that was erased of it.
  uint64_t index_base_ = 0;  ///< The index base of this repo.
  std::optional<erasure_row> erasing_; ///< The open erasing of this repo.
  op_id next_id_ = 1; ///< Behind the last block of this stream so far.
  /// The stream was trimmed before this index, and nowhere behind it.
  uint64_t trimmed_before_ = 0;
  uint64_t operations_ = 0;
};

} // namespace

bool may_be_trimmed(const verify_context& x, const stream_head& stream) {
  return x.whole_from > 1 && stream.records == 0
         && !stream.scope.starts_with('$');
}

void verify_streams(verify_context& x) {
  stream_pass{x}.run();
}

} // namespace weir::storage
