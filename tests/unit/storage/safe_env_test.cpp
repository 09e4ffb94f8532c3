#include "storage/disk/safe_env.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <atomic>
#include <cstdarg>
#include <future>
#include <optional>

namespace weir::storage {

namespace {

using tests::fault_env;
using tests::fault_plan;
using tests::io_call;
using tests::io_error;
using tests::kind_bit;
using tests::memory_disk;

constexpr uint64_t tried = 1'000;

std::unique_ptr<leveldb::DB> open_plain(leveldb::Env* env, bool paranoid) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = paranoid;
  options.env = env;
  leveldb::DB* db = nullptr;
  const auto x = leveldb::DB::Open(options, "/plain", &db);
  EXPECT_TRUE(x.ok()) << x.ToString();
  return std::unique_ptr<leveldb::DB>{db};
}

std::unique_ptr<leveldb::WritableFile> create(leveldb::Env& env,
                                              const std::string& name) {
  leveldb::WritableFile* file = nullptr;
  EXPECT_TRUE(env.NewWritableFile(name, &file).ok());
  return std::unique_ptr<leveldb::WritableFile>{file};
}

void log_line(leveldb::Logger* to, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  to->Logv(format, arguments);
  va_end(arguments);
}

/// Writes rows with sync while one append to a log fails. Returns how many
/// acknowledged rows are missing after the next open.
uint64_t lost_after_failed_append(leveldb::Env* env, fault_env& faults,
                                  uint64_t* acknowledged_after) {
  std::vector<uint64_t> acknowledged;
  *acknowledged_after = 0;
  {
    auto db = open_plain(env, false);
    leveldb::WriteOptions sync;
    sync.sync = true;
    faults.plan({.nth = 500,
                 .torn = 128,
                 .kinds = kind_bit(io_call::append),
                 .name_ends_with = ".log"});
    for (uint64_t i = 0; i < tried; ++i) {
      const bool ok
        = db->Put(sync, tests::row_key(i), tests::row_value(i)).ok();
      if (ok)
        acknowledged.push_back(i);
      if (ok && faults.reached())
        ++*acknowledged_after;
    }
    faults.heal();
  }
  leveldb::Env& disk = faults;
  auto db = open_plain(&disk, false);
  uint64_t lost = 0;
  for (const auto i : acknowledged) {
    std::string value;
    if (!db->Get({}, tests::row_key(i), &value).ok())
      ++lost;
  }
  return lost;
}

} // namespace

// LevelDB 1.23 continues after a failed append and loses later rows that it
// acknowledges. This shows that the fault has an effect and that the next test
// can fail.
TEST(SafeEnvTest, WithoutItAFailedAppendLosesAcknowledgedWrites) {
  memory_disk disk;
  fault_env faults{disk};
  uint64_t after = 0;
  EXPECT_GT(lost_after_failed_append(&faults, faults, &after), 100u);
  EXPECT_GT(after, 100u);
}

TEST(SafeEnvTest, AFailedAppendIsNeverFollowedByAnAcknowledgedWrite) {
  memory_disk disk;
  fault_env faults{disk};
  std::atomic<int> told = 0;
  safe_env safe{{.disk = &faults, .on_poison = [&](const error&) {
                   ++told;
                 }}};
  uint64_t after = 0;
  EXPECT_EQ(lost_after_failed_append(safe.env(), faults, &after), 0u);
  EXPECT_EQ(after, 0u);
  EXPECT_EQ(told.load(), 1);
}

TEST(SafeEnvTest, TheFirstErrorStaysAndIsToldOnce) {
  memory_disk disk;
  fault_env faults{disk};
  std::vector<error> told;
  safe_env safe{{.disk = &faults, .on_poison = [&](const error& x) {
                   told.push_back(x);
                 }}};
  auto file = create(*safe.env(), "/d/000001.log");
  auto other = create(*safe.env(), "/d/000002.ldb");
  EXPECT_EQ(told.size(), 0u);
  faults.plan(
    {.error = io_error::no_space, .kinds = kind_bit(io_call::append)});
  EXPECT_FALSE(file->Append("x").ok());
  // The disk has no fault any more, but nothing more is written.
  EXPECT_FALSE(file->Append("x").ok());
  EXPECT_FALSE(other->Append("x").ok());
  EXPECT_FALSE(other->Sync().ok());
  EXPECT_FALSE(safe.env()->RenameFile("/d/000002.ldb", "/d/z").ok());
  EXPECT_FALSE(safe.env()->RemoveFile("/d/000002.ldb").ok());
  leveldb::WritableFile* none = nullptr;
  EXPECT_FALSE(safe.env()->NewWritableFile("/d/3.ldb", &none).ok());
  EXPECT_EQ(none, nullptr);
  EXPECT_TRUE(safe.env()->FileExists("/d/000002.ldb"));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code, ec::disk_full);
}

TEST(SafeEnvTest, EveryKindOfWriteErrorPoisons) {
  for (const auto kind :
       {io_call::create, io_call::append, io_call::flush, io_call::sync,
        io_call::close, io_call::rename, io_call::sync_directory}) {
    memory_disk disk;
    fault_env faults{disk};
    std::vector<ec> told;
    safe_env safe{{.disk = &faults, .on_poison = [&](const error& x) {
                     told.push_back(x.code);
                   }}};
    faults.plan({.kinds = kind_bit(kind)});
    leveldb::WritableFile* file = nullptr;
    if (safe.env()->NewWritableFile("/d/000001.log", &file).ok()) {
      file->Append("x");
      file->Flush();
      file->Sync();
      file->Close();
      safe.env()->RenameFile("/d/000001.log", "/d/CURRENT");
    }
    delete file;
    EXPECT_EQ(told, std::vector{ec::storage_failure})
      << static_cast<int>(kind);
  }
}

TEST(SafeEnvTest, FailuresOfTheInfoLogHarmNobody) {
  memory_disk disk;
  fault_env faults{disk};
  size_t told = 0;
  safe_env safe{{.disk = &faults, .on_poison = [&](const error&) {
                   ++told;
                 }}};
  faults.plan({.sticky = true, .name_ends_with = "LOG"});
  leveldb::Logger* logger = nullptr;
  ASSERT_TRUE(safe.env()->NewLogger("/d/LOG", &logger).ok());
  log_line(logger, "a line");
  delete logger;
  EXPECT_FALSE(safe.env()->RenameFile("/d/none", "/d/LOG.old").ok());
  EXPECT_EQ(told, 0u);
}

// LevelDB 1.23 closes a full log without syncing it, so a power loss removes
// its end but not the rows after it.
TEST(SafeEnvTest, ALogIsSyncedBeforeItIsClosed) {
  memory_disk disk;
  fault_env faults{disk};
  safe_env safe{{.disk = &faults}};
  for (const bool close : {false, true}) {
    auto file = create(*safe.env(), "/d/000001.log");
    file->Append("x");
    const auto before = faults.calls(io_call::sync);
    EXPECT_TRUE(!close || file->Close().ok());
    file = nullptr;
    EXPECT_EQ(faults.calls(io_call::sync), before + 1);
  }
  auto clean = create(*safe.env(), "/d/000002.log");
  clean->Append("x");
  clean->Sync();
  const auto before = faults.calls(io_call::sync);
  clean = nullptr;
  EXPECT_EQ(faults.calls(io_call::sync), before);
}

// LevelDB 1.23 does not sync the directory of a new log, so a power loss
// removes the log with its content.
TEST(SafeEnvTest, TheDirectoryIsSyncedWhereAnEntryCarriesAPromise) {
  memory_disk disk;
  fault_env faults{disk};
  safe_env safe{{.disk = &faults}};
  const auto syncs = [&] {
    return faults.calls(io_call::sync_directory);
  };
  create(*safe.env(), "/d/000001.log");
  EXPECT_EQ(syncs(), 1u);
  create(*safe.env(), "/d/000002.ldb");
  EXPECT_EQ(syncs(), 1u);
  auto manifest = create(*safe.env(), "/d/MANIFEST-000003");
  manifest->Append("x");
  EXPECT_EQ(syncs(), 2u) << "before its bytes";
  manifest->Append("x");
  manifest->Sync();
  EXPECT_EQ(syncs(), 2u);
  manifest->Append("x");
  EXPECT_EQ(syncs(), 3u) << "or what came since";
  create(*safe.env(), "/d/000004.dbtmp");
  safe.env()->RenameFile("/d/000004.dbtmp", "/d/CURRENT");
  EXPECT_EQ(syncs(), 4u);
}

// A file that LevelDB removes is gone at once. If something held it back,
// erased records would stay on the disk in it (storage-format.md 5.1).
TEST(SafeEnvTest, RemovedFilesAreGoneAtOnce) {
  memory_disk disk;
  safe_env safe{{.disk = &disk}};
  disk.write("/d/1.ldb", "x");
  disk.write("/d/2.ldb", "x");
  EXPECT_TRUE(safe.env()->RemoveFile("/d/1.ldb").ok());
  EXPECT_FALSE(disk.FileExists("/d/1.ldb"));
  EXPECT_TRUE(safe.env()->RemoveFile("/d/2.ldb").ok());
  EXPECT_FALSE(disk.FileExists("/d/2.ldb"));
}

TEST(SafeEnvTest, TheInfoLogIsBounded) {
  memory_disk disk;
  safe_env safe{{.disk = &disk, .info_log_bytes_max = 1'000}};
  leveldb::Logger* logger = nullptr;
  ASSERT_TRUE(safe.env()->NewLogger("/d/LOG", &logger).ok());
  for (int i = 0; i < 500; ++i)
    log_line(logger, "line %d", i);
  log_line(logger, "%s", std::string(5'000, 'x').c_str());
  delete logger;
  EXPECT_LE(disk.read("/d/LOG").size(), 1'000u);
  EXPECT_LE(disk.read("/d/LOG.old").size(), 1'000u);
  EXPECT_NE(disk.read("/d/LOG.old").find("line 499"), std::string::npos);
  EXPECT_EQ(disk.names().size(), 2u);
}

// limits::info_log_bytes_max
TEST(SafeEnvTest, TheInfoLogBeginsAnewWhenItIsFull) {
  memory_disk disk;
  safe_env safe{{.disk = &disk}};
  leveldb::Logger* made = nullptr;
  ASSERT_TRUE(safe.env()->NewLogger("/d/LOG", &made).ok());
  const std::unique_ptr<leveldb::Logger> logger{made};
  const std::string line(1'000, 'x');
  size_t full = 0;
  for (; !disk.FileExists("/d/LOG.old"); log_line(made, "%s", line.c_str()))
    full = disk.read("/d/LOG").size();
  EXPECT_LE(full, limits::info_log_bytes_max);
  EXPECT_GT(full + 2 * line.size(), limits::info_log_bytes_max);
  EXPECT_EQ(disk.read("/d/LOG.old").size(), full);
}

TEST(SafeEnvTest, BackgroundWorkRunsInOrderAndCanBeWaitedFor) {
  memory_disk disk;
  safe_env safe{{.disk = &disk}};
  safe.wait_until_idle(); // Nothing was posted yet.
  struct shared {
    std::promise<void> go;
    std::vector<int> order;
  } x;
  safe.env()->Schedule(
    [](void* p) {
      static_cast<shared*>(p)->go.get_future().wait();
      static_cast<shared*>(p)->order.push_back(1);
    },
    &x);
  safe.env()->Schedule(
    [](void* p) {
      static_cast<shared*>(p)->order.push_back(2);
    },
    &x);
  x.go.set_value();
  safe.wait_until_idle();
  EXPECT_EQ(x.order, (std::vector<int>{1, 2}));
}

// With mmap this would be SIGBUS.
TEST(SafeEnvTest, ATableThatShrinksIsAnErrorAndNoSignal) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  auto store = tests::open_store(nullptr, how).value();
  for (uint64_t i = 0; i < 500; ++i)
    ASSERT_TRUE(tests::put_row(*store, i, sync_mode::relaxed));
  store = nullptr;
  store = tests::open_store(nullptr, how).value();
  EXPECT_TRUE(tests::has_row(*store, 0));
  for (const auto& entry : std::filesystem::directory_iterator{how.directory})
    if (entry.path().extension() == ".ldb")
      std::filesystem::resize_file(entry.path(), 100);
  uint64_t failed = 0;
  for (uint64_t i = 0; i < 500; ++i)
    if (!store->get(tests::row_key(i)))
      ++failed;
  EXPECT_GT(failed, 0u);
}

TEST(SafeEnvTest, TablesBeyondTheirNumberAreOpenedForEachRead) {
  const tests::temp_dir dir;
  const auto disk = make_posix_disk(2);
  const auto name = dir.at("table");
  ASSERT_TRUE(leveldb::WriteStringToFile(disk.get(), "0123456789", name).ok());
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"},
                         std::filesystem::directory_iterator{});
  };
  const auto before = open_descriptors();
  std::vector<std::unique_ptr<leveldb::RandomAccessFile>> tables;
  for (int i = 0; i < 4; ++i) {
    leveldb::RandomAccessFile* file = nullptr;
    ASSERT_TRUE(disk->NewRandomAccessFile(name, &file).ok());
    tables.emplace_back(file);
    EXPECT_EQ(open_descriptors() - before, std::min(i + 1, 2));
  }
  for (const auto& table : tables) {
    char scratch[8];
    leveldb::Slice read;
    ASSERT_TRUE(table->Read(4, 8, &read, scratch).ok());
    EXPECT_EQ(read.ToString(), "456789");
  }
  tables.clear();
  EXPECT_EQ(open_descriptors(), before);
  leveldb::RandomAccessFile* none = nullptr;
  EXPECT_TRUE(disk->NewRandomAccessFile(dir.at("none"), &none).IsNotFound());
}

TEST(SafeEnvTest, AFileStaysUntilTheLastHoldEnds) {
  memory_disk disk;
  safe_env safe{{.disk = &disk}};
  create(*safe.env(), "/d/000001.ldb");
  auto first = safe.hold_files();
  auto second = safe.hold_files();
  // LevelDB asks again after each compaction.
  EXPECT_TRUE(safe.env()->RemoveFile("/d/000001.ldb").ok());
  EXPECT_TRUE(safe.env()->RemoveFile("/d/000001.ldb").ok());
  first = nullptr;
  EXPECT_TRUE(disk.FileExists("/d/000001.ldb"));
  second = nullptr;
  EXPECT_FALSE(disk.FileExists("/d/000001.ldb"));
}

TEST(SafeEnvTest, NoFileChangesWhileTheyStandStill) {
  memory_disk disk;
  safe_env safe{{.disk = &disk}};
  auto log = create(*safe.env(), "/d/000001.log");
  create(*safe.env(), "/d/000002.ldb");
  std::optional still{safe.stand_still()};
  std::vector<std::future<bool>> waiting;
  const auto later = [&waiting](auto change) {
    waiting.push_back(std::async(std::launch::async, [change] {
      return change().ok();
    }));
  };
  later([&] { return log->Append("x"); });
  later([&] { return safe.env()->RemoveFile("/d/000002.ldb"); });
  later([&] {
    std::unique_ptr<leveldb::WritableFile> owner;
    leveldb::WritableFile* made = nullptr;
    const auto x = safe.env()->NewWritableFile("/d/000003.ldb", &made);
    owner.reset(made);
    return x;
  });
  EXPECT_EQ(disk.read("/d/000001.log"), "");
  EXPECT_EQ(disk.names().size(), 2u);
  still.reset();
  for (auto& x : waiting)
    EXPECT_TRUE(x.get());
  EXPECT_EQ(disk.read("/d/000001.log"), "x");
  EXPECT_FALSE(disk.FileExists("/d/000002.ldb"));
  EXPECT_TRUE(disk.FileExists("/d/000003.ldb"));
}

} // namespace weir::storage
