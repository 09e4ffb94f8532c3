#include "storage/log/group_rows.hpp"

#include "storage/disk/write_batch.hpp"
#include "storage/format/keys.hpp"
#include "storage/format/values.hpp"
#include "storage/tables/collection_table.hpp"

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

} // namespace

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

} // namespace weir::storage
