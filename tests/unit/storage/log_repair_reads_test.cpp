#include "storage/disk/log_repair.hpp"
#include "storage/disk/manifest.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>

// When a log cannot be read to its end, nothing is repaired: storage-format.md
// 1.1.

namespace weir::storage {

namespace {

using tests::files_like;
using tests::path_of;

std::unique_ptr<tests::memory_disk> killed_disk() {
  auto disk = std::make_unique<tests::memory_disk>();
  auto store = tests::open_store(disk.get());
  for (uint64_t i = 0; i < 20; ++i)
    EXPECT_TRUE(tests::put_row(**store, i, sync_mode::durable));
  disk->kill();
  store->reset();
  disk->power_on();
  return disk;
}

} // namespace

TEST(LogRepairReadsTest, ALogThatShrinksWhileItIsReadIsAnError) {
  const auto disk = killed_disk();
  const auto name = path_of(files_like(*disk, ".log").at(0));
  tests::fault_env faults{*disk};
  faults.plan({.kinds = tests::kind_bit(tests::io_call::open),
               .name_ends_with = ".log",
               .instead = [&, log = disk->read(name)] {
                 disk->write(name, log.substr(0, 100));
               }});
  const auto done = repair_logs(faults, tests::store_directory);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ec::storage_failure);
  EXPECT_NE(done.error().context.find("ends early"), std::string::npos);
}

TEST(LogRepairReadsTest, AReadThatFailsIsAnErrorAndChangesNothing) {
  const auto disk = killed_disk();
  const auto before = tests::content_of(*disk);
  constexpr auto kinds
    = tests::read_kinds & ~tests::kind_bit(tests::io_call::exists);
  for (uint64_t nth = 1; nth < 100; ++nth) {
    tests::fault_env faults{*disk};
    faults.plan({.nth = nth, .kinds = kinds});
    const auto done = repair_logs(faults, tests::store_directory);
    EXPECT_TRUE(tests::content_of(*disk) == before);
    if (!faults.reached()) {
      EXPECT_TRUE(done);
      EXPECT_GT(nth, 5u);
      return;
    }
    ASSERT_FALSE(done) << nth;
    EXPECT_EQ(done.error().code, ec::storage_failure);
  }
  FAIL() << "more reads than there are";
}

TEST(LogRepairReadsTest, FilesWithoutANumberAreNobodysLog) {
  EXPECT_EQ(file_number("000012.log", ".log"), 12u);
  for (const auto* name :
       {"x.log", "1x.log", ".log", "1.ldb", "99999999999999999999.log"})
    EXPECT_FALSE(file_number(name, ".log")) << name;
}

} // namespace weir::storage
