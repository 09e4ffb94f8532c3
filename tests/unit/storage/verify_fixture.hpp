#pragma once

#include "storage/log/limits.hpp"
#include "storage/tables/row_access.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <gmock/gmock.h>

namespace weir::tests {

/// A valid store of two repos, and ways to damage it without its writer, so
/// that LevelDB's own checksums stay right.
class verify_fixture : public testing::Test {
protected:
  void SetUp() override {
    for (auto* who : {&alice, &bob}) {
      apply(*who, who->appear(storage::repo_status::syncing));
      std::vector<change> all;
      for (size_t i = 0; i < 40; ++i)
        all.push_back({numbered("app.a.x/", i), "record" + std::to_string(i)});
      apply(*who, who->chunk(all));
      apply(*who, who->finish());
    }
    apply(alice, alice.commit({{"app.a.x/000001", "changed"},
                               {"app.a.x/000002", ""},
                               {"app.b.y/big", large}}));
    store.time.advance(std::chrono::minutes{5});
    apply(bob, bob.commit({{"app.b.y/self", "bob"}}));
    apply(alice, alice.commit({{"app.b.y/other", "more"}}));
    ASSERT_EQ(store.findings(), "");
  }

  void apply(test_account& who, repo_update update) {
    who.accept(store.commit(std::move(update)));
  }

  uint32_t collection(const std::string& name) {
    return *store.names->id_of(name);
  }

  std::string head_key(const std::string& path) {
    const auto parts = atproto::split_path(path);
    return encode_key(
      storage::record_head_key{0,
                               alice.repo,
                               collection(std::string{parts.collection}),
                               {std::string{parts.rkey}}});
  }

  /// Decodes a row, changes it, and writes it back.
  template <class Row>
  void change_row(const std::string& key,
                  const std::function<void(Row&)>& change) {
    auto row = storage::decode_value<Row>(store.get_raw(key));
    ASSERT_TRUE(row) << to_string(row.error());
    change(*row);
    store.put_raw(key, storage::encode_value(*row));
  }

  void change_chain(const std::function<void(storage::chain_row&)>& change) {
    const auto key = encode_key(storage::chain_key{alice.repo});
    auto chain
      = storage::decode_chain(store.get_raw(key), *store.names).value().chain;
    change(chain);
    store.put_raw(key, storage::encode_chain(chain, *store.names).value());
  }

  void change_block(op_id first,
                    const std::function<void(storage::log_block&)>& change) {
    const auto key = encode_key(storage::log_block_key{0, first});
    auto block = storage::decode_log_block(store.get_raw(key)).value();
    change(block);
    store.put_raw(key, storage::encode_log_block(block).value());
  }

  void expect(const std::string& invariant, const std::string& words) {
    const auto found = store.findings();
    EXPECT_THAT(found, testing::HasSubstr(words));
    EXPECT_THAT(found, testing::HasSubstr(invariant + " "));
  }

  const std::string large = std::string(limits::inline_refs_min + 1, 'x');
  test_store store;
  test_account alice{'a'};
  test_account bob{'b'};
};

} // namespace weir::tests
