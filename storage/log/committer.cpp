#include "storage/log/committer.hpp"

#include "storage/format/limits.hpp"
#include "storage/log/batch_record.hpp"
#include "storage/log/erasure.hpp"
#include "storage/log/group_rows.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<std::unique_ptr<committer>> committer::open(database& db,
                                                   collection_table& names,
                                                   const clock& time,
                                                   committer_options options) {
  auto tail = read_log_tail(db, options.updates.partition);
  if (!tail)
    return tail.error();
  return std::unique_ptr<committer>{
    new committer{db, names, time, std::move(options), *tail}};
}

committer::committer(database& db, collection_table& names, const clock& time,
                     committer_options options, log_tail tail)
  : db_(db), names_(names), clock_(time), options_(std::move(options)),
    updates_(db, names, batch_, options_.updates, tail) {}

result<commit_result> committer::commit(const journal_batch& group) {
  if (failure_.code != ec::none)
    return failure_;
  auto out = stage(group);
  if (!out)
    return broken(out.error());
  if (auto ok = write(sync_mode::durable); !ok)
    return ok.error();
  return out;
}

result<commit_result> committer::stage(const journal_batch& group) {
  commit_result out;
  updates_.set_time(clock_.wall_now().micros);
  out.receipts.reserve(group.updates.size());
  for (const auto& update : group.updates) {
    auto receipt = updates_.stage(update, out.entries);
    if (!receipt)
      return receipt.error();
    out.receipts.push_back(std::move(*receipt));
  }
  put_group_rows(group, options_.updates.partition, names_, batch_);
  for (auto& receipt : out.receipts)
    receipt.store_epoch = db_.store_epoch();
  out.last = last_id();
  out.log_events = log_events();
  return out;
}

/// The only place that a batch leaves: for the store, and for whoever follows.
result<void> committer::write(sync_mode sync) {
  if (!batch_.empty()) {
    if (options_.hand_over)
      if (auto ok = options_.hand_over(
            encode_batch({options_.updates.partition, last_id(),
                          updates_.tail().previous},
                         batch_));
          !ok)
        return broken(ok.error());
    if (auto ok = db_.write(batch_, sync); !ok)
      return broken(ok.error());
  }
  batch_.clear();
  updates_.on_written();
  return {};
}

error committer::broken(error why) {
  failure_ = why;
  return why;
}

result<void> committer::note_missed(const atproto::did& repo) {
  if (failure_.code != ec::none)
    return failure_;
  auto row = load_row<repo_row>(db_, repo_key{repo});
  if (!row)
    return broken(row.error());
  if (!*row)
    return {};
  (*row)->gap = (*row)->identity_due = true;
  batch_.put(encode_key(repo_key{repo}), encode_value(**row));
  return write(sync_mode::durable);
}

result<bool> committer::erase_step(const atproto::did& repo, size_t rows_max) {
  if (failure_.code != ec::none)
    return failure_;
  const auto left = stage_erasure(db_, names_, options_.updates.partition, repo,
                                  rows_max, batch_);
  if (!left)
    return broken(left.error());
  if (auto ok = write(sync_mode::relaxed); !ok)
    return ok.error();
  return *left;
}

size_t committer::names_bytes() const {
  return names_.bytes();
}

result<bool> committer::end_erasure(const atproto::did& repo, op_id through) {
  if (failure_.code != ec::none)
    return failure_;
  const auto row = load_row<erasure_row>(db_, erasure_key{repo});
  if (!row)
    return broken(row.error());
  if (!*row || (*row)->through != through
      || (*row)->stage != erasure_stage::compact)
    return false; // It was erased again meanwhile.
  const auto known = load_row<repo_row>(db_, repo_key{repo});
  if (!known)
    return broken(known.error());
  batch_.erase(encode_key(erasure_key{repo}));
  if (auto ok = write(sync_mode::relaxed); !ok)
    return ok.error();
  return !*known;
}

} // namespace weir::storage
