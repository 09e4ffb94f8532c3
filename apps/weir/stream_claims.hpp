#pragma once

#include "storage/tables/upstream_table.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weir::apps {

/// The time up to which a node claims to have everything, by the streams that
/// it followed: what hosts sent before that time must be in its store.
class stream_claims {
public:
  static result<stream_claims> load(const storage::database& db) {
    auto rows = storage::load_upstreams(db);
    if (!rows)
      return rows.error();
    stream_claims out;
    out.streams_ = std::move(*rows);
    return out;
  }

  /// The time for accounts of this PDS, in microseconds since 1970; 0 when
  /// nothing is claimed. A relay's stream has all accounts, the stream of a PDS
  /// only its own.
  int64_t passed_us(const std::string& pds) const {
    int64_t out = 0;
    for (const auto& x : streams_)
      if (x.relay || x.url == pds)
        out = std::max(out, x.passed_us);
    return out;
  }

  /// The upstream id of a followed origin; 0 when none has it.
  uint32_t id_of(const std::string& origin) const {
    const auto i
      = std::ranges::find(streams_, origin, &storage::upstream_row::url);
    return i == streams_.end() ? 0 : i->id;
  }

private:
  std::vector<storage::upstream_row> streams_;
};

} // namespace weir::apps
