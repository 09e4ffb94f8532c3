#include "actors/consumer/letter_rules.hpp"

#include <gtest/gtest.h>

// docs/api.md, retry: which dead letters are delivered again.
namespace weir::tests {

namespace {

using namespace weir::actors;

storage::log_entry_ptr logged(storage::op_id first,
                              std::vector<std::string> scopes) {
  auto out = std::make_shared<storage::log_entry>();
  out->first = first;
  for (auto& scope : scopes)
    out->ops.emplace_back().scope = std::move(scope);
  return out;
}

storage::log_entry written(storage::op_id id, atproto::op_action how) {
  storage::log_entry out = *logged(id, {"app.test"});
  out.ops[0].action = how;
  return out;
}

std::optional<storage::record_head> written_by(storage::op_id id) {
  storage::record_head out;
  out.op = id;
  return out;
}

} // namespace

TEST(letter_rules, a_fact_is_current_until_its_account_has_a_later_one) {
  const auto own = logged(7, {std::string{storage::account_scope}});
  EXPECT_TRUE(is_current_fact(7, {}));
  EXPECT_TRUE(is_current_fact(7, {own}));
  EXPECT_TRUE(is_current_fact(7, {own, logged(8, {"app.test"})}))
    << "a record replaces no fact";
  EXPECT_FALSE(is_current_fact(
    7, {own, logged(9, {std::string{storage::identity_scope}})}));
  EXPECT_FALSE(is_current_fact(
    7, {logged(7, {std::string{storage::account_scope},
                   std::string{storage::identity_scope}})}))
    << "the later one may be of the same transaction";
}

TEST(letter_rules, a_record_is_current_while_its_own_event_wrote_it_last) {
  using atproto::op_action;
  for (const auto how : {op_action::create, op_action::update}) {
    EXPECT_TRUE(is_current_record(written(7, how), 7, written_by(7)));
    EXPECT_FALSE(is_current_record(written(7, how), 7, written_by(8)));
    EXPECT_FALSE(is_current_record(written(7, how), 7, std::nullopt));
  }
}

TEST(letter_rules, a_deletion_is_current_while_the_record_is_away) {
  const auto gone = written(7, atproto::op_action::remove);
  EXPECT_TRUE(is_current_record(gone, 7, std::nullopt));
  EXPECT_FALSE(is_current_record(gone, 7, written_by(8)));
}

TEST(letter_rules, what_was_erased_is_never_current) {
  for (const auto how :
       {atproto::op_action::create, atproto::op_action::remove}) {
    auto x = written(7, how);
    x.erased = true;
    EXPECT_FALSE(is_current_record(x, 7, written_by(7)));
    EXPECT_FALSE(is_current_record(x, 7, std::nullopt));
  }
}

} // namespace weir::tests
