#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace weir {

namespace {

/// Returns the given numbers.
class scripted_random : public random_source {
public:
  explicit scripted_random(std::vector<uint64_t> script)
    : script_(std::move(script)) {
    // nop
  }

  uint64_t next() override { return script_.at(at_++); }

  size_t drawn() const { return at_; }

private:
  std::vector<uint64_t> script_;
  size_t at_ = 0;
};

} // namespace

TEST(RandomTest, EqualSeedsGiveEqualSequences) {
  const auto first = seeded_random(7);
  const auto second = seeded_random(7);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(first->next(), second->next());
}

TEST(RandomTest, DifferentSeedsGiveDifferentSequences) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 100; ++seed)
    seen.insert(seeded_random(seed)->next());
  EXPECT_EQ(seen.size(), 100u);
}

// A simulation that is repeated on another machine must have the same world.
TEST(RandomTest, TheSeededSequenceIsFrozen) {
  const auto random = seeded_random(42);
  EXPECT_EQ(random->next(), 1546998764402558742u);
  EXPECT_EQ(random->next(), 6990951692964543102u);
  EXPECT_EQ(random->next(), 12544586762248559009u);
}

TEST(RandomTest, BelowStaysBelowAndReachesEveryValue) {
  const auto random = seeded_random(1);
  std::array<int, 6> hits{};
  for (int i = 0; i < 6000; ++i)
    ++hits.at(random->below(6));
  for (const auto n : hits) {
    EXPECT_GT(n, 800);
    EXPECT_LT(n, 1200);
  }
  EXPECT_EQ(random->below(1), 0u);
}

TEST(RandomTest, BelowDrawsAgainWhereARemainderWouldFavourLowValues) {
  scripted_random random{{UINT64_MAX, UINT64_MAX - 1, 8}};
  EXPECT_EQ(random.below(3), (UINT64_MAX - 1) % 3);
  EXPECT_EQ(random.drawn(), 2u);
}

TEST(RandomTest, UnitLiesInTheHalfOpenInterval) {
  scripted_random random{{0, UINT64_MAX}};
  EXPECT_EQ(random.unit(), 0.0);
  EXPECT_LT(random.unit(), 1.0);
}

TEST(RandomTest, FillsEveryByteOfAnySize) {
  for (size_t size = 0; size < 20; ++size) {
    const auto random = seeded_random(3);
    bytes seen(size, 0);
    for (int round = 0; round < 64; ++round) {
      bytes out(size + 1, 0);
      random->fill(std::span{out}.first(size));
      EXPECT_EQ(out.back(), 0) << "wrote behind the end";
      for (size_t i = 0; i < size; ++i)
        seen[i] |= out[i];
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 0);
  }
}

TEST(RandomTest, TheKernelDoesNotRepeatItself) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i)
    seen.insert(system_random().next());
  EXPECT_EQ(seen.size(), 1000u);
}

} // namespace weir
