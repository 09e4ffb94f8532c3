#include "storage/log/committer.hpp"
#include "storage/tables/collection_table.hpp"

namespace weir::storage {

// -- one update ---------------------------------------------------------------

result<void> committer::stage_row(const repo_update& in, op_id erased_through,
                                  repo_guard& guard) {
  if (in.member)
    batch_.put(encode_key(member_key{default_dataset, in.repo}),
               encode_value(*in.member));
  if (!in.row && !in.forget)
    return {};
  if (auto ok = learn_row(in.repo, guard); !ok)
    return ok;
  const auto index_key = [&] {
    return encode_key(repo_by_status_key{guard.status, guard.due, in.repo});
  };
  const bool moves = !in.row || !guard.has_row || in.row->status != guard.status
                     || due_of(*in.row) != guard.due;
  if (guard.has_row && moves)
    batch_.erase(index_key());
  if (!in.row) {
    batch_.erase(encode_key(repo_key{in.repo}));
    batch_.erase(encode_key(member_key{default_dataset, in.repo}));
    guard.has_row = false;
    return {};
  }
  auto row = *in.row;
  row.erased_through = erased_through;
  batch_.put(encode_key(repo_key{in.repo}), encode_value(row));
  guard.learn(row);
  if (moves)
    batch_.put(index_key(), {});
  return {};
}

result<void> committer::stage_buffer(const repo_update& in) {
  const auto range = range_of<sync_buffer_key>(in.repo);
  if (in.buffer_clear || in.forget) {
    auto rows = db_.scan(range);
    for (; rows.valid(); rows.next())
      batch_.erase(rows.key());
    if (auto ok = rows.status(); !ok)
      return ok;
    for (const auto& key : unwritten_buffer_)
      if (key >= range.begin && key < range.end)
        batch_.erase(key);
  }
  for (const auto& [number, frame] : in.buffer_put) {
    const auto view = frame.bytes.view();
    auto key = encode_key(sync_buffer_key{in.repo, number});
    batch_.put(
      key, encode_value(waiting_row{frame.at, frame.first_cursor, frame.relay,
                                    stored_bytes{{view.begin(), view.end()}}}));
    unwritten_buffer_.push_back(std::move(key));
  }
  return {};
}

// -- beside the updates -------------------------------------------------------

void committer::stage_others(const journal_batch& group) {
  for (const auto& x : group.upstreams)
    batch_.put(encode_key(upstream_key{x.id}), encode_value(x));
  for (const auto& x : group.listings)
    stage_listing(x);
  for (const auto& [repo, row] : group.identities)
    batch_.put(encode_key(identity_key{repo}), encode_value(row));
  stage_export(group);
  for (const auto& x : group.consumers)
    stage_consumer(x);
  for (const auto& x : group.configuration)
    stage_setting(x);
}

void committer::stage_export(const journal_batch& group) {
  for (const auto& [repo, row] : group.exported) {
    const auto key = encode_key(exported_key{repo});
    if (row)
      batch_.put(key, encode_value(*row));
    else
      batch_.erase(key);
  }
  if (group.export_place)
    batch_.put(encode_key(meta_key{directory_export_row}),
               encode_value(*group.export_place));
}

void committer::stage_setting(const configuration_change& x) {
  const auto key = encode_key(configuration_key{x.dataset, x.name});
  if (x.value)
    batch_.put(key, encode_value(stored_bytes{*x.value}));
  else
    batch_.erase(key);
}

void committer::stage_listing(const listing_change& x) {
  uint32_t collection = 0;
  if (!x.collection.empty())
    collection = names_.keep(x.collection, batch_);
  batch_.put(encode_key(listing_key{x.upstream, collection}),
             encode_value(x.row));
}

void committer::stage_consumer(const consumer_change& x) {
  const auto partition = options_.partition;
  if (x.row)
    batch_.put(encode_key(consumer_key{x.dataset, x.name}),
               encode_value(*x.row));
  for (const auto first : x.acked_gone)
    batch_.erase(encode_key(acked_key{x.dataset, x.name, partition, first}));
  for (const auto& range : x.acked)
    batch_.put(encode_key(acked_key{x.dataset, x.name, partition, range.first}),
               encode_value(counter{range.last}));
  for (const auto id : x.dead_letters_gone)
    batch_.erase(encode_key(dead_letter_key{x.dataset, x.name, partition, id}));
  for (const auto& [id, row] : x.dead_letters)
    batch_.put(encode_key(dead_letter_key{x.dataset, x.name, partition, id}),
               encode_value(row));
}

} // namespace weir::storage
