// The store's part of a commit (bench/micro_stages.hpp).

#include "bench/micro_stages.hpp"
#include "bench/scratch_dir.hpp"
#include "storage/log/committer.hpp"
#include "storage/tables/collection_table.hpp"

#include <cstdlib>

namespace weir::bench {

namespace {

constexpr size_t updates_at_once = 100;
constexpr size_t accounts = 500;

/// A DID that ends with number `i`, written in letters.
atproto::did make_did(size_t i) {
  std::string out(24, 'a');
  for (auto at = out.rbegin(); i > 0; ++at, i /= 26)
    *at = static_cast<char>('a' + i % 26);
  return atproto::did::trusted("did:plc:" + out);
}

/// A store, and repos that commit the records of the corpus to it.
class store_writer {
public:
  explicit store_writer(micro_input_ptr input) : input_(std::move(input)) {
    for (size_t i = 0; i < accounts; ++i)
      repos_.push_back(make_did(i));
    chains_.resize(accounts);
  }

  store_writer(const store_writer&) = delete;
  store_writer& operator=(const store_writer&) = delete;

  result<void> open(const std::filesystem::path& dir) {
    auto made = scratch_dir::make(dir);
    if (!made)
      return made.error();
    dir_ = std::move(*made);
    storage::database_options options;
    options.directory = dir_.path().string();
    auto db = storage::database::open(std::move(options));
    if (!db)
      return db.error();
    db_ = std::move(*db);
    auto names = storage::collection_table::load(*db_);
    if (!names)
      return names.error();
    names_ = std::move(*names);
    auto writer = storage::committer::open(*db_, *names_, system_clock());
    if (!writer)
      return writer.error();
    writer_ = std::move(*writer);
    return {};
  }

  /// Writes one batch of commits with one create each. Returns how many.
  size_t run() {
    storage::journal_batch group;
    for (size_t i = 0; i < updates_at_once; ++i)
      group.updates.push_back(next((first_ + i) % accounts));
    const auto done = writer_->commit(group);
    if (!done)
      std::abort();
    for (size_t i = 0; i < updates_at_once; ++i) {
      const auto& receipt = done->receipts[i];
      if (receipt.outcome != storage::update_outcome::done)
        std::abort();
      chains_[(first_ + i) % accounts] = receipt.chain;
    }
    first_ = (first_ + updates_at_once) % accounts;
    return updates_at_once;
  }

private:
  storage::repo_update next(size_t repo) {
    const auto& body = input_->records[rev_ % input_->records.size()];
    const auto id = atproto::cid::of_dag_cbor(body);
    storage::repo_update out;
    out.repo = repos_[repo];
    out.base = chains_[repo];
    out.commit_revision = out.base ? out.base->commit_revision() : 0;
    auto& tx = out.transactions.emplace_back();
    tx.rev = atproto::tid{++rev_};
    tx.time_us = static_cast<int64_t>(rev_);
    storage::new_operation record;
    record.scope = "app.bsky.feed.like";
    record.rkey = tx.rev.str();
    record.id = id;
    record.content = shared_bytes::copy_of(body);
    storage::new_operation commit;
    commit.scope = storage::commit_scope;
    commit.id = id;
    commit.content = shared_bytes::copy_of(body);
    tx.ops.push_back(std::move(record));
    tx.ops.push_back(std::move(commit));
    out.chain = storage::chain_step{tx.rev, id, id};
    return out;
  }

  micro_input_ptr input_;
  scratch_dir dir_; ///< Outlives the store.
  std::unique_ptr<storage::database> db_;
  std::unique_ptr<storage::collection_table> names_;
  std::unique_ptr<storage::committer> writer_;
  std::vector<atproto::did> repos_;
  std::vector<std::shared_ptr<const storage::chain_row>> chains_;
  uint64_t rev_ = 1'000'000;
  size_t first_ = 0;
};

} // namespace

result<stage> make_store_stage(const micro_input_ptr& input,
                               const std::filesystem::path& dir) {
  const auto made = std::make_shared<store_writer>(input);
  if (auto ok = made->open(dir); !ok)
    return ok.error();
  // On the reference machine the log entry takes 4 and the state row 5
  // microseconds.
  return stage{"store_commit", "one commit of a durable batch of 100", 9'000,
               [made] {
                 return made->run();
               },
               true};
}

} // namespace weir::bench
