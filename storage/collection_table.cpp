#include "storage/collection_table.hpp"

#include "storage/database.hpp"

#include <mutex>

namespace weir::storage {

result<std::unique_ptr<collection_table>>
collection_table::load(const database& db) {
  std::unique_ptr<collection_table> out{new collection_table};
  auto rows = db.scan(range_of<collection_name_key>());
  for (; rows.valid(); rows.next()) {
    auto key = decode_key<collection_name_key>(rows.key());
    if (!key)
      return key.error();
    auto name = decode_value<stored_bytes>(rows.value());
    if (!name)
      return name.error();
    if (out->remember(std::string{as_text(name->value)}) != key->id)
      return fail(ec::storage_failure, "collection ids have a hole before "
                                         + std::to_string(key->id));
  }
  if (auto ok = rows.status(); !ok)
    return ok.error();
  return out;
}

std::optional<uint32_t> collection_table::id_of(std::string_view name) const {
  const std::shared_lock guard{mutex_};
  const auto i = ids_.find(name);
  return i == ids_.end() ? std::nullopt : std::optional{i->second};
}

std::optional<std::string_view> collection_table::name_of(uint32_t id) const {
  const std::shared_lock guard{mutex_};
  if (id < first_collection_id || id - first_collection_id >= names_.size())
    return std::nullopt;
  return names_[id - first_collection_id];
}

size_t collection_table::size() const {
  const std::shared_lock guard{mutex_};
  return names_.size();
}

uint32_t collection_table::add(std::string_view name, write_batch& batch) {
  const std::unique_lock guard{mutex_};
  const auto id = remember(std::string{name});
  const auto text = as_bytes(name);
  batch.put(encode_key(collection_name_key{id}),
            encode_value(stored_bytes{{text.begin(), text.end()}}));
  batch.put(encode_key(collection_id_key{std::string{name}}),
            encode_value(counter{id}));
  return id;
}

uint32_t collection_table::remember(std::string name) {
  const auto id = static_cast<uint32_t>(first_collection_id + names_.size());
  names_.push_back(std::move(name));
  ids_.emplace(names_.back(), id);
  return id;
}

} // namespace weir::storage
