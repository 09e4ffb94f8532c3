#pragma once

#include "storage/values.hpp"

#include <deque>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

namespace weir::storage {

class database;
class write_batch;

/// Names and 4-byte ids of all collections of a store.
///
/// # Ownership and threads
/// Any thread may look up; only the committer adds. Names never move.
///
/// # Limits
/// `limits::collections_max`.
class collection_table final : public collection_names {
public:
  static result<std::unique_ptr<collection_table>> load(const database& db);

  std::optional<uint32_t> id_of(std::string_view name) const override;

  std::optional<std::string_view> name_of(uint32_t id) const override;

  size_t size() const;

  /// Gives `name` the next id and adds its rows to `batch`.
  /// @pre `name` has no id and `size() < limits::collections_max`
  uint32_t add(std::string_view name, write_batch& batch);

private:
  collection_table() = default;

  uint32_t remember(std::string name);

  mutable std::shared_mutex mutex_;
  std::deque<std::string> names_; ///< By id, from `first_collection_id`.
  std::unordered_map<std::string_view, uint32_t> ids_;
};

} // namespace weir::storage
