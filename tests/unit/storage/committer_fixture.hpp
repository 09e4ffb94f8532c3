#pragma once

#include "storage/tables/row_access.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

namespace weir::tests {

/// A store, two accounts, and access to single rows.
class committer_fixture : public testing::Test {
protected:
  /// Commits an update of `who` and gives it the receipt.
  storage::update_receipt apply(test_account& who, repo_update update) {
    auto receipt = store.commit(std::move(update));
    who.accept(receipt);
    return receipt;
  }

  storage::update_receipt only_receipt(const repo_update& update) {
    storage::journal_batch group;
    group.updates.push_back(update);
    auto out = store.writer->commit(group);
    EXPECT_TRUE(out);
    return out ? out->receipts.at(0) : storage::update_receipt{};
  }

  std::optional<storage::record_head> head(const test_account& who,
                                           const std::string& path) {
    const auto parts = atproto::split_path(path);
    const auto id = store.names->id_of(parts.collection);
    if (!id)
      return std::nullopt;
    auto row = storage::load_row<storage::record_head>(
      *store.db,
      storage::record_head_key{0, who.repo, *id, {std::string{parts.rkey}}});
    EXPECT_TRUE(row);
    return *row;
  }

  size_t rows_in(const storage::key_range& range) {
    size_t out = 0;
    for (auto rows = store.db->scan(range); rows.valid(); rows.next())
      ++out;
    return out;
  }

  test_store store;
  test_account alice{'a'};
  test_account bob{'b'};
};

} // namespace weir::tests
