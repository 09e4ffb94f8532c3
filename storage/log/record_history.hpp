#pragma once

#include "storage/disk/database.hpp"
#include "storage/log/stored_operation.hpp"

namespace weir::storage {

/// What the log says about a record at an earlier rev.
struct past_record {
  enum class fate : uint8_t {
    present, ///< `operation` wrote it.
    removed, ///< `operation` deleted it, or a fetch found that it was gone.
    absent,  ///< There was no such record.
    /// The log cannot say: it begins later, or the rev lies between two commits
    /// of which the second one was fetched.
    unknown,
    /// The log was trimmed, and the current version is not the one.
    trimmed,
    too_long, ///< More operations had to be looked at than the bounds allow.
  };

  fate what = fate::absent;
  std::optional<stored_operation> operation;
  /// The newest commit that is known at this rev; undefined: none is.
  atproto::tid as_of;
  /// With `unknown`: the first later commit; undefined: there is none.
  atproto::tid known_from;
};

/// Finds the version that a record had at a rev: that of the operation with the
/// highest rev up to it. It says so only when every change until then is known.
///
/// # What is known
/// The `$commit` operations of a repo are its known commits. A commit that came
/// by a stream follows on the one before it, apart from commits of which
/// nothing was kept, so nothing that is kept was changed between them. A fetch
/// leads to a later commit, and what happened on the way is not known. A record
/// that a fetch brought first may have existed earlier, because its collection
/// was not kept then.
///
/// # Ownership and threads
/// Borrows the database and names. Any number of threads may read at the same
/// time.
///
/// # Errors
/// `ec::cancelled`; `ec::storage_failure` on damage.
class record_history {
public:
  record_history(const database& db, const collection_names& names,
                 uint16_t partition)
    : db_(db), names_(names), partition_(partition) {}

  /// Of the bounds, `looked_max`, `with_content` and `cancelled` count.
  result<past_record> at(const atproto::did& repo,
                         const std::string& collection, const std::string& rkey,
                         atproto::tid rev,
                         const read_bounds& bounds = {}) const;

private:
  result<past_record> find(const atproto::did& repo,
                           const std::string& collection,
                           const std::string& rkey, atproto::tid rev,
                           const read_bounds& bounds) const;

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
};

} // namespace weir::storage
