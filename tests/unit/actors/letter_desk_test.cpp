#include "actors/consumer/letter_desk.hpp"
#include "actors/consumer/limits.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

namespace {

using namespace weir::actors;
using desk_answers = std::vector<result<letters_report>>;

void add_order(letter_desk& desk, desk_answers& to, bool retry = true) {
  letters_order out;
  out.retry = retry;
  out.ids = {7};
  desk.add(std::move(out), [&to](const auto& x) {
    to.push_back(x);
  });
}

/// One letter was found, and there is nothing else to report.
letters_found one_found() {
  letters_found out;
  out.judged = true;
  out.letters->push_back({7, nullptr, true});
  return out;
}

letters_report one_done() {
  letters_report out;
  out.done = {7};
  return out;
}

} // namespace

TEST(LetterDeskTest, OneIsAnsweredWhenItIsDurableAndTheNextBeginsThen) {
  letter_desk desk;
  desk_answers got;
  add_order(desk, got);
  add_order(desk, got);
  ASSERT_NE(desk.begin(), nullptr);
  EXPECT_EQ(desk.begin(), nullptr) << "another one is under way";
  desk.decide("channel", wire::event_numbers{}, one_found(), one_done());
  desk.on_durable(); // This ends a write that began earlier.
  EXPECT_TRUE(got.empty());
  desk.on_write();
  EXPECT_EQ(desk.begin(), nullptr);
  desk.on_durable();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0]->done, std::vector<storage::op_id>{7});
  EXPECT_NE(desk.begin(), nullptr);
}

TEST(LetterDeskTest, WhereNothingIsToBeWrittenTheAnswerComesAtOnce) {
  letter_desk desk;
  desk_answers got;
  add_order(desk, got);
  desk.begin();
  letters_found none;
  none.unknown = {7};
  desk.decide("channel", wire::event_numbers{}, none, {});
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0]->unknown, std::vector<storage::op_id>{7});
  add_order(desk, got);
  desk.begin();
  desk.fail(fail(ec::storage_failure, "broken"));
  EXPECT_EQ(got[1].error().code, ec::storage_failure);
}

TEST(LetterDeskTest, ARetryIsForWhatIsCurrentAndADropForAll) {
  using fate = letter_wish::fate;
  const auto wish = [](bool retry, bool current) {
    letter_desk desk;
    desk_answers got;
    add_order(desk, got, retry);
    desk.begin();
    auto found = one_found();
    found.letters->at(0).current = current;
    return desk.wishes(found).at(0).what;
  };
  EXPECT_EQ(wish(true, true), fate::deliver);
  EXPECT_EQ(wish(true, false), fate::outdated);
  EXPECT_EQ(wish(false, true), fate::drop);
  EXPECT_EQ(wish(false, false), fate::drop);
}

// limits::dead_letters_orders_max
TEST(LetterDeskTest, SoManyWaitAndNotOneMore) {
  letter_desk desk;
  desk_answers got;
  for (size_t i = 0; i < limits::dead_letters_orders_max; ++i)
    add_order(desk, got);
  EXPECT_TRUE(got.empty());
  add_order(desk, got);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].error().code, ec::rate_limited);
}

} // namespace weir::tests
