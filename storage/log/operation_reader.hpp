#pragma once

#include "storage/disk/database.hpp"
#include "storage/log/stored_operation.hpp"

namespace weir::storage {

/// Which operations of a log are wanted.
struct operation_filter {
  std::optional<atproto::did> repo;        ///< Nothing: of all repos.
  std::vector<std::string> scopes;         ///< Empty: of all scopes.
  std::vector<atproto::op_action> actions; ///< Empty: all.
  bool with_erased = true; ///< Those whose content is or will be erased, too.
};

/// Reads the log of one partition, operation by operation, over all streams.
/// `stream_reader` reads one stream.
///
/// # Ownership and threads
/// Borrows the database and names. Any number of threads may read at the same
/// time.
///
/// # Errors
/// `ec::cancelled`; `ec::not_found` when the beginning of the log was removed;
/// `ec::storage_failure` on damage.
class operation_reader {
public:
  operation_reader(const database& db, const collection_names& names,
                   uint16_t partition)
    : db_(db), names_(names), partition_(partition) {}

  /// Returns the operations after `after`, up to `durable`, that fit the filter
  /// (OPLOG-15). Ids begin with 1, so after 0 comes the first one. The bound of
  /// operations counts only those that fit, so pages are full also when few do.
  result<operation_page> get_since_id(op_id after, op_id durable,
                                      const operation_filter& filter = {},
                                      const read_bounds& bounds = {}) const;

private:
  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
};

} // namespace weir::storage
