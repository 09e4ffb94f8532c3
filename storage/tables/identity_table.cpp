#include "storage/tables/identity_table.hpp"

#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<std::optional<identity_row>> load_identity(const database& db,
                                                  const atproto::did& repo) {
  return load_row<identity_row>(db, identity_key{repo});
}

result<std::optional<identity_row>> load_exported(const database& db,
                                                  const atproto::did& repo) {
  return load_row<identity_row>(db, exported_key{repo});
}

result<std::vector<atproto::did>> list_exported(const database& db,
                                                size_t limit) {
  return first_rows<identity_row, exported_key>(
    db.scan(range_of<exported_key>()), limit,
    [](exported_key& key, const identity_row&) {
      return std::move(key.repo);
    });
}

result<export_row> load_export_place(const database& db) {
  auto row = load_row<export_row>(db, meta_key{directory_export_row});
  if (!row)
    return row.error();
  return row->value_or(export_row{});
}

} // namespace weir::storage
