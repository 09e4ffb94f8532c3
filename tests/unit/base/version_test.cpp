#include "base/version.hpp"

#include <gmock/gmock.h>

namespace weir {

TEST(VersionTest, IsThreeNumbers) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

} // namespace weir
