#pragma once

#include "storage/disk/database.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/row_access.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/followed_network.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace weir::tests {

/// The result of `weir verify --json`.
struct verdict {
  int status = 0;
  std::string errors;   ///< Standard error.
  std::string findings; ///< Lines as "I3 operation 5 ...".
  std::string newer;    ///< The same for repos that are merely newer at a host.
  /// The same for work that the node has not finished yet.
  std::string unfinished;
  boost::json::object counts;

  uint64_t count(std::string_view what) const;
};

verdict verify(const std::string& data_dir, std::vector<std::string> more = {});

/// The data directory of a node that has followed a network through some
/// traffic, delivered a part of it, and stopped.
class verify_store : public testing::Test {
protected:
  /// @param more Further options of the node.
  explicit verify_store(std::vector<std::string> more = {})
    : more_(std::move(more)) {
    // nop
  }

  void SetUp() override;

  followed_network net{5, 12, 900};
  const temp_dir dir;
  const std::string data = dir.at("data");

private:
  std::vector<std::string> more_;
};

/// A copy of a data directory that can be damaged without the node's writer, so
/// that LevelDB's own checksums stay right. Calls concern the first store,
/// which also has the rows of the node, until `of` selects another.
class damaged_copy {
public:
  explicit damaged_copy(const std::string& data_dir);

  /// Selects the store of this repo for all later calls.
  void of(const atproto::did& repo);

  /// Calls `use` once for each store, which is selected during the call.
  template <class Use>
  void each(Use use) {
    for (size_t i = 0; i < all_.size(); ++i) {
      select(i);
      use();
    }
  }

  const storage::database& db() const noexcept { return *db_; }

  const storage::collection_table& names() const noexcept { return *names_; }

  std::string get(const std::string& key) const;
  void put(const std::string& key, const std::string& value);
  void write(const storage::write_batch& rows);
  void erase(const std::string& key);

  /// Key of the n-th row of a table.
  template <storage::table_key Key>
  Key row_at(size_t n) const {
    auto rows = db_->scan(storage::range_of<Key>());
    for (; rows.valid() && n > 0; --n)
      rows.next();
    return storage::decode_key<Key>(rows.key()).value();
  }

  /// Key of the last row of a table.
  template <storage::table_key Key>
  Key last_row() const {
    return storage::decode_key<Key>(
             db_->last_in(storage::range_of<Key>()).value()->first)
      .value();
  }

  /// Decodes a row, changes it, and writes it back.
  template <class Row, storage::table_key Key, class Change>
  void change(const Key& key, Change edit) {
    const auto raw = encode_key(key);
    auto row = storage::decode_value<Row>(get(raw), Key::in).value();
    edit(row);
    put(raw, storage::encode_value(row));
  }

  /// Closes all stores.
  /// @returns the path of the directory
  std::string close();

private:
  void select(size_t partition);

  const temp_dir dir_;
  const std::string where_;
  std::vector<std::unique_ptr<storage::database>> all_;
  storage::database* db_ = nullptr; ///< The selected store.
  /// The collections of the selected store.
  std::shared_ptr<storage::collection_table> names_;
};

} // namespace weir::tests
