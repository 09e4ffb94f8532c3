#include "storage/disk/database.hpp"
#include "storage/disk/store_sizes.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::storage {

namespace {

using tests::fault_env;
using tests::has_row;
using tests::io_call;
using tests::io_error;
using tests::kind_bit;
using tests::memory_disk;
using tests::open_store;
using tests::put_row;
using tests::row_key;
using tests::row_value;

std::string key_of(uint32_t id) {
  return encode_key(upstream_key{id});
}

} // namespace

// actors.md, Erasing: caches are released on request, and nothing else changes.
TEST(DatabaseTest, ReleasedMemoryIsGoneAndEveryRowIsStillThere) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  write_batch batch;
  for (uint32_t i = 0; i < 1'000; ++i)
    batch.put(key_of(i), std::string(1'000, char('a' + i % 26)));
  ASSERT_TRUE(store->write(batch, sync_mode::durable));
  EXPECT_GT(store->memory_bytes(), 1'000'000u) << "the memtable";
  store->release_memory();
  EXPECT_LT(store->memory_bytes(), 100'000u);
  for (uint32_t i = 0; i < 1'000; ++i)
    EXPECT_EQ(store->get(key_of(i)).value(),
              std::string(1'000, char('a' + i % 26)));
  EXPECT_GT(store->memory_bytes(), 500'000u) << "the cache of blocks";
  store->release_memory();
  EXPECT_LT(store->memory_bytes(), 100'000u);
}

// An operator sees what uses the space, including data that is not in a table
// yet.
TEST(DatabaseTest, ItsSizeIsThatOfItsFilesByFamily) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  const auto before = store->file_bytes();
  write_batch batch;
  for (uint32_t i = 0; i < 1'000; ++i)
    batch.put(encode_key(listing_key{i, 0}), std::string(1'000, 'x'));
  ASSERT_TRUE(store->write(batch, sync_mode::durable));
  EXPECT_GT(store->file_bytes(), before + 1'000'000);
  const auto fresh = store_sizes(*store);
  EXPECT_EQ(total_bytes(fresh), store->file_bytes());
  EXPECT_GT(fresh[size_t(table_family::unsorted)], 1'000'000u);
  store.reset();
  store = open_store(&disk).value(); // Recovered data is written to a table.
  const auto sorted = store_sizes(*store);
  EXPECT_EQ(sorted[size_t(table_family::log)], 0u);
  EXPECT_GT(sorted[size_t(table_family::other)], 0u);
  EXPECT_LT(sorted[size_t(table_family::unsorted)],
            fresh[size_t(table_family::unsorted)]);
}

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
  batch.put(encode_key(listing_key{1, 0}), "behind");
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
  batch.put(encode_key(listing_key{1, 0}), "behind");
  ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  EXPECT_EQ(last(range_of<upstream_key>()), "7");
}

TEST(DatabaseTest, CountsReads) {
  memory_disk disk;
  auto store = open_store(&disk).value();
  ASSERT_TRUE(put_row(*store, 1));
  has_row(*store, 1);
  has_row(*store, 2);
  store->scan(range_of<repo_key>());
  const auto x = store->counters();
  EXPECT_EQ(x.gets, 2u);
  EXPECT_EQ(x.scans, 1u);
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

// -- failing ------------------------------------------------------------------

TEST(DatabaseTest, AfterAFailedWriteNothingIsWrittenAndReadsGoOn) {
  for (const auto kind : {io_error::io, io_error::no_space}) {
    memory_disk disk;
    fault_env faults{disk};
    std::vector<ec> told;
    auto store = open_store(&faults, {.on_failure =
                                        [&](const error& x) {
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
    faults.plan({.nth = 100,
                 .torn = static_cast<unsigned>(round * 13),
                 .kinds = kind_bit(io_call::append),
                 .name_ends_with = ".log"});
    while (put_row(**store, next))
      acknowledged.insert(next++);
    ++next; // The outcome is unknown.
  }
  EXPECT_GE(acknowledged.size(), 20u * 40);
  auto store = open_store(&disk).value();
  for (const auto i : acknowledged)
    EXPECT_TRUE(has_row(*store, i)) << i;
}

// The same with the kernel: a limit on file sizes cuts writes short.
TEST(DatabaseTest, AShortWriteOfTheKernelIsNeverFollowedByAnAcknowledgedOne) {
  const tests::temp_dir dir;
  const tests::store_settings how{.directory = dir.at("store"),
                                  .write_buffer_bytes = 4'194'304};
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    auto store = open_store(nullptr, how).value();
    bool ok = true;
    for (uint64_t i = 0; i < 100; ++i)
      ok = ok && put_row(*store, i);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const auto usual = limit.rlim_cur;
    // There is room for a part of the next row.
    for (const auto& file : std::filesystem::directory_iterator{how.directory})
      if (file.path().extension() == ".log")
        limit.rlim_cur = file.file_size() + 60;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 100; i < 103; ++i)
      ok = !put_row(*store, i) && ok;
    limit.rlim_cur = usual;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 103; i < 110; ++i)
      ok = !put_row(*store, i) && ok;
    ::_exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(tests::dense_rows(*open_store(nullptr, how).value(), 110), 100u);
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
  EXPECT_LT(store->space().value().free, 300'000u);
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
  EXPECT_GT(store->file_bytes(), 300'000u);
  EXPECT_EQ(store->space().value().free, disk.free);
}

} // namespace weir::storage
