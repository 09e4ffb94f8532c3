#include "storage/backup/backup_list.hpp"
#include "storage/backup/limits.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace weir::storage {

namespace {

using testing::HasSubstr;

backup_list sample() {
  backup_list out;
  out.log_identity = 0x0123456789abcdef;
  out.log_epoch = "0123456789abcdef.1";
  out.partitions = 2;
  out.made.micros = 1'796'113'261'817'954;
  out.last_operations = {12, 0};
  const std::string sum(64, 'a');
  out.files = {{"FORMAT", 57, sum, 0, 0},
               {"000017.ldb", 33'554'432, sum, 4'711, -1},
               {"partition-1/MANIFEST-000002", 50, sum, 0, 0}};
  return out;
}

std::string path_of_list(const tests::temp_dir& dir) {
  return dir.at(backup_list_name);
}

} // namespace

TEST(BackupListTest, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_backup_list(to_text(sample())), sample());
  EXPECT_EQ(parse_backup_list(to_text(backup_list{})), std::nullopt)
    << "there is no operation of its partition";
}

TEST(BackupListTest, EachWrongByteIsNoticed) {
  const auto text = to_text(sample());
  for (size_t i = 0; i < text.size(); ++i) {
    auto wrong = text;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    EXPECT_FALSE(parse_backup_list(wrong)) << i;
    EXPECT_FALSE(parse_backup_list(text.substr(0, i))) << i;
  }
  EXPECT_FALSE(parse_backup_list(text + "\n"));
}

// A list names files, and a restore creates them.
TEST(BackupListTest, NoPathLeadsElsewhere) {
  for (const auto* path :
       {"../FORMAT", "/etc/passwd", "partition-1/../../FORMAT", "", ".",
        "partition-1/", "partition-x/FORMAT", "partition-99999/FORMAT",
        "other/FORMAT", "partition-1/x/y", "a b"}) {
    auto x = sample();
    x.files.front().path = path;
    EXPECT_FALSE(parse_backup_list(to_text(x))) << path;
  }
}

TEST(BackupListTest, AnotherFormatIsSaid) {
  const tests::temp_dir dir;
  auto x = sample();
  x.store = "unstable 1";
  leveldb::WriteStringToFile(&posix_disk(), to_text(x), path_of_list(dir));
  const auto read = load_backup_list(posix_disk(), dir.path().string());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ec::invalid_argument);
  EXPECT_THAT(read.error().context, HasSubstr("use the version that made it"));
}

// limits::backup_list_bytes_max
TEST(BackupListTest, ALongerListIsNotRead) {
  const tests::temp_dir dir;
  leveldb::WriteStringToFile(&posix_disk(), "x", path_of_list(dir));
  std::filesystem::resize_file(path_of_list(dir),
                               limits::backup_list_bytes_max);
  const auto code = [&dir] {
    return load_backup_list(posix_disk(), dir.path().string()).error().code;
  };
  EXPECT_EQ(code(), ec::storage_failure) << "it is damaged";
  std::filesystem::resize_file(path_of_list(dir),
                               limits::backup_list_bytes_max + 1);
  EXPECT_EQ(code(), ec::limit_reached);
  std::filesystem::remove(path_of_list(dir));
  EXPECT_EQ(code(), ec::not_found);
}

} // namespace weir::storage
