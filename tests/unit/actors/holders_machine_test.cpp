#include "actors/supervisor/holders_machine.hpp"
#include "actors/supervisor/limits.hpp"

#include <gtest/gtest.h>

// SYNC-18: a host that must be asked about each of its accounts.
namespace weir::actors {

namespace {

using answer = holders_machine::answer;
using step = holders_machine::step;

/// The host gives the same answer about an account twice.
step twice(holders_machine& x, answer said) {
  EXPECT_EQ(x.on_answer(said), step::again);
  return x.on_answer(said);
}

} // namespace

TEST(holders_machine, an_answer_that_comes_the_second_time_counts) {
  holders_machine x;
  for (const auto first : {answer::unclear, answer::refused, answer::away}) {
    EXPECT_EQ(x.on_answer(first), step::again);
    EXPECT_EQ(x.on_answer(answer::described), step::next);
  }
  EXPECT_EQ(x.unanswered(), 0u);
}

TEST(holders_machine, damaged_accounts_never_fail_a_page) {
  holders_machine x;
  for (size_t i = 1; i <= 100; ++i) {
    EXPECT_EQ(twice(x, answer::unclear), step::next);
    EXPECT_EQ(x.unanswered(), i);
  }
}

TEST(holders_machine, one_that_describes_accounts_offers_it_whom_it_may_refuse) {
  holders_machine x;
  x.on_answer(answer::described);
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(twice(x, answer::refused), step::next);
}

// The number does not matter: their host has answered.
TEST(holders_machine, an_account_that_is_not_there_is_an_answer) {
  holders_machine x;
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(x.on_answer(answer::absent), step::next);
  EXPECT_EQ(x.unanswered(), 0u);
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(twice(x, answer::refused), step::next) << "it offers the question";
  holders_machine y;
  y.on_known();
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(twice(y, answer::refused), step::next) << "so it did before";
}

// limits::describe_failures_max
TEST(holders_machine, so_many_in_a_row_are_the_hosts_fault_and_one_less_is_not) {
  for (const auto& [said, end] :
       {std::pair{answer::away, step::host_away},
        std::pair{answer::refused, step::not_offered}}) {
    holders_machine x;
    for (size_t i = 1; i < limits::describe_failures_max; ++i)
      EXPECT_EQ(twice(x, said), step::next);
    EXPECT_EQ(twice(x, said), end);
  }
  holders_machine x;
  for (size_t i = 0; i < 100; ++i) {
    x.on_answer(answer::described);
    for (size_t j = 1; j < limits::describe_failures_max; ++j)
      EXPECT_EQ(twice(x, answer::away), step::next);
  }
}

} // namespace weir::actors
