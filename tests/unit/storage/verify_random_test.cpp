#include "tests/unit/storage/excuses.hpp"

#include <cstdlib>

// Any one row that is deleted, changed, exchanged or invented is found, except
// for the list of storage-format.md 6.

namespace weir::storage {
namespace {

using tests::is_excused;

class VerifyRandomTest : public testing::Test {
protected:
  /// Tries every kind of damage of one row once.
  void damage_row(const std::string& key, random_source& dice) {
    const auto good = store.get_raw(key);
    check({"deleted", key, good, std::nullopt});
    const auto other = other_key(key, dice);
    const auto value = store.get_raw(other);
    check({"exchanged", key, good, value});
    check_swap({"swapped", key, good, value}, {"swapped", other, value, good});
    for (int i = 0; i < 3 && !good.empty(); ++i)
      check({"altered", key, good, flipped(good, dice)});
    for (int i = 0; i < 3; ++i) {
      const auto invented = flipped(key, dice);
      check({"invented", invented, store.find_raw(invented), good});
    }
  }

  static std::string flipped(std::string x, random_source& dice) {
    auto& byte = x[dice.below(x.size())];
    byte = static_cast<char>(byte ^ (1 << dice.below(8)));
    return x;
  }

  /// The key of another row of the same table, or the same one.
  std::string other_key(const std::string& key, random_source& dice) {
    std::vector<std::string> all;
    const auto in = key.substr(0, 1);
    for (auto rows = store.db->scan({in, prefix_end(in)}); rows.valid();
         rows.next())
      all.emplace_back(rows.key());
    return all[dice.below(all.size())];
  }

  void check_swap(const damage& x, const damage& y) {
    if (x.before == x.after)
      return;
    ++tried;
    const bool excused = is_excused(store, x) && is_excused(store, y);
    store.restore(x.key, x.after);
    const bool found = store.findings_with(y.key, y.after) != "";
    store.restore(x.key, x.before);
    EXPECT_TRUE(found || excused) << describe(x) << " and " << describe(y);
  }

  static std::string describe(const damage& x) {
    return std::string{x.kind} + ": "
           + to_string(static_cast<table>(x.key.front())) + " "
           + testing::PrintToString(x.key);
  }

  void check(const damage& x) {
    if (x.before == x.after)
      return;
    ++tried;
    const bool excused = is_excused(store, x);
    const bool found = store.findings_with(x.key, x.after) != "";
    EXPECT_TRUE(found || excused) << describe(x);
  }

  tests::full_store store;
  size_t tried = 0;
};

TEST_F(VerifyRandomTest, AnyDamageOfOneRowIsFoundOrExcused) {
  ASSERT_EQ(store.findings(), "");
  const char* only = std::getenv("WEIR_SEED");
  const uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  for (auto seed = first; seed < first + (only ? 1 : 3); ++seed) {
    SCOPED_TRACE("WEIR_SEED=" + std::to_string(seed));
    const auto dice = seeded_random(seed);
    for (const auto& key : store.keys())
      damage_row(key, *dice);
  }
  EXPECT_EQ(store.findings(), "") << "every row is as it was";
  EXPECT_GT(tried, 900u);
}

// A row that a write did not reach, or that a deletion left.
TEST_F(VerifyRandomTest, AnyRowFromThePastIsFoundOrExcused) {
  ASSERT_EQ(store.findings(), "");
  for (const auto& [key, values] : store.past())
    for (const auto& value : values)
      check({"stale", key, store.find_raw(key), value});
  EXPECT_EQ(store.findings(), "") << "every row is as it was";
  EXPECT_GT(tried, 50u);
}

} // namespace
} // namespace weir::storage
