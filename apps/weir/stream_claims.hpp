#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/records.hpp"

#include <string>
#include <vector>

namespace weir::apps {

/// Up to which time a node claims to have everything, by the streams that it
/// followed: what hosts sent before that time must be in its store.
class stream_claims {
public:
  static result<stream_claims> load(const storage::database& db);

  /// The time for accounts of this PDS, in microseconds since 1970; 0 when
  /// nothing is claimed. A relay's stream has all accounts, the stream of a PDS
  /// only its own.
  int64_t passed_us(const std::string& pds) const;

  /// The upstream id of a followed origin; 0 when none has it.
  uint32_t id_of(const std::string& origin) const;

private:
  std::vector<storage::upstream_row> streams_;
};

} // namespace weir::apps
