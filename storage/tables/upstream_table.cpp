#include "storage/tables/upstream_table.hpp"

#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<std::vector<upstream_row>> load_upstreams(const database& db) {
  return first_rows<upstream_row, upstream_key>(
    db.scan(range_of<upstream_key>()), SIZE_MAX,
    [](const upstream_key&, upstream_row& row) {
      return std::move(row);
    });
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
