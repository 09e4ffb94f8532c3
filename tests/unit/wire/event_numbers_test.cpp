#include "atproto/limits.hpp"
#include "wire/event_numbers.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

// docs/adr/0026-partitions.md: (op - 1) x P + p + 1
TEST(EventNumbersTest, PartitionsTakeTurns) {
  const event_numbers first{{}, 0, 4};
  const event_numbers last{{}, 3, 4};
  EXPECT_EQ(first.id_of(1).value(), 1u);
  EXPECT_EQ(last.id_of(1).value(), 4u);
  EXPECT_EQ(first.id_of(2).value(), 5u);
  EXPECT_EQ(last.id_of(7).value(), 28u);
  EXPECT_EQ(last.op_of(28), 7u);
  EXPECT_EQ(first.op_of(28), std::nullopt) << "another partition's";
  EXPECT_EQ(last.epoch(), 4u);
}

TEST(EventNumbersTest, AnEpochOfAPartitionHasItsTurns) {
  const event_numbers x{{{501, 10'000}}, 1, 4};
  EXPECT_EQ(x.id_of(500).value(), 499u * 4 + 2);
  EXPECT_EQ(x.id_of(501).value(), 10'500u * 4 + 2);
  EXPECT_EQ(x.op_of(10'500u * 4 + 2), 501u);
  EXPECT_EQ(x.op_of(10'499u * 4 + 2), std::nullopt);
  EXPECT_EQ(x.epoch(), 10'500u * 4 + 2);
}

TEST(EventNumbersTest, ACursorIsAnIdOfAnyPartition) {
  const event_numbers x{{{3, 100}}, 1, 4};
  const std::vector<std::pair<uint64_t, uint64_t>> last_until{
    {0, 0}, {1, 0}, {2, 1}, {5, 1}, {6, 2}, {400, 2}, {410, 3}, {413, 3},
    {414, 4}};
  for (const auto& [id, op] : last_until)
    EXPECT_EQ(x.last_op_until(id), op) << id;
  EXPECT_EQ(event_numbers{}.last_op_until(UINT64_MAX), number_max);
}

TEST(EventNumbersTest, ItsNameTellsEpochsAndLogsApart) {
  const event_numbers first;
  const event_numbers second{{{501, 10'000}}};
  EXPECT_EQ(first.name_of(0xfedcba9876543210), "fedcba9876543210.1");
  EXPECT_EQ(second.name_of(0xfedcba9876543210), "fedcba9876543210.10501");
  EXPECT_EQ(first.name_of(0x1f), "000000000000001f.1");
}

} // namespace weir::tests
