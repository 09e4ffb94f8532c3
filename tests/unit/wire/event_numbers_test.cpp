#include "atproto/limits.hpp"
#include "wire/event_numbers.hpp"

#include <gtest/gtest.h>

// ADR 14: an id never has two contents.
namespace weir::tests {

namespace {

using wire::event_numbers;

constexpr auto number_max = static_cast<uint64_t>(limits::safe_integer_max);

} // namespace

TEST(EventNumbersTest, AreThoseOfTheOperationsInTheFirstEpoch) {
  const event_numbers x;
  for (const uint64_t op : {uint64_t{1}, uint64_t{500}, number_max}) {
    EXPECT_EQ(x.id_of(op).value(), op);
    EXPECT_EQ(x.op_of(op), op);
  }
  EXPECT_EQ(x.epoch(), 1u);
  EXPECT_EQ(x.op_of(0), std::nullopt);
  EXPECT_EQ(x.op_of(number_max + 1), std::nullopt);
  EXPECT_EQ(x.id_of(number_max + 1).error().code, ec::limit_reached);
}

TEST(EventNumbersTest, EachEpochHasIdsOfItsOwn) {
  const event_numbers x{{{501, 10'000}, {601, 30'000}}};
  EXPECT_EQ(x.id_of(500).value(), 500u);
  EXPECT_EQ(x.id_of(501).value(), 10'501u);
  EXPECT_EQ(x.id_of(600).value(), 10'600u);
  EXPECT_EQ(x.id_of(601).value(), 30'601u);
  for (const uint64_t op : {1u, 500u, 501u, 600u, 601u, 5'000u})
    EXPECT_EQ(x.op_of(x.id_of(op).value()), op);
  EXPECT_EQ(x.epoch(), 30'601u);
}

TEST(EventNumbersTest, BetweenTwoEpochsIsNone) {
  const event_numbers x{{{501, 10'000}}};
  EXPECT_EQ(x.op_of(500), 500u);
  EXPECT_EQ(x.op_of(501), std::nullopt);
  EXPECT_EQ(x.op_of(10'500), std::nullopt);
  EXPECT_EQ(x.op_of(10'501), 501u);
}

TEST(EventNumbersTest, AnEpochEndsWhereJsonEnds) {
  const event_numbers x{{{2, number_max - 5}}};
  EXPECT_EQ(x.id_of(5).value(), number_max);
  EXPECT_EQ(x.id_of(6).error().code, ec::limit_reached);
}

TEST(EventNumbersTest, ItsNameTellsEpochsAndLogsApart) {
  const event_numbers first;
  const event_numbers second{{{501, 10'000}}};
  EXPECT_EQ(first.name_of(0xfedcba9876543210), "fedcba9876543210.1");
  EXPECT_EQ(second.name_of(0xfedcba9876543210), "fedcba9876543210.10501");
  EXPECT_EQ(first.name_of(0x1f), "000000000000001f.1");
}

} // namespace weir::tests
