#include "apps/weir/reload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Settings that SIGHUP changes in a running node.
namespace weir::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

} // namespace

TEST(ReloadTest, LevelAndPasswordAreTakenOver) {
  settings running;
  running.admin_password = "the first password";
  loaded_settings anew;
  anew.values.admin_password = running.admin_password;
  EXPECT_FALSE(plan_reload(running, anew).log);
  EXPECT_FALSE(plan_reload(running, anew).password);
  anew.values.log_level = log::level::debug;
  anew.values.admin_password = "another password";
  const auto plan = plan_reload(running, anew);
  EXPECT_TRUE(plan.log);
  EXPECT_TRUE(plan.password);
  EXPECT_THAT(plan.at_restart, IsEmpty());
  EXPECT_THAT(plan.problems, IsEmpty());
}

TEST(ReloadTest, WhatNeedsARestartIsNamed) {
  const settings running;
  loaded_settings anew;
  anew.values.bind = "127.0.0.1:9";
  anew.values.plc_per_second = 3;
  const auto plan = plan_reload(running, anew);
  EXPECT_THAT(plan.at_restart, ElementsAre("bind", "plc_per_second"));
  EXPECT_FALSE(plan.log);
}

TEST(ReloadTest, NothingIsTakenOverOfSettingsThatAreWrong) {
  const settings running;
  loaded_settings anew;
  anew.values.log_level = log::level::debug;
  anew.problems.emplace_back("weir.toml:3: no");
  const auto plan = plan_reload(running, anew);
  EXPECT_THAT(plan.problems, ElementsAre("weir.toml:3: no"));
  EXPECT_FALSE(plan.log);
}

// It protects ports that anybody may reach.
TEST(ReloadTest, APasswordIsNotTakenAway) {
  settings running;
  running.admin_password = "the first password";
  const auto plan = plan_reload(running, loaded_settings{});
  EXPECT_THAT(plan.problems, ElementsAre(HasSubstr("admin_password_file")));
}

} // namespace weir::apps
