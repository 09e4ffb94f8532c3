#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"
#include "storage/tables/limits.hpp"

namespace weir::storage {

/// One current record of a repo.
struct head_entry {
  std::string_view collection; ///< Borrowed from the cursor.
  std::string rkey;
  record_head head;

  /// `collection/rkey`, as in the tree.
  std::string path() const;
};

/// Walks the record heads of one repo in the order of its tree, which is the
/// byte order of `collection/rkey`. Heads that `erased_through` covers are
/// skipped.
///
/// # Ownership and threads
/// Borrows the database and names; copies what it needs of the chain. One
/// thread. It keeps no database iterator open between pages, so it may live as
/// long as a fetch. A head that is written meanwhile is seen only if it lies
/// after the cursor.
class head_cursor {
public:
  head_cursor(const database& db, const collection_names& names,
              uint16_t partition, atproto::did repo, const chain_row& chain);

  /// Continues after this path. Both parts may be any text.
  void seek_after(std::string_view collection, std::string_view rkey);

  /// Returns at most `limit` heads; fewer only at the end.
  result<std::vector<head_entry>> next(size_t limit = limits::heads_page_max);

private:
  struct collection {
    std::string name;
    uint32_t id;
  };

  result<bool> read_collection(const collection& from, size_t limit,
                               std::vector<head_entry>& out);
  key_range tids_of(const collection& x) const;
  key_range texts_of(const collection& x) const;

  const database& db_;
  uint16_t partition_;
  atproto::did repo_;
  op_id erased_through_;
  std::vector<collection> collections_; ///< In the order of the tree.
  size_t at_ = 0;
  std::string after_; ///< Last record key returned of this collection.
};

} // namespace weir::storage
