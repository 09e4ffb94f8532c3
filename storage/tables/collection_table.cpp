#include "storage/tables/collection_table.hpp"

#include "storage/tables/row_access.hpp"

#include <limits>
#include <mutex>

namespace weir::storage {

namespace {

std::string next_id_key() {
  return encode_key(meta_key{"next_collection_id"});
}

/// The row that a name gets when `who` adds it.
collection_row owned_by(const std::string& name, const name_user& who) {
  return {name, std::string{who.host}, std::string{who.repo}};
}

} // namespace

// -- start --------------------------------------------------------------------

result<std::unique_ptr<collection_table>>
collection_table::load(const database& db, size_t bytes_max) {
  std::unique_ptr<collection_table> out{new collection_table{bytes_max}};
  if (auto ok = out->read_names(db); !ok)
    return ok.error();
  if (auto ok = out->read_kept(db); !ok)
    return ok.error();
  return out;
}

result<void> collection_table::read_names(const database& db) {
  const auto next = load_row<counter>(db, meta_key{"next_collection_id"});
  if (!next)
    return next.error();
  if (*next)
    next_ = static_cast<uint32_t>((*next)->value);
  return each_row<collection_row, collection_name_key>(
    db, range_of<collection_name_key>(),
    [this](const collection_name_key& key,
           collection_row& row) -> result<bool> {
      if (key.id < first_collection_id || key.id >= next_)
        return fail(ec::storage_failure, "a collection has the id "
                                           + std::to_string(key.id)
                                           + ", which was never given");
      shares_.add(row);
      const auto& kept
        = names_.try_emplace(key.id, entry{std::move(row)}).first->second;
      ids_.emplace(kept.row.name, key.id);
      return true;
    });
}

result<void> collection_table::read_kept(const database& db) {
  return each_value<listing_key>(
    db, range_of<listing_key>(),
    [this](const listing_key& key, std::string_view) {
      if (const auto i = names_.find(key.collection); i != names_.end())
        i->second.kept = true;
      return true;
    });
}

// -- looking up ---------------------------------------------------------------

std::optional<uint32_t> collection_table::id_of(std::string_view name) const {
  const std::shared_lock guard{mutex_};
  const auto i = ids_.find(name);
  return i == ids_.end() ? std::nullopt : std::optional{i->second};
}

std::optional<std::string> collection_table::name_of(uint32_t id) const {
  const std::shared_lock guard{mutex_};
  const auto i = names_.find(id);
  return i == names_.end() ? std::nullopt : std::optional{i->second.row.name};
}

bool collection_table::was_given(uint32_t id) const {
  const std::shared_lock guard{mutex_};
  return id >= first_collection_id && id < next_;
}

size_t collection_table::size() const {
  const std::shared_lock guard{mutex_};
  return names_.size();
}

size_t collection_table::bytes() const {
  const std::shared_lock guard{mutex_};
  return shares_.bytes();
}

// -- the committer's ----------------------------------------------------------

std::string collection_table::refusal(const std::vector<std::string>& names,
                                      const name_user& who) const {
  const std::shared_lock guard{mutex_};
  size_t fresh = 0;
  size_t bytes = 0;
  for (const auto& name : names)
    if (!ids_.contains(name)) {
      ++fresh;
      bytes += name_shares::cost_of(owned_by(name, who));
    }
  if (fresh == 0)
    return "";
  if (names_.size() + fresh > limits::collections_max
      || fresh > std::numeric_limits<uint32_t>::max() - next_)
    return "more collections than the store can hold";
  return shares_.refusal(who, bytes);
}

uint32_t collection_table::use(const std::string& name, const name_user& who,
                               write_batch& batch) {
  const std::unique_lock guard{mutex_};
  const auto known = ids_.find(name);
  return known == ids_.end() ? insert(owned_by(name, who), batch)
                             : known->second;
}

uint32_t collection_table::keep(const std::string& name, write_batch& batch) {
  const std::unique_lock guard{mutex_};
  const auto known = ids_.find(name);
  const auto id
    = known != ids_.end() ? known->second : insert({name, {}, {}}, batch);
  names_.at(id).kept = true;
  return id;
}

uint32_t collection_table::insert(collection_row row, write_batch& batch) {
  const auto id = next_++;
  batch.put(encode_key(collection_name_key{id}), encode_value(row));
  batch.put(encode_key(collection_id_key{row.name}), encode_value(counter{id}));
  batch.put(next_id_key(), encode_value(counter{next_}));
  shares_.add(row);
  const auto& kept
    = names_.try_emplace(id, entry{std::move(row)}).first->second;
  ids_.emplace(kept.row.name, id);
  return id;
}

void collection_table::free(uint32_t id, write_batch& batch) {
  const std::unique_lock guard{mutex_};
  const auto i = names_.find(id);
  if (i == names_.end() || i->second.kept)
    return;
  batch.erase(encode_key(collection_name_key{id}));
  batch.erase(encode_key(collection_id_key{i->second.row.name}));
  shares_.remove(i->second.row);
  ids_.erase(i->second.row.name);
  names_.erase(i);
}

} // namespace weir::storage
