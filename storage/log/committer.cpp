#include "storage/log/committer.hpp"

#include "storage/log/batch_record.hpp"
#include "storage/log/erasure.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/row_access.hpp"

namespace weir::storage {

namespace {

void put_export(const journal_batch& group, write_batch& batch) {
  for (const auto& [repo, row] : group.exported) {
    const auto key = encode_key(exported_key{repo});
    if (row)
      batch.put(key, encode_value(*row));
    else
      batch.erase(key);
  }
  if (group.export_place)
    batch.put(encode_key(meta_key{directory_export_row}),
              encode_value(*group.export_place));
}

void put_setting(const configuration_change& x, write_batch& batch) {
  const auto key = encode_key(configuration_key{x.dataset, x.name});
  if (x.value)
    batch.put(key, encode_value(stored_bytes{*x.value}));
  else
    batch.erase(key);
}

void put_listing(const listing_change& x, collection_table& names,
                 write_batch& batch) {
  uint32_t collection = 0;
  if (!x.collection.empty())
    collection = names.keep(x.collection, batch);
  batch.put(encode_key(listing_key{x.upstream, collection}),
            encode_value(x.row));
}

void put_consumer(const consumer_change& x, uint16_t partition,
                  write_batch& batch) {
  if (x.row)
    batch.put(encode_key(consumer_key{x.dataset, x.name}),
              encode_value(*x.row));
  for (const auto first : x.acked_gone)
    batch.erase(encode_key(acked_key{x.dataset, x.name, partition, first}));
  for (const auto& range : x.acked)
    batch.put(encode_key(acked_key{x.dataset, x.name, partition, range.first}),
              encode_value(counter{range.last}));
  for (const auto id : x.dead_letters_gone)
    batch.erase(encode_key(dead_letter_key{x.dataset, x.name, partition, id}));
  for (const auto& [id, row] : x.dead_letters)
    batch.put(encode_key(dead_letter_key{x.dataset, x.name, partition, id}),
              encode_value(row));
}

/// What a group writes besides the updates of repos: rows of upstreams,
/// listings, identities, consumers and settings.
void put_group_rows(const journal_batch& group, uint16_t partition,
                    collection_table& names, write_batch& batch) {
  for (const auto& x : group.upstreams)
    batch.put(encode_key(upstream_key{x.id}), encode_value(x));
  for (const auto& x : group.listings)
    put_listing(x, names, batch);
  for (const auto& [repo, row] : group.identities)
    batch.put(encode_key(identity_key{repo}), encode_value(row));
  put_export(group, batch);
  for (const auto& x : group.consumers)
    put_consumer(x, partition, batch);
  for (const auto& x : group.configuration)
    put_setting(x, batch);
}

} // namespace

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

result<commit_result> committer::commit(const journal_batch& group,
                                        sync_mode sync) {
  if (failure_.code != ec::none)
    return failure_;
  auto out = stage(group);
  if (!out)
    return broken(out.error());
  if (auto ok = write(sync); !ok)
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
      if (auto ok = options_.hand_over(encode_batch(
            {options_.updates.partition, last_id(), updates_.tail().previous},
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

/// Writes what was staged. When the store could not be read, nothing is written
/// and so nothing is broken.
template <class Done>
result<Done> committer::finish(result<Done> staged) {
  if (!staged) {
    batch_.clear();
    return staged;
  }
  if (auto ok = write(sync_mode::relaxed); !ok)
    return ok.error();
  return staged;
}

result<trimmed_log> committer::trim(const std::vector<op_id>& firsts,
                                    bool used) {
  if (failure_.code != ec::none)
    return failure_;
  const auto partition = options_.updates.partition;
  const auto needs = log_needs::load(db_, partition, used);
  if (!needs)
    return needs.error();
  return finish(stage_trim(db_, names_, partition, firsts, *needs, batch_));
}

result<replaced_step> committer::erase_replaced(op_id until, bool used,
                                                size_t ops_max) {
  if (failure_.code != ec::none)
    return failure_;
  const auto partition = options_.updates.partition;
  const auto needs = log_needs::load(db_, partition, used);
  if (!needs)
    return needs.error();
  return finish(stage_replaced(db_, partition, until, *needs, ops_max,
                               kept_after_, batch_));
}

result<void> committer::end_purge() {
  if (failure_.code != ec::none)
    return failure_;
  batch_.erase(encode_key(meta_key{content_to_purge_row}));
  return write(sync_mode::relaxed);
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
