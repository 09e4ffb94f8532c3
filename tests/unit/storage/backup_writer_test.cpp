#include "tests/unit/storage/backup_fixture.hpp"

#include <atomic>
#include <thread>

// docs/storage-format.md 7: what a backup of an open store has.

namespace weir::storage {

namespace {

namespace files = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class BackupWriterTest : public tests::BackupTest {
protected:
  /// How many files of the store there are with this ending.
  size_t files_with(const std::string& ending) const {
    size_t out = 0;
    for (const auto& name : names_in(data))
      out += name.ends_with(ending) ? 1 : 0;
    return out;
  }

  void take_one() {
    put(1);
    acked = rows;
    acked.notify_all();
  }

  /// Writes until it ends.
  std::jthread write_all_the_time() {
    return std::jthread{[this](const std::stop_token& end) {
      while (!end.stop_requested())
        take_one();
    }};
  }

  std::atomic<uint64_t> acked{0};
};

/// Waits until the writer has come so far.
void await_rows(const std::atomic<uint64_t>& acked, uint64_t wanted) {
  for (auto now = acked.load(); now < wanted; now = acked.load())
    acked.wait(now);
}

} // namespace

TEST_F(BackupWriterTest, ABackupHasTheRowsOfItsMomentAndNoLaterOnes) {
  auto writer = begin().value();
  const auto then = rows;
  put(2'000); // Logs change, tables are made and merged.
  const auto made = finish(writer).value();
  EXPECT_EQ(made.folder, folder_of(1));
  EXPECT_EQ(restored_rows(rows), then);
  const auto list = load_backup_list(*disk, folder_of(1)).value();
  EXPECT_EQ(list.log_identity, store->log_identity());
  EXPECT_EQ(list.log_epoch, "epoch");
  EXPECT_EQ(list.last_operations, (std::vector<uint64_t>{then}));
  EXPECT_EQ(list.bytes(), made.bytes);
  EXPECT_EQ(list.files.size(), made.files);
}

TEST_F(BackupWriterTest, WhatIsWrittenMeanwhileNeitherSpoilsItNorWaits) {
  rows = rows_at_first;
  acked = rows;
  auto worker = write_all_the_time();
  for (int i = 0; i < 5; ++i) {
    await_rows(acked, acked + 300);
    const auto before = acked.load();
    auto writer = begin(order(before)); // Another thread counts the rows.
    ASSERT_TRUE(writer) << writer.error().context;
    const auto after = acked.load() + 1; // One row may be half acknowledged.
    bool goes_on = true;
    while (goes_on) {
      await_rows(acked, acked + 1); // The store takes writes all the time.
      const auto over = writer->step();
      ASSERT_TRUE(over) << over.error().context;
      goes_on = !*over;
    }
    const auto has = restored_rows(after + 1);
    EXPECT_GE(has, before);
    EXPECT_LE(has, after);
  }
  worker.request_stop();
  worker.join();
  EXPECT_FALSE(store->failed());
}

TEST_F(BackupWriterTest, FilesThatLevelDbRemovesStayUntilItEnds) {
  store->release_memory();
  const auto tables = files_with(".ldb");
  ASSERT_GT(tables, 1u);
  const auto live = [this] {
    return tests::dense_rows(*store, rows);
  };
  auto writer = begin().value();
  write_batch gone;
  for (uint64_t i = 0; i < rows; ++i)
    gone.erase(tests::row_key(i));
  store->write(gone, sync_mode::relaxed).value();
  store->purge({std::string{}, "\xff"}).value();
  EXPECT_EQ(live(), 0u);
  EXPECT_GE(files_with(".ldb"), tables) << "a copy of them is being made";
  const auto then = rows;
  finish(writer).value();
  EXPECT_LT(files_with(".ldb"), tables);
  EXPECT_EQ(restored_rows(then), then);
}

TEST_F(BackupWriterTest, WhatStaysAtACrashGoesWithTheNextOpening) {
  store->release_memory();
  const auto tables = files_with(".ldb");
  auto writer = begin().value();
  write_batch gone;
  for (uint64_t i = 0; i < rows; ++i)
    gone.erase(tests::row_key(i));
  store->write(gone, sync_mode::relaxed).value();
  store->purge({std::string{}, "\xff"}).value();
  files::copy(data, dir.at("killed"));
  writer.give_up();
  const auto left = [this] {
    const auto names = names_in(dir.at("killed"));
    return static_cast<size_t>(std::ranges::count_if(names, [](auto& x) {
      return x.ends_with(".ldb");
    }));
  };
  ASSERT_GE(left(), tables);
  tests::store_settings how;
  how.directory = dir.at("killed");
  const auto opened = tests::open_store(nullptr, how).value();
  EXPECT_LT(left(), tables);
  EXPECT_EQ(tests::dense_rows(*opened, rows), 0u);
}

// An erasing ends only when the bytes are gone, and a backup keeps files.
TEST_F(BackupWriterTest, ErasedBytesAreNotReportedGoneWhileItRuns) {
  store->release_memory();
  const key_range all{std::string{}, "\xff"};
  auto writer = begin().value();
  write_batch gone;
  for (uint64_t i = 0; i < rows; ++i)
    gone.erase(tests::row_key(i));
  store->write(gone, sync_mode::relaxed).value();
  EXPECT_EQ(store->purge(all).value(), false);
  finish(writer).value();
  EXPECT_EQ(store->purge(all).value(), true);
}

TEST_F(BackupWriterTest, TheSecondOneOnlyCopiesWhatIsNew) {
  store->release_memory();
  const auto first = back_up().value();
  EXPECT_EQ(first.reused_files, 0u);
  put(100);
  const auto second = back_up().value();
  EXPECT_EQ(second.reused_files, files_with(".ldb"));
  EXPECT_LT(second.copied_bytes, second.bytes / 2);
  EXPECT_EQ(restored_rows(rows), rows);
}

TEST_F(BackupWriterTest, OnAnotherDiskTheSecondOneOnlyCopiesWhatIsNew) {
  tests::plain_disk other;
  disk = &other;
  other.links = false;
  store->release_memory();
  const auto first = back_up().value();
  EXPECT_EQ(first.copied_bytes, first.bytes);
  other.links = true; // Within that disk.
  put(100);
  const auto second = back_up().value();
  EXPECT_EQ(second.reused_files, files_with(".ldb"));
  EXPECT_LT(second.copied_bytes, second.bytes / 2);
  EXPECT_EQ(restored_rows(rows), rows);
}

// After a restore the store gives its new tables numbers that the old one gave
// to others.
TEST_F(BackupWriterTest, ATableOfTheSameNameAndLengthIsAnotherOne) {
  store->release_memory();
  back_up().value();
  store = nullptr;
  size_t replaced = 0;
  for (const auto& name : names_in(data))
    if (name.ends_with(".ldb") && replaced++ == 0) {
      const auto path = files::path{data} / name;
      files::copy_file(path, dir.at("copy"));
      files::remove(path);
      files::rename(dir.at("copy"), path);
    }
  ASSERT_EQ(replaced > 0, true);
  open();
  const auto tables = load_backup_list(*disk, folder_of(1)).value().files;
  const auto made = back_up().value();
  EXPECT_EQ(made.reused_files + 1,
            static_cast<size_t>(std::ranges::count_if(tables, [](auto& x) {
              return x.path.ends_with(".ldb");
            })));
  EXPECT_EQ(restored_rows(rows), rows);
}

TEST_F(BackupWriterTest, AfterARestartThereIsAnotherManifest) {
  back_up().value();
  store = nullptr;
  open();
  put(500);
  back_up().value();
  EXPECT_EQ(restored_rows(rows), rows);
}

// limits::backups_kept
TEST_F(BackupWriterTest, TheNewestTwoAreKept) {
  for (unsigned i = 1; i <= limits::backups_kept; ++i)
    back_up().value();
  EXPECT_THAT(names_in(backups),
              ElementsAre("OWNER", "backup-000001", "backup-000002"));
  back_up().value();
  EXPECT_THAT(names_in(backups),
              ElementsAre("OWNER", "backup-000002", "backup-000003"));
}

TEST_F(BackupWriterTest, OneThatDidNotEndIsNoneAndGoesWithTheNext) {
  back_up().value();
  {
    auto writer = begin().value();
    for (int i = 0; i < 4; ++i)
      ASSERT_FALSE(writer.step().value());
  } // As after `kill -9`.
  EXPECT_THAT(names_in(backups),
              ElementsAre("OWNER", "backup-000001", "incomplete"));
  EXPECT_EQ(find_backup(*disk, backups).value(), folder_of(1));
  EXPECT_EQ(find_backup(*disk, backups + "/incomplete").error().code,
            ec::not_found);
  EXPECT_EQ(back_up().value().folder, folder_of(2));
  EXPECT_THAT(names_in(backups),
              ElementsAre("OWNER", "backup-000001", "backup-000002"));
}

TEST_F(BackupWriterTest, WhatIsGivenUpLeavesNothing) {
  auto writer = begin().value();
  ASSERT_FALSE(writer.step().value());
  writer.give_up();
  EXPECT_THAT(names_in(backups), ElementsAre("OWNER"));
}

TEST_F(BackupWriterTest, OnlyOneIsMadeAtATime) {
  auto writer = begin().value();
  EXPECT_THAT(begin().error().context, HasSubstr("in use by process"));
  finish(writer).value(); // It was not disturbed.
}

TEST_F(BackupWriterTest, ItIsMadeOnlyWhereItBelongs) {
  const auto refusal = [this](const std::string& directory) {
    auto wanted = order();
    wanted.directory = directory;
    const auto x = backup_writer::begin(std::move(wanted), *disk,
                                        system_clock());
    return x ? std::string{"it was begun"} : x.error().context;
  };
  EXPECT_THAT(refusal("backups"), HasSubstr("is no absolute path"));
  EXPECT_THAT(refusal(data), HasSubstr("is in the data directory"));
  EXPECT_THAT(refusal(data + "/backups"), HasSubstr("in the data directory"));
  EXPECT_THAT(refusal(data + "/backups//"),
              HasSubstr("in the data directory"));
  files::create_directory_symlink(data, dir.at("link"));
  EXPECT_THAT(refusal(dir.at("link/backups")),
              HasSubstr("in the data directory"));
  EXPECT_FALSE(files::exists(data + "/backups"));
  EXPECT_THAT(refusal(dir.at("no/backups")),
              HasSubstr("the directory above it does not exist"));
  EXPECT_THAT(refusal(dir.path().string()),
              HasSubstr("has the data directory in it"));
  files::create_directories(dir.at("others/file"));
  EXPECT_THAT(refusal(dir.at("others")), HasSubstr("holds other files (file)"));
  files::create_directory(dir.at("open"));
  files::permissions(dir.at("open"), files::perms::group_write,
                     files::perm_options::add);
  EXPECT_THAT(refusal(dir.at("open")), HasSubstr("written by other users"));
  EXPECT_FALSE(files::exists(dir.at("OWNER")));
}

TEST_F(BackupWriterTest, AnotherLogsBackupsAreNotReplaced) {
  back_up().value();
  store = nullptr;
  files::remove_all(data);
  tests::store_settings how;
  how.directory = data;
  how.seed = 8;
  store = tests::open_store(nullptr, how).value();
  EXPECT_THAT(begin().error().context, HasSubstr("backups of another node"));
}

// limits::backup_free_bytes_min
TEST_F(BackupWriterTest, ADiskIsNotFilledToTheLastByte) {
  tests::plain_disk small;
  disk = &small;
  uint64_t log = 0;
  for (const auto& name : names_in(data))
    if (name.ends_with(".log"))
      log = std::max(log, files::file_size(files::path{data} / name));
  store->release_memory(); // The next log is shorter.
  put(20);
  for (const auto& name : names_in(data))
    if (name.ends_with(".log"))
      log = files::file_size(files::path{data} / name);
  small.free = log + limits::backup_free_bytes_min - 1;
  const auto refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::disk_full);
  EXPECT_THAT(refused.error().context, HasSubstr("make room on that disk"));
  EXPECT_THAT(names_in(backups), ElementsAre("OWNER"));
  ++small.free;
  EXPECT_TRUE(back_up());
}

// limits::backup_piece_bytes
TEST_F(BackupWriterTest, APieceIsNoLargerThanItsLimit) {
  const std::string most(limits::backup_piece_bytes, 'x');
  for (const auto& [text, pieces] :
       {std::pair{most, 1}, std::pair{most + "y", 2}}) {
    leveldb::WriteStringToFile(disk, text, dir.at("file"));
    auto copy = file_copy::open(*disk, dir.at("file"), text.size(),
                                dir.at("copied")).value();
    int steps = 1;
    while (copy.step().value().empty())
      ++steps;
    EXPECT_EQ(steps, pieces);
    EXPECT_EQ(files::file_size(dir.at("copied")), text.size());
  }
}

} // namespace weir::storage
