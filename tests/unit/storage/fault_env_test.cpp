#include "base/random.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/memory_disk.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// Tests of the harness itself: tests that rely on it must know that its faults
// happen.

namespace weir::tests {

namespace {

std::unique_ptr<leveldb::WritableFile> create(leveldb::Env& disk,
                                              const std::string& name) {
  leveldb::WritableFile* file = nullptr;
  EXPECT_TRUE(disk.NewWritableFile(name, &file).ok());
  return std::unique_ptr<leveldb::WritableFile>{file};
}

} // namespace

TEST(MemoryDiskTest, APowerLossKeepsWhatWasSyncedAndMaybeSomeMore) {
  bool lost_all = false;
  bool kept_all = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    memory_disk disk;
    const auto random = seeded_random(seed);
    auto file = create(disk, "d/a");
    file->Append("synced");
    file->Sync();
    disk.sync_directory("d");
    file->Append("-loose");
    disk.cut_power(*random);
    EXPECT_FALSE(file->Append("x").ok());
    disk.power_on();
    const auto left = disk.read("d/a");
    EXPECT_TRUE(left.starts_with("synced")) << left;
    EXPECT_TRUE(std::string{"synced-loose"}.starts_with(left)) << left;
    lost_all = lost_all || left == "synced";
    kept_all = kept_all || left == "synced-loose";
  }
  EXPECT_TRUE(lost_all && kept_all);
}

// Otherwise a run of the simulator would depend on the progress of LevelDB's
// thread.
TEST(MemoryDiskTest, WhatAPowerLossLeavesOfAFileIsNoMatterOfTheOthers) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::string> left;
    std::vector<uint64_t> next;
    for (const size_t others : {0, 1, 5}) {
      memory_disk disk;
      const auto random = seeded_random(seed);
      for (size_t i = 0; i < others; ++i)
        create(disk, "d/" + std::to_string(i))->Append(std::string(i, 'x'));
      disk.write("d/b", "");
      const auto file = create(disk, "d/b");
      file->Append(std::string(1'000, 'b'));
      disk.cut_power(*random);
      disk.power_on();
      left.push_back(disk.read("d/b"));
      next.push_back(random->next());
    }
    EXPECT_EQ(left[1], left[0]) << seed;
    EXPECT_EQ(left[2], left[0]) << seed;
    EXPECT_EQ(next, (std::vector<uint64_t>(3, next[0]))) << "nor of later draws";
  }
}

TEST(MemoryDiskTest, APowerLossMayForgetEntriesThatWereNotSynced) {
  bool forgot_creation = false;
  bool forgot_removal = false;
  bool forgot_rename = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    memory_disk disk;
    const auto random = seeded_random(seed);
    disk.write("d/old", "old");
    disk.write("d/from", "from");
    create(disk, "d/new")->Sync();
    disk.RemoveFile("d/old");
    disk.RenameFile("d/from", "d/to");
    disk.cut_power(*random);
    disk.power_on();
    forgot_creation = forgot_creation || !disk.FileExists("d/new");
    forgot_removal = forgot_removal || disk.FileExists("d/old");
    forgot_rename = forgot_rename || disk.FileExists("d/from");
    EXPECT_NE(disk.FileExists("d/from"), disk.FileExists("d/to"));
  }
  EXPECT_TRUE(forgot_creation && forgot_removal && forgot_rename);
}

TEST(MemoryDiskTest, ASyncedDirectoryForgetsNothing) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    memory_disk disk;
    const auto random = seeded_random(seed);
    create(disk, "d/new");
    disk.sync_directory("d");
    disk.cut_power(*random);
    disk.power_on();
    EXPECT_TRUE(disk.FileExists("d/new"));
  }
}

TEST(MemoryDiskTest, GarbageIsOnlyWhereNothingWasSynced) {
  bool garbled = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    memory_disk disk;
    const auto random = seeded_random(seed);
    auto file = create(disk, "d/a");
    disk.sync_directory("d");
    file->Append(std::string(5000, 's'));
    file->Sync();
    file->Append(std::string(5000, 'l'));
    disk.cut_power(*random, {.garble = true});
    disk.power_on();
    const auto left = disk.read("d/a");
    ASSERT_GE(left.size(), 5000u);
    EXPECT_EQ(left.substr(0, 5000), std::string(5000, 's'));
    garbled = garbled
              || left.substr(5000).find_first_not_of('l') != std::string::npos;
  }
  EXPECT_TRUE(garbled);
}

TEST(MemoryDiskTest, AKillLosesNothing) {
  memory_disk disk;
  auto file = create(disk, "d/a");
  file->Append("loose");
  disk.kill();
  EXPECT_FALSE(file->Append("late").ok());
  disk.power_on();
  EXPECT_EQ(disk.read("d/a"), "loose");
}

TEST(MemoryDiskTest, GoesToARealDirectoryAndBack) {
  const temp_dir dir;
  memory_disk disk;
  disk.write("d/a", "one");
  disk.store(dir.at("copy"));
  memory_disk back;
  back.load(dir.at("copy"));
  EXPECT_EQ(back.read(dir.at("copy") + "/a"), "one");
  EXPECT_EQ(disk.clone()->read("d/a"), "one");
}

TEST(FaultEnvTest, TheNthCallFailsOnceOrForGood) {
  for (const bool sticky : {false, true}) {
    memory_disk disk;
    fault_env faults{disk};
    faults.plan({.nth = 3, .sticky = sticky, .name_ends_with = "a"});
    auto file = create(faults, "d/a");
    auto other = create(faults, "d/b");
    EXPECT_TRUE(file->Append("1").ok());
    EXPECT_TRUE(other->Append("not counted").ok());
    EXPECT_FALSE(faults.reached());
    EXPECT_FALSE(file->Append("2").ok());
    EXPECT_TRUE(faults.reached());
    EXPECT_EQ(file->Append("3").ok(), !sticky);
    EXPECT_EQ(faults.calls(), 4u);
    EXPECT_EQ(faults.calls(io_call::append), 4u);
    faults.heal();
    EXPECT_TRUE(file->Append("4").ok());
    EXPECT_EQ(disk.read("d/a"), sticky ? "14" : "134");
  }
}

TEST(FaultEnvTest, WhatHappensInsteadMayWaitForACallOfAnotherThread) {
  memory_disk disk;
  fault_env faults{disk};
  std::promise<void> called;
  faults.plan({.name_ends_with = "a", .instead = [&] {
                 called.get_future().wait();
               }});
  std::thread waits{[&] {
    EXPECT_TRUE(faults.RemoveFile("d/a").IsNotFound());
  }};
  while (!faults.reached())
    std::this_thread::yield();
  EXPECT_TRUE(create(faults, "d/b")->Append("1").ok());
  called.set_value();
  waits.join();
  EXPECT_EQ(faults.calls(io_call::remove), 1u);
  EXPECT_EQ(faults.calls_of_maker(io_call::remove), 0u);
  EXPECT_EQ(faults.calls_of_maker(io_call::append), 1u);
}

TEST(FaultEnvTest, ATornAppendWritesAPart) {
  memory_disk disk;
  fault_env faults{disk};
  auto file = create(faults, "d/a");
  faults.plan({.error = io_error::no_space, .torn = 128});
  const auto status = file->Append("12345678");
  EXPECT_TRUE(storage::says_disk_full(status)) << status.ToString();
  EXPECT_EQ(disk.read("d/a"), "1234");
}

TEST(FaultEnvTest, ABudgetEndsWithNoSpace) {
  memory_disk disk;
  fault_env faults{disk};
  auto file = create(faults, "d/a");
  faults.budget(10);
  EXPECT_TRUE(file->Append("12345678").ok());
  storage::disk_space room;
  EXPECT_TRUE(faults.space("d", room).ok());
  EXPECT_EQ(room.free, 2u);
  EXPECT_EQ(room.total, memory_disk::total);
  EXPECT_TRUE(storage::says_disk_full(file->Append("9abc")));
  EXPECT_EQ(disk.read("d/a"), "123456789a");
  faults.budget(std::nullopt);
  EXPECT_TRUE(file->Append("b").ok());
}

TEST(FaultEnvTest, EveryKindOfCallCanFail) {
  const auto fails = [](io_call kind, auto call) {
    memory_disk disk;
    fault_env faults{disk};
    disk.write("d/a", "text");
    auto file = create(faults, "d/b");
    faults.plan({.sticky = true, .kinds = kind_bit(kind)});
    return !call(faults, *file).ok();
  };
  using leveldb::Env;
  using leveldb::WritableFile;
  const auto read = [](fault_env& x, WritableFile&) {
    std::string out;
    return leveldb::ReadFileToString(&x, "d/a", &out);
  };
  EXPECT_TRUE(fails(io_call::create, [](fault_env& x, WritableFile&) {
    leveldb::WritableFile* file = nullptr;
    return x.NewWritableFile("d/c", &file);
  }));
  EXPECT_TRUE(fails(io_call::append, [](auto&, WritableFile& x) {
    return x.Append("x");
  }));
  EXPECT_TRUE(fails(io_call::flush, [](auto&, WritableFile& x) {
    return x.Flush();
  }));
  EXPECT_TRUE(fails(io_call::sync, [](auto&, WritableFile& x) {
    return x.Sync();
  }));
  EXPECT_TRUE(fails(io_call::close, [](auto&, WritableFile& x) {
    return x.Close();
  }));
  EXPECT_TRUE(fails(io_call::rename, [](fault_env& x, auto&) {
    return x.RenameFile("d/a", "d/z");
  }));
  EXPECT_TRUE(fails(io_call::remove, [](fault_env& x, auto&) {
    return x.RemoveFile("d/a");
  }));
  EXPECT_TRUE(fails(io_call::sync_directory, [](fault_env& x, auto&) {
    return x.sync_directory("d");
  }));
  EXPECT_TRUE(fails(io_call::read, read));
  EXPECT_FALSE(fails(io_call::append, read));
}

} // namespace weir::tests
