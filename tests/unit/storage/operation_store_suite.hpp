#pragma once

#include "tests/unit/storage/apply_steps.hpp"
#include "tests/unit/storage/store_kinds.hpp"

#include <gmock/gmock.h>

namespace weir::storage {

/// What every operation store does (OPLOG-01 to OPLOG-34). The tests of the
/// suite run on all kinds of stores; each says for which requirement it stands.
class OperationStoreSuite : public testing::TestWithParam<tests::store_kind> {
protected:
  OperationStoreSuite() : kept(GetParam().make()) {}

  void TearDown() override { EXPECT_EQ(kept->findings(), ""); }

  operation_store& store() { return kept->get(); }

  apply_outcome outcome(const tests::apply_step& x) {
    return x.on(store()).outcome;
  }

  void apply(const tests::apply_step& x) {
    const auto receipt = x.on(store());
    ASSERT_EQ(receipt.outcome, apply_outcome::done) << receipt.reason;
  }

  /// alice has two commits, and bob another one between them.
  void write_a_little() {
    apply(alice.fact(identity_scope, "alice.test"));
    apply(alice.commit({{"app.a.x/1", "one"}, {"app.b.y/1", "two"}}));
    apply(bob.commit({{"app.a.x/1", "of bob"}}));
    apply(alice.commit({{"app.a.x/1", "three"},
                        {"app.a.x/2", "no record", true},
                        {"app.b.y/1", ""}}));
  }

  stream_name of(const tests::applying_account& who,
                 const std::string& scope) const {
    return {who.who.repo, scope};
  }

  std::vector<std::string> everything(const read_bounds& bounds = {},
                                      const operation_filter& filter = {}) {
    return tests::all_pages([&](std::optional<uint64_t> after) {
      return store().get_since_id(after.value_or(0), filter, bounds);
    });
  }

  std::vector<uint64_t> indices(const result<operation_page>& page) {
    std::vector<uint64_t> out;
    for (const auto& x : page.value().found)
      out.push_back(x.index);
    return out;
  }

  std::unique_ptr<tests::kept_store> kept;
  tests::applying_account alice{'a'};
  tests::applying_account bob{'b'};
  int written = 0;
};

} // namespace weir::storage
