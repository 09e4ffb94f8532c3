#include "storage/disk/database.hpp"
#include "storage/disk/limits.hpp"
#include "storage/disk/regular_file.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <leveldb/env.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

// A refusal of the system is reported with its name and never ignored.

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

// limits::place_looks_max: a short absence, or that of its file OWNER, does not
// count
TEST(PosixDiskTest, AStoreWhoseDirectoryStaysAwayFailsForGood) {
  const temp_dir dir;
  const auto data = dir.at("data");
  const auto away = dir.at("away");
  database_options where;
  where.directory = data;
  const auto store = database::open(std::move(where)).value();
  std::filesystem::copy_file(data + "/OWNER", data + "/owner");
  std::filesystem::rename(data + "/owner", data + "/OWNER");
  for (size_t i = 0; i <= limits::place_looks_max; ++i)
    EXPECT_TRUE(store->space());
  std::filesystem::rename(data, away);
  for (size_t i = 1; i < limits::place_looks_max; ++i)
    EXPECT_FALSE(store->space());
  std::filesystem::rename(away, data);
  EXPECT_TRUE(store->space());
  std::filesystem::rename(data, away);
  std::filesystem::create_directory(data);
  for (size_t i = 1; i < limits::place_looks_max; ++i)
    EXPECT_TRUE(store->space()) << "of the other one";
  EXPECT_FALSE(store->failed());
  EXPECT_FALSE(store->space());
  EXPECT_TRUE(store->failed());
  EXPECT_NE(store->failure().context.find(data + " was removed, or another"),
            std::string::npos);
}

// Pipes and devices have no end, and a link may lead anywhere.
TEST(PosixDiskTest, OnlyRegularFilesAreOpened) {
  const temp_dir dir;
  std::ofstream{dir.at("victim")} << "precious";
  std::filesystem::create_directory(dir.at("directory"));
  ASSERT_EQ(::mkfifo(dir.at("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", dir.at("device"));
  std::filesystem::create_symlink("victim", dir.at("link"));
  std::filesystem::create_symlink("nothing", dir.at("loose"));
  auto& disk = posix_disk();
  for (const auto* name : {"directory", "pipe", "device", "link", "loose"}) {
    const auto path = dir.at(name);
    leveldb::SequentialFile* sequential = nullptr;
    EXPECT_TRUE(says(disk.NewSequentialFile(path, &sequential), path));
    leveldb::RandomAccessFile* table = nullptr;
    EXPECT_TRUE(says(disk.NewRandomAccessFile(path, &table), path));
    leveldb::WritableFile* written = nullptr;
    EXPECT_TRUE(says(disk.NewWritableFile(path, &written), path));
    leveldb::FileLock* taken = nullptr;
    EXPECT_TRUE(says(disk.LockFile(path, &taken), path));
    for (const bool shared : {false, true}) {
      std::unique_ptr<owner_lock> lock;
      EXPECT_TRUE(says(disk.lock_owner(path, shared, lock), path)) << shared;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(dir.at("nothing")));
  EXPECT_EQ(std::filesystem::file_size(dir.at("victim")), 8u);
}

// limits::store_name_file_bytes_max, limits::store_file_bytes_max
TEST(PosixDiskTest, FilesAreReadUpToTheSizeOfTheirKindAndNotAbove) {
  const temp_dir dir;
  for (const auto& [name, most] :
       std::vector<std::pair<const char*, uint64_t>>{
         {"FORMAT", limits::store_name_file_bytes_max},
         {"CURRENT", limits::store_name_file_bytes_max},
         {"MANIFEST-000001", limits::store_file_bytes_max},
         {"000003.log", limits::store_file_bytes_max}}) {
    const auto path = dir.at(name);
    std::ofstream{path} << 'x';
    for (const uint64_t more : {0, 1}) {
      std::filesystem::resize_file(path, most + more); // A sparse file.
      leveldb::SequentialFile* opened = nullptr;
      const auto x = posix_disk().NewSequentialFile(path, &opened);
      const std::unique_ptr<leveldb::SequentialFile> owner{opened};
      EXPECT_EQ(x.ok(), more == 0) << x.ToString();
      EXPECT_TRUE(x.ok() || says(x, path));
    }
  }
}

TEST(PosixDiskTest, FilesAreReadFromTheirBegin) {
  const temp_dir dir;
  std::ofstream{dir.at("file")} << "0123456789";
  leveldb::SequentialFile* opened = nullptr;
  ASSERT_TRUE(posix_disk().NewSequentialFile(dir.at("file"), &opened).ok());
  const std::unique_ptr<leveldb::SequentialFile> file{opened};
  char scratch[8];
  leveldb::Slice read;
  EXPECT_TRUE(file->Read(3, &read, scratch).ok());
  EXPECT_EQ(read.ToString(), "012");
  EXPECT_TRUE(file->Skip(4).ok());
  EXPECT_TRUE(file->Read(8, &read, scratch).ok());
  EXPECT_EQ(read.ToString(), "789");
  EXPECT_TRUE(file->Read(8, &read, scratch).ok());
  EXPECT_TRUE(read.empty());
}

// Arguments that no system call takes stand for a disk that fails.
TEST(PosixDiskTest, AReadThatTheSystemRefusesIsAnErrorWithTheName) {
  const temp_dir dir;
  const auto name = dir.at("file");
  std::ofstream{name} << "0123456789";
  constexpr auto beyond = uint64_t{1} << 63; // Negative for the system.
  leveldb::SequentialFile* opened = nullptr;
  ASSERT_TRUE(posix_disk().NewSequentialFile(name, &opened).ok());
  const std::unique_ptr<leveldb::SequentialFile> file{opened};
  char scratch[8];
  char* nowhere = nullptr;
  leveldb::Slice read;
  const auto unread = file->Read(8, &read, nowhere);
  EXPECT_TRUE(unread.IsIOError() && says(unread, name)) << unread.ToString();
  const auto skipped = file->Skip(beyond);
  EXPECT_TRUE(skipped.IsIOError() && says(skipped, name)) << skipped.ToString();
  leveldb::RandomAccessFile* table = nullptr;
  ASSERT_TRUE(posix_disk().NewRandomAccessFile(name, &table).ok());
  const std::unique_ptr<leveldb::RandomAccessFile> owner{table};
  const auto x = table->Read(beyond, sizeof scratch, &read, scratch);
  EXPECT_TRUE(x.IsIOError() && says(x, name)) << x.ToString();
}

TEST(PosixDiskTest, ADirectoryThatIsNotThereCannotBeMadePrivate) {
  const temp_dir dir;
  const auto gone = dir.at("gone");
  const auto x = make_private(gone);
  EXPECT_TRUE(x.IsNotFound() && says(x, gone)) << x.ToString();
}

TEST(PosixDiskTest, ADirectoryForAStoreBecomesItsOwnersAlone) {
  const temp_dir dir;
  using std::filesystem::perms;
  const auto path = dir.at("data");
  std::filesystem::create_directory(path);
  for (const auto loose : {perms::none, perms::group_read, perms::others_exec}) {
    std::filesystem::permissions(path, perms::owner_all | loose);
    EXPECT_TRUE(posix_disk().check_place(path).ok());
    EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_all);
  }
  if (::geteuid() != 0)
    return; // Only root can change the owner of a directory.
  ASSERT_EQ(::chown(path.c_str(), 65'534, 65'534), 0);
  EXPECT_TRUE(says(posix_disk().check_place(path), "another user"));
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
