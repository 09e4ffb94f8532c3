#include "base/random.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weir::fuzz {

namespace {

/// Changes a few bytes, as a fuzzer does.
void mutate(bytes& x, random_source& random) {
  for (auto left = 1 + random.below(4); left > 0; --left) {
    const auto at = x.empty() ? 0 : static_cast<long>(random.below(x.size()));
    const auto value = static_cast<uint8_t>(random.next());
    switch (x.empty() ? 0 : random.below(5)) {
      case 0:
        x.insert(x.begin() + at, value);
        break;
      case 1:
        x.erase(x.begin() + at);
        break;
      case 2:
        x[static_cast<size_t>(at)] = value;
        break;
      case 3:
        x[static_cast<size_t>(at)] ^= static_cast<uint8_t>(1u << value % 8);
        break;
      default:
        x.resize(static_cast<size_t>(at));
    }
  }
}

std::filesystem::path dictionaries() {
  return tests::data_path("fuzz").parent_path().parent_path() / "fuzz"
         / "dictionaries";
}

class FuzzTest : public testing::TestWithParam<target> {};

} // namespace

// testing.md, Fuzzing: every target with its seeds, with changes of them, and
// with all inputs that ever broke it, from tests/data/fuzz/<target>/.
TEST_P(FuzzTest, SeedsChangesAndFormerFaultsKeepEveryPromise) {
  constexpr size_t changes = 3'000;
  const auto& target = GetParam();
  auto seeds = target.seeds();
  ASSERT_FALSE(seeds.empty());
  for (const auto& seed : seeds)
    target.run(seed);
  target.run({});
  const auto random = seeded_random(1);
  for (size_t i = 0; i < changes; ++i) {
    auto input = seeds[random->below(seeds.size())];
    mutate(input, *random);
    target.run(input);
  }
  const auto faults = tests::data_path("fuzz") / target.name;
  if (std::filesystem::exists(faults))
    for (const auto& file : std::filesystem::directory_iterator{faults})
      target.run(as_bytes(tests::read_file(file.path())));
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(all_targets()),
                         [](const auto& x) {
                           return std::string{x.param.name};
                         });

// testing.md, Fuzzing: a dictionary for each target that can use words.
TEST(FuzzFilesTest, EveryTargetHasADictionaryOrSaysWhyNot) {
  for (const auto& x : all_targets()) {
    const auto file = dictionaries() / (std::string{x.name} + ".dict");
    EXPECT_EQ(std::filesystem::exists(file), x.wordless.empty()) << file;
  }
}

// A folder of crashes, or a dictionary, without a target is never read.
TEST(FuzzFilesTest, EveryFolderAndDictionaryHasItsTarget) {
  std::set<std::string, std::less<>> names;
  for (const auto& x : all_targets())
    EXPECT_TRUE(names.emplace(x.name).second) << x.name;
  for (const auto& folder : {tests::data_path("fuzz"), dictionaries()}) {
    if (!std::filesystem::exists(folder))
      continue;
    for (const auto& file : std::filesystem::directory_iterator{folder})
      EXPECT_TRUE(names.contains(file.path().stem().string())) << file;
  }
}

} // namespace weir::fuzz
