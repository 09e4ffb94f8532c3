#include "storage/safe_env_disk.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <leveldb/env.h>

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

// What the system refuses is told by its name, never passed over.

namespace weir::storage {

using tests::temp_dir;

namespace {

bool says(const leveldb::Status& x, const std::string& what) {
  return !x.ok() && x.ToString().find(what) != std::string::npos;
}

} // namespace

TEST(PosixDiskTest, ADirectoryThatIsNotThereIsAnError) {
  const temp_dir dir;
  const auto gone = dir.at("gone");
  auto& disk = posix_disk();
  EXPECT_TRUE(says(disk.sync_directory(gone), gone));
  disk_space room;
  EXPECT_TRUE(says(disk.space(gone, room), gone));
  EXPECT_TRUE(says(disk.check_place(gone), gone));
  std::unique_ptr<owner_lock> lock;
  EXPECT_TRUE(says(disk.lock_owner(gone + "/OWNER", false, lock), gone));
  EXPECT_EQ(lock, nullptr);
}

TEST(PosixDiskTest, ADirectoryIsNoTable) {
  const temp_dir dir;
  const auto name = dir.path().string();
  leveldb::RandomAccessFile* opened = nullptr;
  ASSERT_TRUE(posix_disk().NewRandomAccessFile(name, &opened).ok());
  const std::unique_ptr<leveldb::RandomAccessFile> table{opened};
  char scratch[8];
  leveldb::Slice read;
  EXPECT_TRUE(says(table->Read(0, sizeof scratch, &read, scratch), name));
}

TEST(PosixDiskTest, ATableThatWentAwayBetweenTwoReadsIsAnError) {
  const temp_dir dir;
  const auto disk = make_posix_disk(0);
  const auto name = dir.at("table");
  ASSERT_TRUE(leveldb::WriteStringToFile(disk.get(), "0123456789", name).ok());
  leveldb::RandomAccessFile* opened = nullptr;
  ASSERT_TRUE(disk->NewRandomAccessFile(name, &opened).ok());
  const std::unique_ptr<leveldb::RandomAccessFile> table{opened};
  char scratch[8];
  leveldb::Slice read;
  EXPECT_TRUE(table->Read(0, sizeof scratch, &read, scratch).ok());
  std::filesystem::remove(name);
  EXPECT_TRUE(says(table->Read(0, sizeof scratch, &read, scratch), name));
}

TEST(PosixDiskTest, AnOwnerWhoLeftNoNumberIsAnotherProcess) {
  const temp_dir dir;
  const auto name = dir.at("OWNER");
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
  std::unique_ptr<owner_lock> lock;
  EXPECT_TRUE(says(posix_disk().lock_owner(name, false, lock),
                   "in use by another process"));
  ::close(file);
  EXPECT_TRUE(posix_disk().lock_owner(name, false, lock).ok());
}

} // namespace weir::storage
