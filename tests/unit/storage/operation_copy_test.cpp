#include "storage/log/operation_copy.hpp"

#include "tests/unit/storage/apply_steps.hpp"
#include "tests/unit/storage/store_kinds.hpp"

#include <gmock/gmock.h>

// Copies of logs from any kind of store to any other one (OPLOG-02).

namespace weir::storage {
namespace {

using tests::all_pages;
using tests::kept_store;
using testing::HasSubstr;

class OperationCopyTest : public testing::Test {
protected:
  void fill(kept_store& to, size_t commits) {
    for (size_t i = 0; i < commits; ++i) {
      auto& who = i % 3 == 0 ? bob : alice;
      std::vector<tests::change> changes;
      for (size_t j = 0; j < 1 + i % 5; ++j)
        changes.push_back({"app.c" + std::to_string(j % 2) + ".x/"
                             + std::to_string(i) + std::to_string(j),
                           std::string(1 + i * j, 'r')});
      EXPECT_EQ(who.commit(changes).on(to.get()).outcome, apply_outcome::done);
      if (i % 4 != 0)
        continue;
      const auto handle = "h" + std::to_string(i) + ".test";
      EXPECT_EQ(who.fact(identity_scope, handle).on(to.get()).outcome,
                apply_outcome::done);
    }
  }

  static std::vector<std::string> everything(kept_store& x) {
    return all_pages([&](std::optional<uint64_t> after) {
      return x.get().get_since_id(after.value_or(0));
    });
  }

  result<copy_counts> copy(kept_store& from, kept_store& to) {
    copy_options how;
    how.target = [&](const atproto::did&) -> result<operation_store*> {
      return &to.get();
    };
    how.cancelled = cancelled;
    return copy_operations(from.get(), how);
  }

  std::function<bool()> cancelled;
  tests::applying_account alice{'a'};
  tests::applying_account bob{'b'};
};

TEST_F(OperationCopyTest, ACopyIsEqualWhateverTheKinds) {
  const auto kinds = tests::store_kinds();
  const auto first = kinds.front().make();
  fill(*first, 30);
  const auto all = everything(*first);
  for (const auto& from_kind : kinds) {
    const auto middle = from_kind.make();
    ASSERT_TRUE(copy(*first, *middle));
    for (const auto& to_kind : kinds) {
      const auto last = to_kind.make();
      const auto counts = copy(*middle, *last);
      ASSERT_TRUE(counts) << to_string(counts.error());
      EXPECT_EQ(counts->operations, first->get().last_id());
      EXPECT_EQ(counts->present + counts->left_out, 0u);
      EXPECT_EQ(everything(*last), all) << from_kind.name << to_kind.name;
      last->reopen();
      EXPECT_EQ(last->findings(), "");
    }
  }
}

// A transaction that no page has room for.
TEST_F(OperationCopyTest, ATransactionIsCopiedWholeHoweverLargeItIs) {
  const auto kinds = tests::store_kinds();
  const auto from = kinds.front().make();
  std::vector<tests::change> large;
  for (int i = 0; i < 4; ++i)
    large.push_back({"app.a.x/" + std::to_string(i),
                     std::string(limits::log_page_bytes_max - 1, 'x')});
  EXPECT_EQ(alice.commit(large).on(from->get()).outcome, apply_outcome::done);
  const auto to = kinds.back().make();
  const auto counts = copy(*from, *to);
  ASSERT_TRUE(counts) << to_string(counts.error());
  EXPECT_EQ(counts->transactions, 1u);
  EXPECT_EQ(everything(*to), everything(*from));
}

TEST_F(OperationCopyTest, ACopyThatWasInterruptedGoesOn) {
  const auto kinds = tests::store_kinds();
  const auto from = kinds.front().make();
  fill(*from, 20);
  const auto to = kinds.back().make();
  int asked = 0;
  cancelled = [&] {
    return ++asked > 40; // Reading asks as well, before each block.
  };
  EXPECT_EQ(copy(*from, *to).error().code, ec::cancelled);
  const auto part = to->get().last_id();
  EXPECT_GT(part, 0u);
  EXPECT_LT(part, from->get().last_id());
  to->reopen();
  cancelled = {};
  const auto rest = copy(*from, *to);
  ASSERT_TRUE(rest) << to_string(rest.error());
  EXPECT_EQ(rest->present, part);
  EXPECT_EQ(everything(*to), everything(*from));
}

TEST_F(OperationCopyTest, ATargetThatHasSomethingElseIsRefused) {
  const auto kinds = tests::store_kinds();
  const auto from = kinds.front().make();
  const auto to = kinds.back().make();
  fill(*from, 5);
  tests::applying_account other{'b'};
  EXPECT_EQ(other.commit({{"app.c0.x/1", "other"}}).on(to->get()).outcome,
            apply_outcome::done);
  const auto copied = copy(*from, *to);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ec::invalid_argument);
  EXPECT_THAT(copied.error().context, HasSubstr("revision_mismatch"));
}

TEST_F(OperationCopyTest, ReposWithoutATargetAreLeftOut) {
  const auto kinds = tests::store_kinds();
  const auto from = kinds.front().make();
  const auto to = kinds.back().make();
  fill(*from, 12);
  copy_options how;
  how.target = [&](const atproto::did& repo) -> result<operation_store*> {
    return repo == bob.who.repo ? nullptr : &to->get();
  };
  const auto counts = copy_operations(from->get(), how);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->operations + counts->left_out, from->get().last_id());
  EXPECT_EQ(to->get().next_index({bob.who.repo, "$commit"}).value(), 0u);
  EXPECT_EQ(to->get().next_index({alice.who.repo, "$commit"}).value(),
            from->get().next_index({alice.who.repo, "$commit"}).value());
}

} // namespace
} // namespace weir::storage
