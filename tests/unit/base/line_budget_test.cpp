#include "base/line_budget.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

using verdict = line_budget::verdict;

TEST(LineBudgetTest, SomeLinesThenTheLastThenNoneUntilItsTimeIsOver) {
  using namespace std::chrono_literals;
  line_budget x{2, 60s};
  constexpr steady_time begin{7};
  for (const auto from : {begin, begin + 60s}) {
    EXPECT_EQ(x.take(from), verdict::line);
    EXPECT_EQ(x.take(from + 1s), verdict::line);
    EXPECT_EQ(x.take(from + 2s), verdict::last);
    EXPECT_EQ(x.take(from + 3s), verdict::none);
    EXPECT_EQ(x.take(from + 59s + 999'999us), verdict::none);
  }
}

TEST(LineBudgetTest, NoLineAtAllIsTheLastAtOnce) {
  line_budget x{0, std::chrono::seconds{1}};
  EXPECT_EQ(x.take({}), verdict::last);
  EXPECT_EQ(x.take({}), verdict::none);
}

} // namespace
} // namespace weir
