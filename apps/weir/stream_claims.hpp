#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/records.hpp"

#include <string>
#include <vector>

namespace weir::apps {

/// How far the node of a store claims to be, by the streams that it followed:
/// what their hosts told before that is here, or the node has missed it.
class stream_claims {
public:
  static result<stream_claims> load(const storage::database& db);

  /// Of an account at this PDS: a relay tells of all, a PDS of its own.
  /// Microseconds of the day; 0 = nothing is claimed.
  int64_t passed_us(const std::string& pds) const;

  /// The id of a followed host; 0 = none has this origin.
  uint32_t id_of(const std::string& origin) const;

private:
  std::vector<storage::upstream_row> streams_;
};

} // namespace weir::apps
