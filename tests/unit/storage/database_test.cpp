#include "storage/database.hpp"

#include "storage/store_identity.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

namespace weir::storage {

namespace {

using tests::content_of;
using tests::fault_env;
using tests::has_row;
using tests::io_call;
using tests::io_error;
using tests::kind_bit;
using tests::memory_disk;
using tests::open_store;
using tests::path_of;
using tests::put_row;
using tests::row_key;
using tests::row_value;

std::string key_of(uint32_t id) {
  return encode_key(upstream_key{id});
}

} // namespace

TEST(DatabaseTest, RowsComeBackAlsoAfterTheNextOpen) {
  memory_disk disk;
  {
    auto store = open_store(&disk).value();
    write_batch batch;
    batch.put(key_of(1), "one");
    batch.put(key_of(2), "two");
    ASSERT_TRUE(store->write(batch, sync_mode::durable));
    batch.clear();
    batch.erase(key_of(1));
    ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
    EXPECT_EQ(store->get(key_of(1)).value(), std::nullopt);
  }
  auto store = open_store(&disk).value();
  EXPECT_EQ(store->get(key_of(1)).value(), std::nullopt);
  EXPECT_EQ(store->get(key_of(2)).value(), "two");
}

TEST(DatabaseTest, ABatchCountsRowsAndBytes) {
  write_batch batch;
  EXPECT_TRUE(batch.empty());
  batch.put("key", "value");
  batch.erase("gone");
  EXPECT_EQ(batch.rows(), 2u);
  EXPECT_EQ(batch.puts(), 1u);
  EXPECT_EQ(batch.erases(), 1u);
  EXPECT_EQ(batch.bytes(), 12u);
  batch.clear();
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.bytes(), 0u);
}

TEST(DatabaseTest, AScanStaysInItsRange) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  write_batch batch;
  for (uint32_t id = 1; id <= 9; ++id)
    batch.put(key_of(id), std::to_string(id));
  batch.put(encode_key(host_key{"h"}), "behind");
  ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  const auto read = [&](const key_range& range, std::string_view seek = {}) {
    std::string out;
    auto rows = store->scan(range);
    if (!seek.empty())
      rows.seek(seek);
    for (; rows.valid(); rows.next())
      out += rows.value();
    EXPECT_TRUE(rows.status());
    return out;
  };
  const auto all = range_of<upstream_key>();
  EXPECT_EQ(read(all), "123456789");
  EXPECT_EQ(read({key_of(3), key_of(6)}), "345");
  EXPECT_EQ(read({key_of(6), key_of(6)}), "");
  EXPECT_EQ(read({key_of(8), ""}), "89behind");
  EXPECT_EQ(read(all, key_of(7)), "789");
  EXPECT_EQ(read({key_of(3), key_of(6)}, key_of(1)), "345");
  EXPECT_EQ(read({key_after(key_of(3)), key_of(6)}), "45");
}

TEST(DatabaseTest, TheLastRowOfARangeIsFound) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  const auto last = [&](const key_range& range) {
    const auto row = store->last_in(range).value();
    return row ? row->second : "none";
  };
  EXPECT_EQ(last(range_of<upstream_key>()), "none");
  write_batch batch;
  for (const uint32_t id : {3u, 5u, 7u})
    batch.put(key_of(id), std::to_string(id));
  ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  EXPECT_EQ(last(range_of<upstream_key>()), "7");
  EXPECT_EQ(last({key_of(1), key_of(7)}), "5");
  EXPECT_EQ(last({key_of(4), key_of(5)}), "none");
  EXPECT_EQ(last({key_of(1), key_of(3)}), "none");
  EXPECT_EQ(last({key_of(1), ""}), "7");
  batch.clear();
  batch.put(encode_key(host_key{"h"}), "behind");
  ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  EXPECT_EQ(last(range_of<upstream_key>()), "7");
}

TEST(DatabaseTest, CountsReadsAndWrites) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  ASSERT_TRUE(put_row(*store, 1));
  has_row(*store, 1);
  has_row(*store, 2);
  store->scan(range_of<repo_key>());
  const auto x = store->counters();
  EXPECT_EQ(x.gets, 2u);
  EXPECT_EQ(x.scans, 1u);
  EXPECT_EQ(x.batches, 1u);
  EXPECT_EQ(x.rows, 1u);
  EXPECT_EQ(x.bytes, row_key(1).size() + row_value(1).size());
}

TEST(DatabaseTest, TheIdentityStaysAndTheEpochGrows) {
  memory_disk disk;
  std::set<uint64_t> epochs;
  uint64_t identity = 0;
  uint64_t last_counter = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    auto store = open_store(&disk, {.seed = seed}).value();
    EXPECT_NE(store->log_identity(), 0u);
    EXPECT_TRUE(identity == 0 || identity == store->log_identity());
    identity = store->log_identity();
    EXPECT_EQ(store->store_epoch() >> 32, ++last_counter);
    epochs.insert(store->store_epoch() & 0xffffffff);
  }
  EXPECT_EQ(epochs.size(), 5u) << "the random half repeats";
  memory_disk other;
  EXPECT_NE(open_store(&other, {.seed = 2}).value()->log_identity(), identity);
}

// -- who may open -------------------------------------------------------------

TEST(DatabaseTest, ASecondOwnerInTheSameProcessIsRefused) {
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
  // The refused ones have not loosened the lock.
  EXPECT_FALSE(open_store(nullptr, how));
  ASSERT_TRUE(put_row(*store, 1));
  store = nullptr;
  EXPECT_TRUE(has_row(*open_store(nullptr, how).value(), 1));
}

TEST(DatabaseTest, ASecondOwnerInAnotherProcessIsRefused) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  auto store = open_store(nullptr, how).value();
  // Opening and closing LOCK here would set it free for others: only our own
  // lock holds then.
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

TEST(DatabaseTest, ADeadOwnerHoldsNothing) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store")};
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto store = open_store(nullptr, how);
    const bool ok = store && put_row(**store, 1);
    ::_exit(ok ? 0 : 1); // No destructor runs: as after kill -9.
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(has_row(*open_store(nullptr, how).value(), 1));
}

// -- what may be opened: P18 --------------------------------------------------

TEST(DatabaseTest, AnotherFormatIsRefusedAndNothingChanges) {
  memory_disk disk;
  put_row(*open_store(&disk).value(), 1);
  auto text = disk.read(path_of("FORMAT"));
  text.replace(text.find("unstable 0"), 10, "stable 7");
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

TEST(DatabaseTest, ADatabaseOfSomebodyElseIsRefusedAndNothingChanges) {
  memory_disk disk;
  disk.write(path_of("CURRENT"), "MANIFEST-000001\n");
  const auto before = content_of(disk);
  const auto store = open_store(&disk);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ec::invalid_argument);
  EXPECT_TRUE(content_of(disk) == before);
}

TEST(DatabaseTest, ADamagedFormatFileIsRefused) {
  memory_disk disk;
  open_store(&disk).value();
  const auto sound = disk.read(path_of("FORMAT"));
  EXPECT_EQ(sound.substr(0, sound.size() - 17),
            "weir store\nformat: unstable 0\nidentity: ");
  for (const auto& text :
       {std::string{}, sound.substr(0, sound.size() - 1), sound + "x",
        std::string{"weir store\nformat: unstable 0\n"}}) {
    disk.write(path_of("FORMAT"), text);
    EXPECT_EQ(open_store(&disk).error().code, ec::storage_failure) << text;
  }
}

TEST(DatabaseTest, TheFormatFileOfAnotherStoreIsRefused) {
  memory_disk disk;
  open_store(&disk).value();
  disk.write(path_of("FORMAT"), to_text({.log_identity = 1}));
  const auto store = open_store(&disk);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ec::storage_failure);
}

TEST(DatabaseTest, WithoutCurrentNoStoreIsMadeOverTheOldOne) {
  memory_disk disk;
  put_row(*open_store(&disk).value(), 1);
  ASSERT_TRUE(disk.RemoveFile(path_of("CURRENT")).ok());
  const auto before = content_of(disk);
  EXPECT_EQ(open_store(&disk).error().code, ec::storage_failure);
  EXPECT_TRUE(content_of(disk) == before);
}

// -- reading only -------------------------------------------------------------

TEST(DatabaseTest, AReaderSeesEverythingAndChangesNothing) {
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

TEST(DatabaseTest, AReaderFindsNoStoreWhereThereIsNone) {
  memory_disk disk;
  EXPECT_EQ(open_store(&disk, {.access = access_mode::read_only}).error().code,
            ec::not_found);
  EXPECT_TRUE(disk.names().empty());
}

TEST(DatabaseTest, ReadersShareARealStore) {
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

// -- failing: P1, P13 ---------------------------------------------------------

TEST(DatabaseTest, AfterAFailedWriteNothingIsWrittenAndReadsGoOn) {
  for (const auto kind : {io_error::io, io_error::no_space}) {
    memory_disk disk;
    fault_env faults{disk};
    std::vector<ec> told;
    auto store
      = open_store(&faults, {.on_failure = [&](const error& x) {
                     told.push_back(x.code);
                   }})
          .value();
    ASSERT_TRUE(put_row(*store, 0));
    faults.plan({.error = kind, .torn = 100, .name_ends_with = ".log"});
    const auto code
      = kind == io_error::io ? ec::storage_failure : ec::disk_full;
    EXPECT_EQ(put_row(*store, 1).error().code, code);
    EXPECT_EQ(put_row(*store, 2).error().code, code);
    EXPECT_TRUE(store->failed());
    EXPECT_EQ(store->failure().code, code);
    EXPECT_EQ(told, std::vector{code});
    EXPECT_TRUE(has_row(*store, 0));
    EXPECT_FALSE(has_row(*store, 2));
    store = nullptr;
    store = open_store(&faults).value();
    EXPECT_TRUE(has_row(*store, 0));
    EXPECT_FALSE(has_row(*store, 2));
    EXPECT_TRUE(put_row(*store, 2));
  }
}

TEST(DatabaseTest, TwentyFailedWritesLoseNothingThatWasAcknowledged) {
  memory_disk disk;
  fault_env faults{disk};
  std::set<uint64_t> acknowledged;
  uint64_t next = 0;
  for (int round = 0; round < 20; ++round) {
    faults.heal();
    auto store = open_store(&faults);
    ASSERT_TRUE(store) << store.error().context;
    faults.plan({.nth = 100, .torn = static_cast<unsigned>(round * 13),
                 .kinds = kind_bit(io_call::append),
                 .name_ends_with = ".log"});
    while (put_row(**store, next))
      acknowledged.insert(next++);
    ++next; // Outcome unknown.
  }
  EXPECT_GE(acknowledged.size(), 20u * 40);
  auto store = open_store(&disk).value();
  for (const auto i : acknowledged)
    EXPECT_TRUE(has_row(*store, i)) << i;
}

TEST(DatabaseTest, AFailureInTheBackgroundStopsWriting) {
  memory_disk disk;
  fault_env faults{disk};
  auto store = open_store(&faults).value();
  faults.plan({.sticky = true, .name_ends_with = ".ldb"});
  uint64_t written = 0;
  while (written < 10'000 && put_row(*store, written, sync_mode::relaxed))
    ++written;
  EXPECT_LT(written, 10'000u);
  EXPECT_TRUE(store->failed());
  store = nullptr;
  faults.heal();
  store = open_store(&faults).value();
  for (uint64_t i = 0; i < written; ++i)
    ASSERT_TRUE(has_row(*store, i));
}

TEST(DatabaseTest, AFullDiskEndsWritingAndWithRoomItGoesOn) {
  memory_disk disk;
  fault_env faults{disk};
  auto store = open_store(&faults).value();
  faults.budget(300'000);
  uint64_t written = 0;
  result<void> last;
  while ((last = put_row(*store, written)))
    ++written;
  EXPECT_EQ(last.error().code, ec::disk_full);
  EXPECT_LT(store->free_bytes().value(), 300'000u);
  EXPECT_TRUE(has_row(*store, written - 1));
  store = nullptr;
  faults.budget(std::nullopt);
  store = open_store(&faults).value();
  for (uint64_t i = 0; i < written; ++i)
    ASSERT_TRUE(has_row(*store, i));
  EXPECT_TRUE(put_row(*store, written));
}

TEST(DatabaseTest, ReportsItsFilesAndSizes) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  for (uint64_t i = 0; i < 800; ++i)
    ASSERT_TRUE(put_row(*store, i, sync_mode::relaxed));
  store->files().wait_until_idle();
  EXPECT_GE(store->level0_files(), 0);
  EXPECT_GT(store->approximate_bytes(range_of<time_index_key>()), 100'000u);
  EXPECT_EQ(store->approximate_bytes(range_of<repo_key>()), 0u);
  EXPECT_GT(store->files().counters().bytes_written, 300'000u);
  EXPECT_EQ(store->free_bytes().value(), disk.free);
}

} // namespace weir::storage
