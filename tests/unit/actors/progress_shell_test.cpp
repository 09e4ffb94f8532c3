#include "actors/node/limits.hpp"
#include "actors/node/watches.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// The watch that reports the progress of fetches.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::HasSubstr;
using testing::IsEmpty;

class ProgressWatchTest : public ShellFixture {
protected:
  ProgressWatchTest() {
    log::configure(log::level::info, log::format::text);
    home->readers.push_back(reader.as<reader_actor>());
    keep(spawn_progress_watch(sys, shared));
  }

  ~ProgressWatchTest() override {
    log::configure(log::level::warn, log::format::text);
  }

  /// The log during this time.
  std::string told_in(std::chrono::microseconds x) {
    testing::internal::CaptureStderr();
    pass(x);
    return testing::internal::GetCapturedStderr();
  }

  probe reader{sys};
  store_stats& stats = home->stats;
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
  EXPECT_THAT(told_in(limits::story_look_interval), IsEmpty());
  EXPECT_THAT(told_in(limits::story_rest),
              HasSubstr("backfill_done synced=99 failed=1 seconds=1.00 "
                        "repos_per_second=99.0"));
}

// limits::story_interval
TEST_F(ProgressWatchTest, HowFarTheyAreIsToldWithRateAndTimeLeft) {
  auto& waiting = stats.repos[size_t(storage::repo_status::pending)];
  waiting = 1'000;
  EXPECT_THAT(told_in(limits::story_look_interval),
              HasSubstr("backfill_begun repos=1000 synced=0"));
  waiting = 700;
  stats.repos[size_t(storage::repo_status::synced)] = 300;
  EXPECT_THAT(told_in(limits::story_interval),
              HasSubstr("backfill_progress waiting=700 synced=300 failed=0 "
                        "repos_per_second=10.0 seconds_left=70"));
}

// limits::store_size_interval: a READER measures it, because that reads the
// disk
TEST_F(ProgressWatchTest, TheSizeOfTheStoreIsReadNowAndThen) {
  EXPECT_EQ(reader.count<reader_job>(), 1u);
  std::chrono::microseconds waited{0};
  constexpr std::chrono::microseconds look = limits::story_look_interval;
  for (; waited + look < limits::store_size_interval; waited += look)
    pass(look);
  EXPECT_EQ(reader.count<reader_job>(), 0u);
  pass(look);
  auto jobs = reader.take<reader_job>();
  ASSERT_EQ(jobs.size(), 1u);
  test_store store;
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  jobs[0].run(rows);
  EXPECT_EQ(storage::total_bytes(home->growth.sizes()), store.db->file_bytes());
}

} // namespace weir::tests
