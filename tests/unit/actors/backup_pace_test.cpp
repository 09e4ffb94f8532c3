#include "actors/backup/backup_pace.hpp"

#include <gtest/gtest.h>

namespace weir::actors {

TEST(BackupPace, RestsAsLongAsItWorked) {
  EXPECT_EQ(after_rest({1'000}, {1'000}), steady_time{1'000});
  EXPECT_EQ(after_rest({1'000}, {4'000}), steady_time{7'000});
}

// limits::backup_rest_max
TEST(BackupPace, NoRestIsLongerThanItsLimit) {
  constexpr std::chrono::microseconds most = limits::backup_rest_max;
  const auto rest_after = [](std::chrono::microseconds worked) {
    const steady_time now{worked.count()};
    return after_rest({0}, now) - now;
  };
  EXPECT_EQ(rest_after(most), most);
  EXPECT_EQ(rest_after(most + std::chrono::microseconds{1}), most);
}

} // namespace weir::actors
