#include "atproto/limits.hpp"
#include "base/limits.hpp"
#include "base/random.hpp"
#include "wire/position.hpp"

#include <gtest/gtest.h>

#include <set>

// storage-format.md 4: outward ids and opaque positions.
namespace weir::tests {

namespace {

using wire::event_place;
using wire::log_position;

constexpr auto id_max = static_cast<uint64_t>(limits::safe_integer_max);

} // namespace

TEST(EventId, WithOnePartitionIsTheOperationId) {
  for (const uint64_t op : {1ull, 2ull, 1'000'000ull}) {
    EXPECT_EQ(*wire::event_id({0, op}, 1), op);
    EXPECT_EQ(*wire::place_of(op, 1), (event_place{0, op}));
  }
}

TEST(EventId, OfAllPartitionsTogetherUsesEachNumberOnce) {
  constexpr uint16_t partitions = 3;
  std::set<uint64_t> ids;
  for (uint16_t p = 0; p < partitions; ++p)
    for (uint64_t op = 1; op <= 10; ++op) {
      const auto id = *wire::event_id({p, op}, partitions);
      EXPECT_EQ(*wire::place_of(id, partitions), (event_place{p, op}));
      ids.insert(id);
    }
  EXPECT_EQ(ids.size(), 30u);
  EXPECT_EQ(*ids.begin(), 1u);
  EXPECT_EQ(*ids.rbegin(), 30u);
}

TEST(EventId, EndsWhereJsonEnds) {
  EXPECT_EQ(*wire::event_id({0, id_max}, 1), id_max);
  EXPECT_FALSE(wire::event_id({0, id_max + 1}, 1));
  const auto top = *wire::place_of(id_max, 32);
  EXPECT_EQ(*wire::event_id(top, 32), id_max);
  const auto over = top.partition == 31 ? event_place{0, top.op + 1}
                                        : event_place{31, top.op};
  EXPECT_EQ(wire::event_id(over, 32).error().code, ec::limit_reached);
  EXPECT_FALSE(wire::event_id({0, ~0ull}, 256));
}

TEST(EventId, OfAForeignNumberIsNoPlace) {
  EXPECT_FALSE(wire::place_of(0, 1));
  EXPECT_FALSE(wire::place_of(id_max + 1, 1));
  EXPECT_TRUE(wire::place_of(id_max, 1));
}

TEST(Position, ComesBackAsItWas) {
  const auto random = seeded_random(7);
  for (uint16_t partitions = 1; partitions <= 40; ++partitions) {
    log_position x;
    x.log_identity = random->next();
    for (uint16_t i = 0; i < partitions; ++i)
      x.ops.push_back(random->next() >> 11);
    const auto text = wire::to_text(x);
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
                                     "mnopqrstuvwxyz0123456789-_"),
              std::string::npos);
    const auto back = wire::parse_position(text, x.log_identity, partitions);
    ASSERT_TRUE(back) << back.error().context;
    EXPECT_EQ(*back, x);
  }
}

TEST(Position, OfAnotherLogIsAConflict) {
  const auto text = wire::to_text({42, {7}});
  EXPECT_EQ(wire::parse_position(text, 43, 1).error().code, ec::chain_broken);
  EXPECT_EQ(wire::parse_position(text, 42, 2).error().code, ec::chain_broken);
}

TEST(Position, ThatIsNoneIsRefused) {
  const auto good = wire::to_text({42, {7}});
  std::vector<std::string> bad{"",
                               "A",
                               "7",
                               "====",
                               good + "A",
                               "  " + good,
                               good.substr(1),
                               std::string(5000, 'A'),
                               "a/b+c",
                               good + "="};
  for (size_t cut = 1; cut < good.size(); ++cut)
    bad.push_back(good.substr(0, cut));
  for (const auto& text : bad) {
    const auto x = wire::parse_position(text, 42, 1);
    ASSERT_FALSE(x) << text;
    EXPECT_EQ(x.error().code, ec::invalid_argument) << text;
  }
}

TEST(Position, OfTheLargestLogFits) {
  log_position x{1, std::vector<uint64_t>(limits::partitions_max, id_max)};
  EXPECT_TRUE(
    wire::parse_position(wire::to_text(x), 1, limits::partitions_max));
  x.ops.push_back(1);
  EXPECT_EQ(
    wire::parse_position(wire::to_text(x), 1, limits::partitions_max + 1)
      .error()
      .code,
    ec::invalid_argument);
}

} // namespace weir::tests
