#include "actors/consumer/consumer_lines.hpp"
#include "actors/consumer/limits.hpp"

#include <gtest/gtest.h>

namespace weir::actors {

// limits::letter_lines_max, limits::letter_lines_interval
TEST(LetterLinesTest, SomeAreNamedInAMinuteAndTheOthersAreNot) {
  constexpr steady_time begin{5'000'000};
  constexpr std::chrono::microseconds moment{1};
  const dead_letter letter{7, "did:plc:abc", "at://did:plc:abc/app.test.note/1", 3,
                           "no ack"};
  letter_lines x;
  for (const auto from : {begin, begin + limits::letter_lines_interval}) {
    for (uint64_t i = 0; i < limits::letter_lines_max; ++i)
      EXPECT_TRUE(x.tell("channel", i, letter, from)) << i;
    EXPECT_FALSE(x.tell("channel", 900, letter, from));
    EXPECT_FALSE(x.tell("channel", 901, letter,
                        from + (limits::letter_lines_interval - moment)));
  }
}

} // namespace weir::actors
