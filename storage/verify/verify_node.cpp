#include "storage/disk/partition_stores.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/log_epochs.hpp"
#include "storage/log/replaced_content.hpp"
#include "storage/tables/filter_table.hpp"
#include "storage/tables/identity_table.hpp"
#include "storage/tables/upstream_table.hpp"
#include "storage/verify/verify_context.hpp"

#include <set>

/// The passes over rows of the node, over identities, and over rows in places
/// where none may be.
namespace weir::storage {

namespace {

// -- meta, configuration ------------------------------------------------------

void check_meta_row(verify_context& x, const std::string& name,
                    std::string_view value) {
  if (name == "format") {
    const auto row = x.decoded<stored_bytes>(value, table::meta);
    if (row && as_text(row->value) != store_format)
      x.wrong("meta", "it says another format than FORMAT");
  } else if (name == "log_identity") {
    const auto row = x.decoded<counter>(value, table::meta);
    if (row && row->value != x.db.log_identity())
      x.wrong("meta", "it says another identity than FORMAT");
  } else if (name == "store_epoch" || name == "next_collection_id"
             || name == partitions_row_name
             || name == openings_noted_row_name || name == log_whole_from_row
             || name == replaced_through_row
             || name.starts_with(openings_row_begin)) {
    x.decoded<counter>(value, table::meta);
  } else if (name == log_epochs_row_name) {
    x.decoded<log_epochs_row>(value, table::meta);
  } else if (name == content_to_purge_row) {
    const auto row = x.decoded<purge_row>(value, table::meta);
    if (row && !are_apart(row->content))
      x.wrong("meta", "contents to purge are not in order");
  } else if (name == directory_export_row) {
    x.decoded<export_row>(value, table::meta);
  } else {
    x.wrong("meta", "nothing is called " + name);
  }
}

void check_meta(verify_context& x) {
  std::set<std::string> missing{"format", "log_identity", "store_epoch"};
  x.each<meta_key>(range_of<meta_key>(),
                   [&](const meta_key& key, std::string_view value) {
                     missing.erase(key.name);
                     check_meta_row(x, key.name, value);
                   });
  for (const auto& name : missing)
    x.wrong("meta", name + " is missing");
}

void check_setting(verify_context& x, const configuration_key& key,
                   const stored_bytes& value) {
  x.count("settings");
  if (key.name == filter_setting) {
    const auto row = decode_value<filter_row>(as_text(value.value));
    if (!row)
      x.damaged(key.name, row.error());
  }
  if (key.dataset > default_dataset)
    x.wrong("configuration", key.name + " is of a dataset that does not exist");
}

// -- upstreams, listings ------------------------------------------------------

/// Ids begin at 1, and an upstream is never removed.
void check_upstreams(verify_context& x) {
  std::map<std::pair<std::string, bool>, uint32_t> known;
  const auto check = [&](const upstream_key& key, const upstream_row& row) {
    x.count("upstreams");
    const auto where = "upstream " + std::to_string(key.id);
    if (row.id != key.id)
      x.wrong(where, "its row is another one's");
    if (key.id != x.upstream_epochs.size() + 1)
      x.wrong(where, "ids before it are missing");
    x.upstream_epochs[key.id] = row.epoch;
    const auto [other, fresh] = known.try_emplace({row.url, row.relay}, key.id);
    if (!fresh)
      x.wrong(where,
              "it is at the same place as " + std::to_string(other->second));
    if (row.epoch == 0)
      x.wrong(where, "it has no epoch");
    if (row.suspect == 0 ? row.ends != 0 : row.life == stream_life::running)
      x.wrong(where, "it counts process ends for a frame, but names no frame");
  };
  x.each_row<upstream_row, upstream_key>(range_of<upstream_key>(), check);
}

/// The repos of other partitions were read from them, too.
void take_upstreams_of_root(verify_context& x) {
  if (!x.upstream_epochs.empty())
    x.wrong("upstreams", "the first store alone has their rows");
  const auto rows = load_upstreams(x.root());
  if (!rows)
    return x.damaged("upstreams", rows.error());
  for (const auto& row : *rows)
    x.upstream_epochs[row.id] = row.epoch;
}

void check_listing(verify_context& x, const listing_key& key,
                   const listing_row& row) {
  const auto where = "listing at " + std::to_string(key.upstream);
  if (!x.upstream_epochs.contains(key.upstream))
    x.wrong(where, "there is no such upstream");
  if (key.collection != 0 && !x.names.name_of(key.collection))
    x.wrong(where, "its collection has no name");
  if (row.noted != position{} && row.noted.upstream != key.upstream)
    x.wrong(where, "it was begun at another upstream");
}

// -- identities ---------------------------------------------------------------

void check_identity(verify_context& x, const identity_key& key,
                    const identity_row&) {
  x.count("identities");
  if (!atproto::did::parse(key.repo.str()))
    x.wrong("identity", key.repo.str() + " is no DID");
}

void check_exported(verify_context& x, const exported_key& key,
                    const identity_row& row) {
  x.count("exported");
  if (!atproto::did::parse(key.repo.str()))
    x.wrong("exported", key.repo.str() + " is no DID");
  if (row.fetched_at != 0 || row.tombstoned || !row.handle.empty())
    x.wrong("exported", key.repo.str() + " has what no export says");
}

// -- where nothing may lie ----------------------------------------------------

/// A stray row, or a whole table, is handled in one step.
void check_strays(verify_context& x) {
  auto rows = x.db.scan({});
  while (rows.valid()) {
    const auto key = rows.key();
    const auto in = key.empty() ? table{} : static_cast<table>(key.front());
    if (is_table(in)) {
      rows.seek(prefix_end(std::string{key.substr(0, 1)}));
      continue;
    }
    x.wrong(to_string(in),
            "a row of " + std::to_string(key.size())
              + " bytes of key is in a table that has no writer");
    rows.next();
  }
  if (auto ok = rows.status(); !ok)
    x.damaged("strays", ok.error());
}

/// A store has one partition.
template <table_key Key>
void check_partition(verify_context& x) {
  const auto all = range_of<Key>();
  const auto own = range_of<Key>(x.options.partition);
  for (const auto& range :
       {key_range{all.begin, own.begin}, key_range{own.end, all.end}}) {
    auto rows = x.db.scan(range);
    for (; rows.valid(); rows.next())
      x.wrong(to_string(Key::in),
              "a row is of another partition, or its key is damaged");
    if (auto ok = rows.status(); !ok)
      x.damaged(to_string(Key::in), ok.error());
  }
}

} // namespace

void verify_node(verify_context& x) {
  check_meta(x);
  x.all_rows<stored_bytes, configuration_key>(check_setting);
  check_upstreams(x);
  if (x.options.root != nullptr)
    take_upstreams_of_root(x);
  x.all_rows<listing_row, listing_key>(check_listing);
  x.all_rows<identity_row, identity_key>(check_identity);
  x.all_rows<identity_row, exported_key>(check_exported);
  check_strays(x);
  check_partition<log_block_key>(x);
  check_partition<content_block_key>(x);
  check_partition<record_head_key>(x);
  check_partition<time_index_key>(x);
}

} // namespace weir::storage
