#include "storage/disk/store_identity.hpp"
#include "storage/format/keys.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

// The conditions of opening: one owner, our own format; a refusal changes
// nothing.

namespace weir::storage {

namespace {

using tests::content_of;
using tests::has_row;
using tests::memory_disk;
using tests::open_store;
using tests::path_of;
using tests::put_row;

} // namespace

// -- who may open -------------------------------------------------------------

TEST(DatabaseOpenTest, ASecondOwnerInTheSameProcessIsRefused) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("a/b/store")};
  auto store = open_store(nullptr, how).value();
  for (const auto access : {access_mode::owner, access_mode::read_only}) {
    const auto second
      = open_store(nullptr, {.directory = how.directory, .access = access});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ec::invalid_argument);
    EXPECT_NE(second.error().context.find("in use by process "
                                          + std::to_string(::getpid())),
              std::string::npos)
      << second.error().context;
  }
  // The refused attempts have not released the lock.
  EXPECT_FALSE(open_store(nullptr, how));
  ASSERT_TRUE(put_row(*store, 1));
  store = nullptr;
  EXPECT_TRUE(has_row(*open_store(nullptr, how).value(), 1));
}

TEST(DatabaseOpenTest, AFullDiskIsToldAsOne) {
  const tests::temp_dir dir;
  tests::fault_env disk{posix_disk()};
  const auto expect_room = [&](const std::string& name) {
    disk.budget(0);
    const auto x = open_store(&disk, {.directory = dir.at(name)});
    disk.budget(std::nullopt);
    ASSERT_FALSE(x);
    EXPECT_EQ(x.error().code, ec::disk_full);
    EXPECT_TRUE(x.error().context.ends_with("; make room on that disk"))
      << x.error().context;
    EXPECT_EQ(x.error().context.find("data_dir"), std::string::npos);
  };
  expect_room("new");
  EXPECT_TRUE(open_store(&disk, {.directory = dir.at("kept")}));
  expect_room("kept");
  EXPECT_TRUE(open_store(&disk, {.directory = dir.at("kept")}));
}

// A name that was not synced may vanish with everything below it. The directory
// may be new, or left by a start that ended there; its parent may not be
// readable.
TEST(DatabaseOpenTest, ANewStoresDirectoryIsSyncedWhoeverMadeIt) {
  for (const bool allowed : {true, false}) {
    const tests::temp_dir dir;
    std::filesystem::create_directory(dir.at("store"));
    tests::fault_env disk{posix_disk()};
    disk.plan({.nth = allowed ? 2u : 1u,
               .kinds = tests::kind_bit(tests::io_call::sync_directory),
               .name_ends_with = dir.path().string()});
    EXPECT_TRUE(open_store(&disk, {.directory = dir.at("store")}));
    EXPECT_EQ(disk.calls(), 1u);
    EXPECT_EQ(disk.reached(), !allowed);
    EXPECT_TRUE(open_store(&disk, {.directory = dir.at("store")}));
    EXPECT_EQ(disk.calls(), 1u) << "once is enough";
  }
}

TEST(DatabaseOpenTest, ASecondOwnerInAnotherProcessIsRefused) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  auto store = open_store(nullptr, how).value();
  // Opening and closing LOCK here releases it for other processes, so only our
  // own lock is left.
  { std::ifstream lock{how.directory + "/LOCK"}; }
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto second = open_store(nullptr, how);
    ::_exit(!second && second.error().code == ec::invalid_argument ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_TRUE(put_row(*store, 1));
}

TEST(DatabaseOpenTest, ADeadOwnerHoldsNothing) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto store = open_store(nullptr, how);
    const bool ok = store && put_row(**store, 1);
    ::_exit(ok ? 0 : 1); // No destructor runs, as after kill -9.
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(has_row(*open_store(nullptr, how).value(), 1));
}

// -- what may be opened -------------------------------------------------------

TEST(DatabaseOpenTest, AnotherFormatIsRefusedAndNothingChanges) {
  memory_disk disk;
  put_row(*open_store(&disk).value(), 1);
  auto text = disk.read(path_of("FORMAT"));
  text.replace(text.find("unstable 5"), 10, "stable 7");
  disk.write(path_of("FORMAT"), text);
  const auto before = content_of(disk);
  for (const auto access : {access_mode::owner, access_mode::read_only}) {
    const auto store = open_store(&disk, {.access = access});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ec::invalid_argument);
    EXPECT_NE(store.error().context.find("\"stable 7\""), std::string::npos);
  }
  EXPECT_TRUE(content_of(disk) == before);
}

TEST(DatabaseOpenTest, ADatabaseOfSomebodyElseIsRefusedAndNothingChanges) {
  memory_disk disk;
  disk.write(path_of("CURRENT"), "MANIFEST-000001\n");
  const auto before = content_of(disk);
  const auto store = open_store(&disk);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ec::invalid_argument);
  EXPECT_TRUE(content_of(disk) == before);
}

// A mistake in data_dir must not turn a user's home into a store with mode 700.
TEST(DatabaseOpenTest, NoStoreIsMadeAmongOtherFiles) {
  const tests::temp_dir dir;
  const auto home = dir.at("home");
  std::filesystem::create_directories(home + "/lost+found");
  std::filesystem::permissions(home, std::filesystem::perms{0755});
  std::ofstream{home + "/letter"} << "dear";
  const auto refused = open_store(nullptr, {.directory = home});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::invalid_argument);
  EXPECT_NE(refused.error().context.find("holds other files (letter)"),
            std::string::npos)
    << refused.error().context;
  EXPECT_EQ(std::filesystem::status(home).permissions(),
            std::filesystem::perms{0755});
  EXPECT_FALSE(std::filesystem::exists(home + "/OWNER"));
  std::filesystem::remove(home + "/letter");
  EXPECT_TRUE(open_store(nullptr, {.directory = home}));
}

TEST(DatabaseOpenTest, ADamagedFormatFileIsRefused) {
  memory_disk disk;
  open_store(&disk).value();
  const auto sound = disk.read(path_of("FORMAT"));
  EXPECT_EQ(sound.substr(0, sound.size() - 17),
            "weir store\nformat: unstable 5\nidentity: ");
  for (const auto& text :
       {std::string{}, sound.substr(0, sound.size() - 1), sound + "x",
        std::string{"weir store\nformat: unstable 5\n"}}) {
    disk.write(path_of("FORMAT"), text);
    EXPECT_EQ(open_store(&disk).error().code, ec::storage_failure) << text;
  }
}

TEST(DatabaseOpenTest, TheFormatFileOfAnotherStoreIsRefused) {
  memory_disk disk;
  open_store(&disk).value();
  disk.write(path_of("FORMAT"), to_text({.log_identity = 1}));
  const auto store = open_store(&disk);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ec::storage_failure);
}

TEST(DatabaseOpenTest, AStoreThatIsRemovedMeanwhileIsNotMadeAnew) {
  memory_disk disk;
  put_row(*open_store(&disk).value(), 1);
  tests::fault_env faults{disk};
  faults.plan({.nth = 2, // The owner's check, after the general one.
               .kinds = tests::kind_bit(tests::io_call::open),
               .name_ends_with = "FORMAT",
               .instead = [&] {
                 for (const auto* name : {"FORMAT", "CURRENT"})
                   EXPECT_TRUE(disk.RemoveFile(path_of(name)).ok());
               }});
  const auto opened = open_store(&faults);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ec::storage_failure);
  EXPECT_NE(opened.error().context.find("FORMAT is gone"), std::string::npos);
}

TEST(DatabaseOpenTest, AStoreWithoutItsOwnRowsIsRefused) {
  for (const auto* name : {"log_identity", "store_epoch"}) {
    memory_disk disk;
    {
      const auto store = open_store(&disk).value();
      put_row(*store, 1);
      write_batch batch;
      batch.erase(encode_key(meta_key{name}));
      ASSERT_TRUE(store->write(batch, sync_mode::durable));
    }
    const auto opened = open_store(&disk);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ec::storage_failure);
    EXPECT_NE(opened.error().context.find(name), std::string::npos);
  }
}

TEST(DatabaseOpenTest, WithoutCurrentNoStoreIsMadeOverTheOldOne) {
  memory_disk disk;
  put_row(*open_store(&disk).value(), 1);
  ASSERT_TRUE(disk.RemoveFile(path_of("CURRENT")).ok());
  const auto before = content_of(disk);
  EXPECT_EQ(open_store(&disk).error().code, ec::storage_failure);
  EXPECT_TRUE(content_of(disk) == before);
}

// -- reading only -------------------------------------------------------------

TEST(DatabaseOpenTest, AReaderSeesEverythingAndChangesNothing) {
  memory_disk disk;
  {
    auto store = open_store(&disk).value();
    for (uint64_t i = 0; i < 500; ++i)
      ASSERT_TRUE(put_row(*store, i, sync_mode::relaxed));
  }
  const auto before = content_of(disk);
  {
    auto store = open_store(&disk, {.access = access_mode::read_only}).value();
    for (uint64_t i = 0; i < 500; ++i)
      ASSERT_TRUE(has_row(*store, i));
    EXPECT_EQ(put_row(*store, 1).error().code, ec::invalid_argument);
    EXPECT_FALSE(store->failed());
  }
  EXPECT_TRUE(content_of(disk) == before);
}

TEST(DatabaseOpenTest, AReaderFindsNoStoreWhereThereIsNone) {
  memory_disk disk;
  EXPECT_EQ(open_store(&disk, {.access = access_mode::read_only}).error().code,
            ec::not_found);
  EXPECT_TRUE(disk.names().empty());
}

TEST(DatabaseOpenTest, ReadersShareARealStore) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  put_row(*open_store(nullptr, how).value(), 1);
  auto reading = how;
  reading.access = access_mode::read_only;
  auto one = open_store(nullptr, reading).value();
  auto two = open_store(nullptr, reading).value();
  EXPECT_TRUE(has_row(*one, 1) && has_row(*two, 1));
  EXPECT_FALSE(open_store(nullptr, how)) << "an owner beside readers";
}

} // namespace weir::storage
