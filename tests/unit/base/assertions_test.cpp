#include <gtest/gtest.h>

#include <array>
#include <cassert>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {
namespace {

// A bug ends the process in every build, including optimised ones: it never
// reads beyond an end and never continues.
class AssertionsDeathTest : public testing::Test {
protected:
  /// Not known at compile time.
  volatile size_t past = 3;
};

TEST_F(AssertionsDeathTest, AnIndexPastTheEndEndsTheProcess) {
  const std::vector<int> numbers(3);
  const std::array<int, 3> fixed{};
  const std::span<const int> view{numbers};
  const std::string text(2, 'x');
  const std::string_view letters{text};
  const size_t at = past;
  EXPECT_DEATH((void)numbers[at], "Assertion '__n < this->size\\(\\)' failed");
  EXPECT_DEATH((void)fixed[at], "Assertion .* failed");
  EXPECT_DEATH((void)view[at], "Assertion .* failed");
  EXPECT_DEATH((void)text[at], "Assertion .* failed");
  EXPECT_DEATH((void)letters[at], "Assertion .* failed");
}

TEST_F(AssertionsDeathTest, WhatIsNotThereEndsTheProcess) {
  const std::vector<int> none(past - 3);
  const std::optional<int> nothing;
  const std::unique_ptr<std::string> nobody;
  EXPECT_DEATH((void)none.front(), "Assertion .* failed");
  EXPECT_DEATH((void)*nothing, "Assertion .* failed");
  EXPECT_DEATH((void)*nobody, "Assertion .* failed");
}

TEST_F(AssertionsDeathTest, OurOwnAreCompiledToo) {
  EXPECT_DEATH(assert(past != 3), "Assertion `past != 3' failed");
}

} // namespace
} // namespace weir
