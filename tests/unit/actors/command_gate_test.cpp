#include "actors/router/command_gate.hpp"

#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using gate = command_gate<int>;

gate gate_with(size_t resident_max, int commands) {
  gate out{resident_max};
  for (int i = 1; i <= commands; ++i)
    out.add(i);
  return out;
}

TEST(command_gate, half_of_the_residents_and_no_more_are_at_work) {
  auto x = gate_with(4, 4);
  EXPECT_EQ(x.next(0), 1);
  EXPECT_EQ(x.next(1), 2);
  EXPECT_EQ(x.next(2), std::nullopt);
  x.done();
  EXPECT_EQ(x.next(2), 3);
  EXPECT_EQ(x.next(3), std::nullopt);
}

TEST(command_gate, one_at_a_time_while_too_many_have_not_ended) {
  auto x = gate_with(4, 3);
  EXPECT_EQ(x.next(6), 1);
  EXPECT_EQ(x.next(6), std::nullopt);
  EXPECT_EQ(x.next(5), 2) << "one below";
  x.done();
  x.done();
  EXPECT_EQ(x.next(1'000), 3);
}

TEST(command_gate, none_overtakes_one_that_has_to_wait) {
  auto x = gate_with(4, 1);
  EXPECT_EQ(x.next(0), 1);
  x.add(2);
  EXPECT_EQ(x.next(6), std::nullopt);
  x.add(3);
  EXPECT_EQ(x.next(0), 2);
  x.done();
  EXPECT_EQ(x.next(0), 3);
}

TEST(command_gate, the_smallest_shard_has_one_at_work) {
  auto x = gate_with(0, 2);
  EXPECT_EQ(x.next(0), 1);
  EXPECT_EQ(x.next(0), std::nullopt);
  x.done();
  EXPECT_EQ(x.next(0), 2);
  EXPECT_EQ(x.next(0), std::nullopt);
}

} // namespace
} // namespace weir::actors
