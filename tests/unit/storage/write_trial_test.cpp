#include "storage/disk/limits.hpp"
#include "storage/disk/write_trial.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

// architecture.md, When the disk fills up: how it is found out whether a disk
// that has free bytes takes writes.

namespace weir::tests {

using storage::says_disk_full;
using storage::try_writes;
using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr const char* directory = "/d";
constexpr uint64_t all_bytes = limits::trial_files * limits::trial_file_bytes;

} // namespace

TEST(WriteTrialTest, ADiskThatTakesWritesIsLeftAsItWas) {
  memory_disk disk;
  fault_env faults{disk};
  disk.write("/d/000005.log", "row");
  EXPECT_TRUE(try_writes(faults, directory).ok());
  EXPECT_EQ(disk.names(), std::vector<std::string>{"/d/000005.log"});
  EXPECT_EQ(disk.read("/d/000005.log"), "row");
  EXPECT_GT(faults.calls(io_call::sync_directory), 0u);
}

// limits::trial_files: all of them are there at the same time, each durable
TEST(WriteTrialTest, AnOpeningNeedsSeveralFiles) {
  for (const auto kind : {io_call::create, io_call::append, io_call::sync}) {
    memory_disk disk;
    fault_env faults{disk};
    for (const bool fits : {false, true}) {
      faults.plan({.nth = limits::trial_files + (fits ? 1 : 0),
                   .sticky = true,
                   .error = io_error::no_space,
                   .kinds = kind_bit(kind)});
      const auto tried = try_writes(faults, directory);
      EXPECT_EQ(tried.ok(), fits);
      EXPECT_EQ(says_disk_full(tried), !fits) << tried.ToString();
      EXPECT_TRUE(disk.names().empty()) << "a refusal leaves nothing either";
    }
  }
}

// limits::trial_file_bytes
TEST(WriteTrialTest, AFewBytesThatAreFreeAreNotEnough) {
  memory_disk disk;
  fault_env faults{disk};
  faults.budget(all_bytes - 1);
  EXPECT_TRUE(says_disk_full(try_writes(faults, directory)));
  faults.budget(all_bytes);
  EXPECT_TRUE(try_writes(faults, directory).ok());
}

TEST(WriteTrialTest, ANameThatCannotBeMadeDurableIsARefusal) {
  memory_disk disk;
  fault_env faults{disk};
  faults.plan({.error = io_error::no_space,
               .kinds = kind_bit(io_call::sync_directory)});
  EXPECT_TRUE(says_disk_full(try_writes(faults, directory)));
}

TEST(WriteTrialTest, WhatACrashLeavesIsGoneAfterTheNextOpening) {
  memory_disk disk;
  fault_env faults{disk};
  ASSERT_TRUE(open_store(&faults));
  faults.plan({.sticky = true, .kinds = kind_bit(io_call::remove)});
  EXPECT_TRUE(try_writes(faults, store_directory).ok());
  EXPECT_THAT(disk.names(), Contains(EndsWith("/0.dbtmp")));
  faults.heal();
  ASSERT_TRUE(open_store(&faults));
  EXPECT_THAT(disk.names(), Not(Contains(EndsWith(".dbtmp"))));
}

TEST(WriteTrialTest, AStoreThatHasFailedSaysWhetherItsDiskTakesWritesAgain) {
  memory_disk disk;
  disk.free = 12'345;
  fault_env faults{disk};
  auto store = open_store(&faults).value();
  ASSERT_TRUE(put_row(*store, 0));
  faults.plan({.sticky = true, .error = io_error::no_space});
  EXPECT_FALSE(put_row(*store, 1));
  const auto tried = store->try_disk();
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().code, ec::disk_full);
  EXPECT_THAT(tried.error().context,
              AllOf(HasSubstr(store_directory), HasSubstr("No space left"),
                    HasSubstr("12345 bytes are free")));
  faults.heal();
  EXPECT_TRUE(store->try_disk());
  EXPECT_TRUE(store->failed()) << "only another opening can write";
  store = nullptr;
  store = open_store(&faults).value();
  EXPECT_TRUE(has_row(*store, 0));
  EXPECT_TRUE(put_row(*store, 1));
}

} // namespace weir::tests
