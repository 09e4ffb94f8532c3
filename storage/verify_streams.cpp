#include "storage/hashes.hpp"
#include "storage/verify_context.hpp"

#include <unordered_set>

/// The pass over streams, repo by repo: their indices and hashes, and the
/// chains they lead to.
namespace weir::storage {

namespace {

class stream_pass {
public:
  explicit stream_pass(verify_context& x) : x_(x) {
    // nop
  }

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
    if (operations_ != x_.report.counts["operations"])
      x_.find("I3", "streams",
              "they hold " + std::to_string(operations_)
                + " operations, the log holds "
                + std::to_string(x_.report.counts["operations"]));
  }

private:
  std::string where() const { return x_.stream_name(at_); }

  // -- one stream -------------------------------------------------------------

  void begin_stream(const stream_block_key& key) {
    if (key.repo != at_.repo) {
      end_repo();
      seen_.clear();
    }
    at_ = key;
    next_ = 0;
    hash_ = {};
    x_.count("streams");
  }

  void check_run(const stream_block_key& key, const stream_run& run) {
    if (key.first_index != next_)
      x_.find("I3", where(),
              "index " + std::to_string(next_) + " is followed by "
                + std::to_string(key.first_index));
    const auto found = x_.block_at(run.block);
    const auto slot = found ? stream_in(*found, key) : std::nullopt;
    if (!slot) {
      x_.find("tables", where(),
              "operation " + std::to_string(run.block)
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
                + " is another one than that of its operations");
    hash_ = previous;
    next_ = key.first_index;
    for (size_t i = 0; i < found->ops.size(); ++i)
      if (found->ops[i].stream == *slot)
        step(*found, i);
    const auto count = next_ - key.first_index;
    if (count != run.count)
      x_.find("tables", where(),
              "its row says " + std::to_string(run.count)
                + " operations, the log block holds " + std::to_string(count));
    operations_ += count;
  }

  void step(const log_block& block, size_t i) {
    const auto& op = block.ops[i];
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

  void end_stream() {
    if (at_.repo.empty())
      return;
    if (at_.branch != main_branch)
      return;
    seen_.insert(at_.scope);
    const auto chain = x_.chain_of(at_.repo);
    const auto name = scope_name(x_.names, at_.scope);
    const auto* head = chain && name ? chain->find(*name) : nullptr;
    if (head == nullptr) {
      x_.find("tables", where(), "the chain lacks this stream");
      return;
    }
    if (head->next_index != next_)
      x_.find("I3", where(),
              "the chain goes on at index " + std::to_string(head->next_index)
                + ", the stream at " + std::to_string(next_));
    else if (hash_ && head->hash != *hash_)
      x_.find("I3", where(), "the chain has another hash than the stream");
    if (at_.scope >= first_collection_id)
      verify_heads(x_, at_, *chain, *head);
  }

  // -- one repo ---------------------------------------------------------------

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
      if (!id || !seen_.contains(*id))
        x_.find("tables", at_.repo.str() + " " + stream.scope,
                "the chain has a stream that has no operation");
    }
    if (sum != chain->record_count)
      x_.find("tables", at_.repo.str(),
              "the chain's record count is not the sum of its collections");
  }

  verify_context& x_;
  log_hasher hasher_;
  stream_block_key at_;
  uint64_t next_ = 0;
  std::optional<atproto::digest> hash_; ///< Nothing after a hole.
  std::unordered_set<uint32_t> seen_;   ///< Main streams of the repo.
  uint64_t operations_ = 0;
};

} // namespace

void verify_streams(verify_context& x) {
  stream_pass{x}.run();
}

} // namespace weir::storage
