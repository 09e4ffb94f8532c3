#include "storage/verify/verify_context.hpp"

#include <set>

/// The pass over the names of collections: each name must be in use, and the
/// repo that added it must exist.
namespace weir::storage {

void verify_names(verify_context& x) {
  const auto find = [&x](const std::string& name, const char* sentence) {
    x.wrong("collection " + name, sentence);
  };
  std::set<uint32_t> listed;
  x.each<listing_key>(range_of<listing_key>(),
                      [&](const listing_key& key, auto) {
                        listed.insert(key.collection);
                      });
  uint64_t ids = 0;
  x.each_row<counter, collection_id_key>(
    range_of<collection_id_key>(),
    [&](const collection_id_key& key, const counter& id) {
      ++ids;
      if (x.names.id_of(key.name) != id.value)
        find(key.name, "its id belongs to another name");
    });
  x.count("collections", x.names.size());
  if (ids != x.names.size())
    x.wrong("collections", std::to_string(x.names.size()) + " have a name, "
                             + std::to_string(ids) + " an id");
  x.each_row<collection_row, collection_name_key>(
    range_of<collection_name_key>(),
    [&](const collection_name_key& key, const collection_row& row) {
      const auto members = x.db.scan(
        range_of<collection_member_key>(x.options.partition, key.id));
      if (!members.valid() && !listed.contains(key.id))
        find(row.name, "no repo uses it");
      if (!row.repo.empty() && !atproto::valid_did(row.repo))
        find(row.name, "no repo began it");
    });
}

} // namespace weir::storage
