#include "storage/tables/filter_table.hpp"

#include "storage/format/keys.hpp"
#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<std::optional<filter_row>> load_filter(const database& db,
                                              uint16_t dataset) {
  const auto stored
    = load_row<stored_bytes>(db, configuration_key{dataset, filter_setting});
  if (!stored)
    return stored.error();
  if (!*stored)
    return std::optional<filter_row>{};
  auto row = decode_value<filter_row>(as_text((*stored)->value));
  if (!row)
    return row.error();
  return std::optional<filter_row>{std::move(*row)};
}

result<std::optional<std::vector<std::string>>>
kept_collections(const database& db, const database& root,
                 const atproto::did& repo, const repo_row& row,
                 uint16_t dataset) {
  using patterns = std::optional<std::vector<std::string>>;
  auto member = load_row<member_row>(db, member_key{dataset, repo});
  if (!member)
    return member.error();
  if (*member && !(*member)->collections.empty())
    return patterns{std::move((*member)->collections)};
  auto filter = load_filter(root, dataset);
  if (!filter)
    return filter.error();
  if (!*filter)
    return patterns{std::in_place}; // No node has used this store yet.
  return row.filter_generation == (*filter)->generation
           ? patterns{std::move((*filter)->collections)}
           : patterns{};
}

configuration_change filter_change(const filter_row& x, uint16_t dataset) {
  const auto value = encode_value(x);
  const auto view = as_bytes(value);
  return {dataset, filter_setting, bytes{view.begin(), view.end()}};
}

} // namespace weir::storage
