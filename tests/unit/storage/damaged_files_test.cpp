#include "storage/disk/manifest.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

// Files of a store that were removed, or damaged by the disk: the store never
// opens with less content, and the error says what to do. The state after a
// crash does not count as damage.

namespace weir::storage {

namespace {

using testing::HasSubstr;
using tests::content_of;
using tests::files_like;
using tests::memory_disk;
using tests::open_store;
using tests::path_of;
using tests::put_row;

constexpr access_mode both_modes[] = {access_mode::owner,
                                      access_mode::read_only};

/// A closed store with `rows` rows that are only in its log.
std::unique_ptr<memory_disk> closed_store(uint64_t rows) {
  auto disk = std::make_unique<memory_disk>();
  const auto store = open_store(disk.get(), {.write_buffer_bytes = 4'194'304});
  for (uint64_t i = 0; i < rows; ++i)
    EXPECT_TRUE(put_row(**store, i));
  return disk;
}

void expect_refused(memory_disk& disk, const std::string& words) {
  const auto before = content_of(disk);
  for (const auto access : both_modes) {
    const auto store = open_store(&disk, {.access = access});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ec::storage_failure);
    EXPECT_THAT(store.error().context, HasSubstr(words));
    EXPECT_THAT(store.error().context, HasSubstr("put the file back"));
    EXPECT_THAT(store.error().context, HasSubstr("restore a backup"));
    EXPECT_TRUE(content_of(disk) == before) << "nothing was changed";
  }
}

/// Opens a store twice, writes many logs and tables, and closes it.
/// @returns the number of rows that it acknowledged
uint64_t use_store(disk_env& disk, int rows) {
  uint64_t acknowledged = 0;
  for (int opening = 0; opening < 2; ++opening) {
    const auto store = open_store(&disk, {.write_buffer_bytes = 16'384});
    for (int i = 0; store && i < rows; ++i) {
      if (!put_row(**store, acknowledged))
        break;
      ++acknowledged;
    }
  }
  return acknowledged;
}

/// The expected result of every opening of a store after a crash.
void expect_opens(memory_disk& disk, uint64_t acknowledged) {
  for (const auto access : {access_mode::read_only, access_mode::owner}) {
    const auto store = open_store(&disk, {.access = access});
    if (!store && store.error().code == ec::not_found && acknowledged == 0)
      continue;
    ASSERT_TRUE(store) << store.error().context;
    EXPECT_GE(tests::dense_rows(**store, acknowledged + 2), acknowledged);
  }
}

} // namespace

// -- the log ------------------------------------------------------------------

// LevelDB would start silently and use the ids of the rows again.
TEST(DamagedFilesTest, AStoreWithoutItsLogIsRefusedUntilItIsBack) {
  const auto disk = closed_store(50);
  const auto logs = files_like(*disk, ".log");
  ASSERT_EQ(logs.size(), 1u);
  const auto log = disk->read(path_of(logs[0]));
  ASSERT_TRUE(disk->RemoveFile(path_of(logs[0])).ok());
  expect_refused(*disk, path_of(logs[0]) + " is gone");
  disk->write(path_of(logs[0]), log);
  expect_opens(*disk, 50);
}

TEST(DamagedFilesTest, ANewerLogDoesNotStandInForTheOneThatIsGone) {
  const auto disk = closed_store(50);
  const auto name = path_of(files_like(*disk, ".log").at(0));
  disk->write(path_of("000099.log"), disk->read(name));
  ASSERT_TRUE(disk->RemoveFile(name).ok());
  expect_refused(*disk, name + " is gone");
}

/// A store that was killed while one log was replaced by the next.
std::unique_ptr<memory_disk> killed_between_logs(uint64_t& rows) {
  auto disk = std::make_unique<memory_disk>();
  tests::fault_env faults{*disk};
  std::promise<void> killed;
  // Until then the table of the old log waits.
  faults.plan({.kinds = tests::kind_bit(tests::io_call::create),
               .name_ends_with = ".ldb",
               .instead = [done = killed.get_future().share()] {
                 done.wait();
               }});
  auto store = open_store(&faults);
  for (rows = 0; files_like(*disk, ".log").size() < 2; ++rows)
    EXPECT_TRUE(put_row(**store, rows));
  disk->kill();
  killed.set_value();
  store->reset();
  disk->power_on();
  return disk;
}

// The MANIFEST has only the oldest log.
TEST(DamagedFilesTest, TheNewestOfTwoLogsIsMissedToo) {
  uint64_t rows = 0;
  const auto whole = killed_between_logs(rows);
  const auto logs = files_like(*whole, ".log");
  ASSERT_EQ(logs.size(), 2u);
  for (const auto& name : logs) {
    const auto disk = whole->clone();
    ASSERT_TRUE(disk->RemoveFile(path_of(name)).ok());
    expect_refused(*disk, path_of(name) + " is gone");
  }
  expect_opens(*whole, rows);
}

// A store of an earlier version has no side file, and a bit of the file may
// flip.
TEST(DamagedFilesTest, WithoutASideFileThatSaysSomethingNothingIsMissed) {
  const auto whole = closed_store(50);
  const auto name = path_of("NEWEST_LOG");
  const auto sound = whole->read(name);
  EXPECT_TRUE(sound.starts_with(files_like(*whole, ".log").at(0) + " "))
    << sound;
  for (size_t byte = 0; byte < sound.size(); ++byte) {
    const auto disk = whole->clone();
    disk->flip_bit(name, byte, 0);
    expect_opens(*disk, 50);
  }
  ASSERT_TRUE(whole->RemoveFile(name).ok());
  expect_opens(*whole, 50);
  EXPECT_TRUE(whole->FileExists(name));
}

TEST(DamagedFilesTest, AStoreThatDiedBeforeItsFirstLogIsMade) {
  memory_disk disk;
  tests::fault_env faults{disk};
  faults.plan({.kinds = tests::kind_bit(tests::io_call::create),
               .name_ends_with = ".log",
               .instead = [&] {
                 disk.kill();
               }});
  EXPECT_FALSE(open_store(&faults));
  ASSERT_TRUE(faults.reached());
  disk.power_on();
  ASSERT_TRUE(disk.FileExists(path_of("CURRENT")));
  ASSERT_TRUE(files_like(disk, ".log").empty());
  expect_opens(disk, 0);
}

// Every moment of the first openings, of the change of logs and of compactions:
// killed, and with a power loss.
TEST(DamagedFilesTest, NoCrashLeavesAStoreWhoseLogIsMissed) {
  constexpr tests::power_loss losses[] = {
    {.bytes = tests::kept::none, .entries = tests::kept::none},
    {.bytes = tests::kept::all, .entries = tests::kept::none},
    {.bytes = tests::kept::none, .entries = tests::kept::all},
    {}};
  for (size_t how = 0; how <= std::size(losses); ++how) {
    for (uint64_t nth = 1;; nth += nth < 80 ? 1 : 17) {
      SCOPED_TRACE("way " + std::to_string(how) + ", call "
                   + std::to_string(nth));
      const auto random = seeded_random(nth);
      memory_disk disk;
      tests::fault_env faults{disk};
      faults.plan({.nth = nth, .instead = [&] {
                     if (how < std::size(losses))
                       disk.cut_power(*random, losses[how]);
                     else
                       disk.kill();
                   }});
      const auto acknowledged = use_store(faults, 120);
      const bool reached = faults.reached();
      if (reached)
        disk.power_on();
      expect_opens(disk, acknowledged);
      if (testing::Test::HasFailure())
        return;
      if (!reached)
        break;
    }
  }
}

// A name that is not durable yet may be lost while another of the same time is
// not.
TEST(DamagedFilesTest, NoPowerLossTakesALogThatIsNamed) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", call "
                   + std::to_string(nth));
      const auto random = seeded_random(seed);
      memory_disk disk;
      tests::fault_env faults{disk};
      faults.plan({.nth = nth,
                   .kinds = tests::kind_bit(tests::io_call::sync_directory),
                   .instead = [&] {
                     disk.cut_power(*random);
                   }});
      const auto acknowledged = use_store(faults, 45);
      if (!faults.reached())
        break;
      disk.power_on();
      expect_opens(disk, acknowledged);
      if (testing::Test::HasFailure())
        return;
    }
  }
}

// -- the tables ---------------------------------------------------------------

namespace {

constexpr uint64_t table_rows = 500;

/// An open store with rows in damaged tables.
std::unique_ptr<database> store_of_damaged_tables(memory_disk& disk) {
  {
    const auto store = open_store(&disk).value();
    for (uint64_t i = 0; i < table_rows; ++i)
      EXPECT_TRUE(put_row(*store, i));
  }
  auto store = open_store(&disk).value();
  store->release_memory();
  const auto tables = files_like(disk, ".ldb");
  EXPECT_FALSE(tables.empty());
  for (const auto& name : tables)
    disk.flip_bit(path_of(name), disk.read(path_of(name)).size() / 2, 1);
  return store;
}

void expect_remedy(const error& x) {
  EXPECT_EQ(x.code, ec::storage_failure);
  EXPECT_THAT(x.context, HasSubstr("checksum mismatch"));
  EXPECT_THAT(x.context, HasSubstr(std::string{tests::store_directory}
                                   + " is damaged (Corruption"));
  EXPECT_THAT(x.context, HasSubstr("): restore a backup, or rebuild it from "
                                   "the network in a new directory"));
}

} // namespace

// The reason of the line `node_failed`.
TEST(DamagedFilesTest, ADamagedTableFoundByAReadIsNamedWithARemedy) {
  memory_disk disk;
  const auto store = store_of_damaged_tables(disk);
  uint64_t failed = 0;
  for (uint64_t i = 0; i < table_rows; ++i)
    if (const auto got = store->get(tests::row_key(i)); !got) {
      expect_remedy(got.error());
      ++failed;
    }
  EXPECT_GT(failed, 0u);
  auto rows = store->scan({tests::row_key(0), tests::row_key(table_rows)});
  while (rows.valid())
    rows.next();
  ASSERT_FALSE(rows.status());
  expect_remedy(rows.status().error());
}

// LevelDB would treat it as "there is no such row".
TEST(DamagedFilesTest, ATableThatGoesWhileTheStoreIsOpenIsNoMissingRow) {
  memory_disk disk;
  {
    const auto store = open_store(&disk).value();
    for (uint64_t i = 0; i < table_rows; ++i)
      ASSERT_TRUE(put_row(*store, i));
    store->release_memory();
  }
  const auto store = open_store(&disk).value(); // It opens few of its tables.
  for (const auto& name : files_like(disk, ".ldb"))
    ASSERT_TRUE(disk.RemoveFile(path_of(name)).ok());
  uint64_t failed = 0;
  for (uint64_t i = 0; i < table_rows; ++i) {
    const auto got = store->get(tests::row_key(i));
    ASSERT_TRUE(!got || *got) << "row " << i << " is said not to be there";
    if (got)
      continue;
    ++failed;
    EXPECT_THAT(got.error().context, HasSubstr(".ldb: the file is gone"));
    EXPECT_THAT(got.error().context, HasSubstr("): restore a backup"));
  }
  EXPECT_GT(failed, 0u);
}

// LevelDB finds the damage when it merges tables, and refuses the next write.
TEST(DamagedFilesTest, ADamagedTableFoundByAWriteIsNamedWithARemedy) {
  memory_disk disk;
  const auto store = store_of_damaged_tables(disk);
  result<void> done;
  for (uint64_t i = 0; done && i < 100 * table_rows; ++i)
    done = put_row(*store, i % table_rows, sync_mode::relaxed);
  ASSERT_FALSE(done);
  expect_remedy(done.error());
  expect_remedy(store->failure());
}

} // namespace weir::storage
