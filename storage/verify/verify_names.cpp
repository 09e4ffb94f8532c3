#include "storage/verify/verify_context.hpp"

#include <set>

/// The pass over the names of collections: each name must be in use, and the
/// repo that added it must exist.
namespace weir::storage {

namespace {

class name_pass {
public:
  explicit name_pass(verify_context& x) : x_(x) {}

  void run() {
    x_.each<listing_key>(range_of<listing_key>(),
                         [this](const listing_key& key, auto) {
                           listed_.insert(key.collection);
                         });
    uint64_t ids = 0;
    x_.each_row<counter, collection_id_key>(
      range_of<collection_id_key>(),
      [&](const collection_id_key& key, const counter& id) {
        ++ids;
        if (x_.names.id_of(key.name) != id.value)
          find(key.name, "its id belongs to another name");
      });
    x_.count("collections", x_.names.size());
    if (ids != x_.names.size())
      x_.wrong("collections", std::to_string(x_.names.size()) + " have a name, "
                                + std::to_string(ids) + " an id");
    x_.each_row<collection_row, collection_name_key>(
      range_of<collection_name_key>(),
      [this](const collection_name_key& key, const collection_row& row) {
        check_users(key.id, row);
      });
  }

private:
  void check_users(uint32_t id, const collection_row& row) {
    auto members
      = x_.db.scan(range_of<collection_member_key>(x_.options.partition, id));
    if (!members.valid() && !listed_.contains(id))
      find(row.name, "no repo uses it");
    if (!row.repo.empty() && !atproto::valid_did(row.repo))
      find(row.name, "no repo began it");
  }

  void find(const std::string& name, std::string sentence) {
    x_.wrong("collection " + name, std::move(sentence));
  }

  verify_context& x_;
  std::set<uint32_t> listed_;
};

} // namespace

void verify_names(verify_context& x) {
  name_pass{x}.run();
}

} // namespace weir::storage
