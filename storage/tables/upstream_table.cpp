#include "storage/tables/upstream_table.hpp"

#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<std::vector<upstream_row>> load_upstreams(const database& db) {
  std::vector<upstream_row> out;
  auto ok = each_row<upstream_row, upstream_key>(
    db, range_of<upstream_key>(), [&](const upstream_key&, upstream_row& row) {
      out.push_back(std::move(row));
      return true;
    });
  if (!ok)
    return ok.error();
  return out;
}

result<std::optional<listing_row>> load_listing(const database& db,
                                                const collection_names& names,
                                                uint32_t upstream,
                                                std::string_view collection) {
  uint32_t id = 0;
  if (!collection.empty()) {
    const auto known = names.id_of(collection);
    if (!known)
      return std::optional<listing_row>{};
    id = *known;
  }
  return load_row<listing_row>(db, listing_key{upstream, id});
}

} // namespace weir::storage
