#include "actors/backup/backup.hpp"
#include "messages/backup.hpp"
#include "storage/backup/restore.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <caf/scoped_actor.hpp>

#include <filesystem>

namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::HasSubstr;

/// Keeps the answers of BACKUP.
class BackupShellTest : public ShellFixture {
protected:
  BackupShellTest() {
    store_settings how;
    how.directory = dir.at("data");
    store = open_store(nullptr, how).value();
    put_row(*store, 1).value();
    backup = keep(spawn_backup(
      sys, shared, {{store.get()}, &storage::posix_disk(), how.directory},
      false));
  }

  /// Asks for a backup. The answer is in `made` or `refusals` once it came.
  void ask() {
    sys.spawn(
      [](caf::event_based_actor* self, BackupShellTest* test) {
        self
          ->request(test->backup, caf::infinite,
                    make_backup{test->dir.at("backups")})
          .then([test](const backup_made& x) { test->made.push_back(x); },
                [test](const caf::error& why) {
                  test->refusals.push_back(from_caf(why));
                });
      },
      this);
    run();
  }

  void finish() {
    for (int i = 0; i < 100 && made.empty() && refusals.empty(); ++i)
      pass(limits_of_rest);
  }

  std::string metric(const std::string& name) {
    const auto page = shared->metrics.render();
    const auto at = page.find("\n" + name + " ");
    return at == std::string::npos
             ? "none"
             : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
  }

  static constexpr auto limits_of_rest = 1s;

  const temp_dir dir;
  std::unique_ptr<storage::database> store;
  backup_actor backup;
  std::vector<backup_made> made;
  std::vector<error> refusals;
};

} // namespace

TEST_F(BackupShellTest, OneIsMadePieceByPiece) {
  ask();
  EXPECT_EQ(made.size() + refusals.size(), 0u);
  EXPECT_EQ(metric("weir_backup_running"), "weir_backup_running 1");
  finish();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].folder, dir.at("backups/backup-000001"));
  EXPECT_TRUE(storage::check_backup(storage::posix_disk(), made[0].folder));
  EXPECT_EQ(metric("weir_backup_running"), "weir_backup_running 0");
  EXPECT_EQ(metric("weir_backup_last_success_timestamp_seconds"),
            "weir_backup_last_success_timestamp_seconds "
              + std::to_string(time.wall_now().seconds()));
  EXPECT_EQ(metric("weir_backup_bytes"),
            "weir_backup_bytes " + std::to_string(made[0].bytes));
}

TEST_F(BackupShellTest, ASecondOneAtTheSameTimeIsRefused) {
  ask();
  ask();
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].code, ec::rate_limited);
  refusals.clear();
  finish();
  EXPECT_EQ(made.size(), 1u);
}

TEST_F(BackupShellTest, WhileTheNodeIsShortOfDiskNoneIsMade) {
  shared->intake.set(shortage::disk, intake_level::no_backfill, "short");
  ask();
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].code, ec::disk_full);
  EXPECT_FALSE(std::filesystem::exists(dir.at("backups")));
  shared->intake.set(shortage::disk, intake_level::open, "");
  refusals.clear();
  // It becomes short while one is being made.
  ask();
  shared->intake.set(shortage::store, intake_level::no_requests, "full");
  finish();
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].code, ec::disk_full);
  EXPECT_FALSE(std::filesystem::exists(dir.at("backups/incomplete")));
  EXPECT_EQ(metric("weir_backup_failed_total"), "weir_backup_failed_total 2");
}

TEST_F(BackupShellTest, AStopEndsItAndLeavesNothing) {
  ask();
  tell(backup, stop_actor{});
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_THAT(refusals[0].context, HasSubstr("the node stops"));
  EXPECT_FALSE(std::filesystem::exists(dir.at("backups/incomplete")));
}

TEST_F(BackupShellTest, AReasonIsGivenWhenItCannotBegin) {
  std::filesystem::create_directories(dir.at("backups/other"));
  ask();
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_THAT(refusals[0].context, HasSubstr("holds other files (other)"));
}

} // namespace weir::tests
