#pragma once

#include "storage/format/values.hpp"
#include "storage/tables/limits.hpp"
#include "storage/tables/name_shares.hpp"

#include <map>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

namespace weir::storage {

class database;
class write_batch;

/// Names and 4-byte ids of all collections of a store. A name is kept as long
/// as some repo has rows of the collection (a row in the table of collection
/// members) or a listing of it is kept. Its id is never used for another name,
/// because the log refers to it for ever.
///
/// # Ownership and threads
/// Any thread may look names up; only the committer changes the table.
///
/// # Limits
/// `limits::collections_max` names, and the number of bytes given to `load`. An
/// update whose new names exceed these, or the share of its repo or host, is
/// refused.
class collection_table final : public collection_names {
public:
  static result<std::unique_ptr<collection_table>>
  load(const database& db, size_t bytes_max = limits::names_bytes_max);

  std::optional<uint32_t> id_of(std::string_view name) const override;

  std::optional<std::string> name_of(uint32_t id) const override;

  bool was_given(uint32_t id) const override;

  size_t size() const;

  /// Approximate memory of all names, in bytes.
  size_t bytes() const;

  /// Says in words why `who` may not add these names; empty when it may.
  std::string refusal(const std::vector<std::string>& names,
                      const name_user& who) const;

  /// Notes that `who` uses `name`. A name without an id gets one, and then
  /// counts in the share of `who`.
  /// @pre `refusal` is empty, when the name has no id
  uint32_t use(const std::string& name, const name_user& who,
               write_batch& batch);

  /// Keeps `name` for a listing, even when no repo uses it. It counts in no
  /// share.
  uint32_t keep(const std::string& name, write_batch& batch);

  /// Removes a name of which no repo has rows any more, unless it is kept.
  void free(uint32_t id, write_batch& batch);

private:
  struct entry {
    collection_row row;
    bool kept = false; ///< A listing of it exists.
  };

  explicit collection_table(size_t bytes_max) : shares_(bytes_max) {}

  result<void> read_names(const database& db);
  result<void> read_kept(const database& db);
  uint32_t insert(collection_row row, write_batch& batch);

  mutable std::shared_mutex mutex_;
  std::map<uint32_t, entry> names_;
  /// Ids of the entries of `names_`.
  std::unordered_map<std::string_view, uint32_t> ids_;
  uint32_t next_ = first_collection_id;
  name_shares shares_;
};

} // namespace weir::storage
