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
  // Values are not decoded: a damaged row must be removable.
  std::vector<atproto::did> out;
  auto ok = each_value<exported_key>(
    db, range_of<exported_key>(),
    [&](exported_key& key, std::string_view) -> result<bool> {
      if (out.size() < limit)
        out.push_back(std::move(key.repo));
      return out.size() < limit;
    });
  if (!ok)
    return ok.error();
  return out;
}

result<export_row> load_export_place(const database& db) {
  auto row = load_row<export_row>(db, meta_key{directory_export_row});
  if (!row)
    return row.error();
  return row->value_or(export_row{});
}

} // namespace weir::storage
