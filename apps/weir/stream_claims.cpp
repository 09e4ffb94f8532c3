#include "apps/weir/stream_claims.hpp"

#include "storage/tables/upstream_table.hpp"

#include <algorithm>

namespace weir::apps {

result<stream_claims> stream_claims::load(const storage::database& db) {
  auto rows = storage::load_upstreams(db);
  if (!rows)
    return rows.error();
  stream_claims out;
  out.streams_ = std::move(*rows);
  return out;
}

int64_t stream_claims::passed_us(const std::string& pds) const {
  int64_t out = 0;
  for (const auto& x : streams_)
    if (x.relay || x.url == pds)
      out = std::max(out, x.passed_us);
  return out;
}

uint32_t stream_claims::id_of(const std::string& origin) const {
  const auto i
    = std::find_if(streams_.begin(), streams_.end(), [&](const auto& x) {
        return x.url == origin;
      });
  return i == streams_.end() ? 0 : i->id;
}

} // namespace weir::apps
