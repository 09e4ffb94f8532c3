#pragma once

#include "storage/log/operation_reader.hpp"
#include "storage/log/stream_reader.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <set>
#include <string>
#include <vector>

namespace weir::tests {

/// Two accounts with records in several collections, for readers of operations.
class OperationFixture : public testing::Test {
protected:
  void apply(test_account& who, repo_update update) {
    who.accept(store.commit(std::move(update)));
  }

  /// alice has two commits, and bob another one between them.
  void write_a_little() {
    apply(alice, alice.appear());
    apply(bob, bob.appear());
    apply(alice, alice.commit({{"app.a.x/1", "one"}, {"app.b.y/1", "two"}}));
    apply(bob, bob.commit({{"app.a.x/1", "of bob"}}));
    apply(alice, alice.commit({{"app.a.x/1", "three"},
                               {"app.a.x/2", "no record", true},
                               {"app.b.y/1", ""}}));
  }

  /// A fetch of this many of alice's records, in transactions of 256.
  void fetch(size_t count) {
    apply(alice, alice.appear(storage::repo_status::syncing));
    for (size_t i = 0; i < count; i += 256) {
      std::vector<change> chunk;
      for (size_t j = i; j < std::min(count, i + 256); ++j)
        chunk.push_back({numbered("app.a.x/", j), "r" + std::to_string(j)});
      apply(alice, alice.chunk(chunk));
    }
    apply(alice, alice.finish());
  }

  /// SWEEPER's work for an account that was erased.
  void sweep(const test_account& who) {
    while (store.writer->erase_step(who.repo).value()) {
    }
  }

  op_id last() const { return store.writer->last_id(); }

  storage::operation_reader log() const { return {*store.db, *store.names, 0}; }

  storage::stream_reader streams() const {
    return {*store.db, *store.names, 0};
  }

  /// All operations that fit, read in pages.
  std::vector<storage::stored_operation>
  read_all(const storage::operation_filter& filter,
           const storage::read_bounds& bounds) const {
    std::vector<storage::stored_operation> out;
    op_id after = 0;
    for (bool more = true; more;) {
      auto page = log().get_since_id(after, last(), filter, bounds).value();
      EXPECT_TRUE(!page.more || page.through > after) << "no progress";
      more = page.more && page.through > after;
      after = page.through;
      for (auto& x : page.found)
        out.push_back(std::move(x));
    }
    EXPECT_EQ(after, last());
    return out;
  }

  test_store store;
  test_account alice{'a'};
  test_account bob{'b'};
};

inline storage::stream_name stream_of(const test_account& who,
                                      const std::string& scope) {
  return {who.repo, scope};
}

/// "scope/index action rkey state" of each operation.
inline std::vector<std::string>
words_of(const std::vector<storage::stored_operation>& all) {
  std::vector<std::string> out;
  for (const auto& x : all)
    out.push_back(x.scope + "/" + std::to_string(x.index) + " "
                  + atproto::to_string(x.action)
                  + (x.rkey.empty() ? "" : " " + x.rkey) + " "
                  + to_string(x.content));
  return out;
}

} // namespace weir::tests
