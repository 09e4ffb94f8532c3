#include "storage/filter_table.hpp"

#include "storage/keys.hpp"
#include "storage/row_access.hpp"

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

configuration_change filter_change(const filter_row& x, uint16_t dataset) {
  const auto value = encode_value(x);
  const auto view = as_bytes(value);
  return {dataset, filter_setting, bytes{view.begin(), view.end()}};
}

} // namespace weir::storage
