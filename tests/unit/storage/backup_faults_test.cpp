#include "tests/unit/storage/backup_fixture.hpp"

// What a backup and a restore leave when the disk fails, at every call.

namespace weir::storage {

namespace {

namespace files = std::filesystem;
using testing::HasSubstr;
using tests::fault_env;

class BackupFaultsTest : public tests::BackupTest {
protected:
  BackupFaultsTest() {
    store->release_memory();
    back_up().value();
    put(50);
    disk = &faults;
  }

  /// Lets call `n` of this thread fail, among those that can.
  void plan(uint64_t n, tests::io_error how) {
    faults.plan({.nth = n,
                 .error = how,
                 .kinds
                 = tests::all_kinds & ~kind_bit(tests::io_call::exists),
                 .thread = std::this_thread::get_id()});
  }

  fault_env faults{posix_disk()};
};

} // namespace

TEST_F(BackupFaultsTest, ABackupThatFailsChangesNothing) {
  uint64_t failed = 0;
  uint64_t renamed = 0;
  for (const auto how : {tests::io_error::io, tests::io_error::no_space})
    for (uint64_t n = 1;; ++n) {
      const auto before = find_backup(posix_disk(), backups).value();
      plan(n, how);
      const auto made = back_up();
      const auto reached = faults.reached();
      faults.heal();
      ASSERT_TRUE(check_backup(posix_disk(), before)) << n;
      // When only the sync of its name fails, the new one is whole.
      const auto newest = find_backup(posix_disk(), backups).value();
      ASSERT_TRUE(check_backup(posix_disk(), newest)) << n;
      if (!made) {
        ++failed;
        renamed += newest == before ? 0 : 1;
        EXPECT_THAT(made.error().context, HasSubstr(dir.path().string())) << n;
        EXPECT_EQ(made.error().code, how == tests::io_error::io
                                       ? ec::storage_failure
                                       : ec::disk_full)
          << n << made.error().context;
      } else {
        EXPECT_EQ(newest, made->folder) << n;
      }
      if (!reached)
        break;
    }
  EXPECT_GT(failed, 40u);
  EXPECT_EQ(renamed, 2u);
  // The store has noticed nothing.
  EXPECT_FALSE(store->failed());
  put(10);
  back_up().value();
  EXPECT_EQ(restored_rows(rows), rows);
}

TEST_F(BackupFaultsTest, ARestoreThatFailsLeavesNoStore) {
  const auto from = find_backup(*disk, backups).value();
  uint64_t failed = 0;
  uint64_t whole = 0;
  for (uint64_t n = 1;; ++n) {
    const auto where = dir.at("to" + std::to_string(n));
    plan(n, tests::io_error::io);
    auto x = restoration::begin(*disk, from, where);
    auto ok = x ? x->copy() : result<void>{x.error()};
    if (ok)
      ok = x->complete();
    const auto reached = faults.reached();
    faults.heal();
    failed += ok ? 0 : 1;
    if (!ok && x)
      x->give_up();
    // When only the last sync fails, the store is whole.
    if (ok || files::exists(where + "/FORMAT")) {
      whole += ok ? 0 : 1;
      tests::store_settings how;
      how.directory = where;
      const auto copy = tests::open_store(nullptr, how);
      ASSERT_TRUE(copy) << n;
      EXPECT_EQ(tests::dense_rows(**copy, rows), rows_at_first) << n;
    }
    if (!reached)
      break;
  }
  EXPECT_GT(failed, 30u);
  EXPECT_EQ(whole, 1u);
}

TEST_F(BackupFaultsTest, AStoreThatHasFailedIsNotBackedUp) {
  tests::store_settings how;
  how.directory = dir.at("other");
  fault_env bad{posix_disk()};
  const auto other = tests::open_store(&bad, how).value();
  bad.plan({.sticky = true, .kinds = kind_bit(tests::io_call::append)});
  EXPECT_FALSE(tests::put_row(*other, 1));
  bad.heal();
  auto wanted = order();
  wanted.directory = dir.at("others");
  wanted.stores = {other.get()};
  EXPECT_FALSE(backup_writer::begin(std::move(wanted), bad, system_clock()));
}

// Tables that the backup needs are named by MANIFEST, which was captured.
TEST_F(BackupFaultsTest, AStoreThatLacksATableIsNotBackedUp) {
  size_t removed = 0;
  for (const auto& name : names_in(data))
    if (name.ends_with(".ldb") && removed++ == 0)
      files::remove(files::path{data} / name);
  const auto made = back_up();
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().context, HasSubstr(".ldb"));
}

} // namespace weir::storage
