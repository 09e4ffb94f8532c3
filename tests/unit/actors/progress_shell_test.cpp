#include "actors/node/progress_watch.hpp"
#include "base/limits_story.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// Who tells how fetches get on.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::HasSubstr;
using testing::IsEmpty;

class ProgressWatchTest : public ShellFixture {
protected:
  ProgressWatchTest() {
    log::configure(log::level::info, log::format::text);
    keep(spawn_progress_watch(
      sys, shared, {stats, [this] { return bytes; }, growth}));
  }

  ~ProgressWatchTest() override {
    log::configure(log::level::warn, log::format::text);
  }

  /// What is logged meanwhile.
  std::string told_in(std::chrono::microseconds x) {
    testing::internal::CaptureStderr();
    pass(x);
    return testing::internal::GetCapturedStderr();
  }

  store_stats stats;
  uint64_t bytes = 0;
  store_growth growth;
};

} // namespace

// limits::story_look_interval
TEST_F(ProgressWatchTest, ManyThatWaitAreToldOfAtTheNextLook) {
  stats.repos[size_t(storage::repo_status::pending)] = limits::story_repos_min;
  EXPECT_THAT(told_in(limits::story_look_interval - 1us), IsEmpty());
  EXPECT_THAT(told_in(1us), HasSubstr("backfill_begun repos=100 synced=0"));
  stats.repos[size_t(storage::repo_status::pending)] = 0;
  stats.repos[size_t(storage::repo_status::synced)] = 99;
  stats.repos[size_t(storage::repo_status::error)] = 1;
  EXPECT_THAT(told_in(limits::story_look_interval),
              HasSubstr("backfill_done synced=99 failed=1 seconds=5"));
}

// limits::growth_interval
TEST_F(ProgressWatchTest, TheSizeOfTheStoreIsNotedNowAndThen) {
  bytes = 1'000;
  pass(limits::growth_interval);
  ASSERT_TRUE(growth.per_day());
  EXPECT_DOUBLE_EQ(*growth.per_day(), 144'000);
}

} // namespace weir::tests
