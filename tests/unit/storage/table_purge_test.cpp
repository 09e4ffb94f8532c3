#include "storage/disk/limits.hpp"
#include "storage/disk/table_list.hpp"
#include "tests/support/disk_trials.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <leveldb/db.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

// Deleted data leaves the disk: storage-format.md 6.

namespace weir::storage {
namespace {

using tests::files_like;
using tests::memory_disk;
using tests::number_from;
using tests::open_store;
using tests::row_key;
using tests::row_value;

/// A LevelDB of another version, which has no properties and no rows.
class silent_leveldb final : public leveldb::DB {
public:
  using Status = leveldb::Status;
  using Slice = leveldb::Slice;

  Status Put(const leveldb::WriteOptions&, const Slice&,
             const Slice&) override {
    return {};
  }
  Status Delete(const leveldb::WriteOptions&, const Slice&) override {
    return {};
  }
  Status Write(const leveldb::WriteOptions&, leveldb::WriteBatch*) override {
    return {};
  }
  Status Get(const leveldb::ReadOptions&, const Slice&, std::string*) override {
    return Status::NotFound("");
  }
  leveldb::Iterator* NewIterator(const leveldb::ReadOptions&) override {
    return leveldb::NewEmptyIterator();
  }
  const leveldb::Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const leveldb::Snapshot*) override {}
  bool GetProperty(const Slice&, std::string*) override { return false; }
  void GetApproximateSizes(const leveldb::Range*, int, uint64_t*) override {}
  void CompactRange(const Slice*, const Slice*) override {}
};

constexpr uint64_t rows_max = 1'000;
constexpr uint64_t megabyte = 1'048'576;

class TablePurgeTest : public testing::Test {
protected:
  void SetUp() override { open(67'108'864); }

  void open(size_t write_buffer_bytes) {
    store.reset();
    auto opened = open_store(&counted, {.write_buffer_bytes = write_buffer_bytes});
    ASSERT_TRUE(opened) << opened.error().context;
    store = std::move(*opened);
    buffer_ = write_buffer_bytes;
  }

  /// Afterwards data that was in memory is in a table.
  void reopen() { open(buffer_); }

  void put(uint64_t i, const std::string& value) {
    write_batch batch;
    batch.put(row_key(i), value);
    ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  }

  void erase(uint64_t i) {
    write_batch batch;
    batch.erase(row_key(i));
    ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  }

  void purge(uint64_t first, uint64_t last) {
    const auto gone = store->purge({row_key(first), row_key(last + 1)});
    ASSERT_TRUE(gone) << gone.error().context;
    EXPECT_TRUE(*gone);
  }

  /// The file that contains the value; empty when none does.
  std::string on_disk(const std::string& value) const {
    for (const auto& name : disk.names())
      if (disk.read(name).find(value) != std::string::npos)
        return name;
    return {};
  }

  memory_disk disk;
  tests::fault_env counted{disk};
  std::unique_ptr<database> store;

private:
  size_t buffer_ = 0;
};

TEST_F(TablePurgeTest, WhatWasWrittenAndDeletedInOneMemtableLeavesTheDisk) {
  put(1, row_value(1));
  put(2, row_value(2));
  put(3, row_value(3));
  erase(2);
  ASSERT_NE(on_disk(row_value(2)), "");
  purge(2, 2);
  EXPECT_EQ(on_disk(row_value(2)), "");
  EXPECT_EQ(store->get(row_key(1)).value(), row_value(1));
  EXPECT_EQ(store->get(row_key(3)).value(), row_value(3));
}

TEST_F(TablePurgeTest, ATableWithThatOneRowOnlyGoes) {
  put(2, row_value(2));
  erase(2);
  reopen();
  put(1, row_value(1));
  purge(2, 2);
  EXPECT_EQ(on_disk(row_value(2)), "");
}

TEST_F(TablePurgeTest, WhatWasOverwrittenLeavesTheDisk) {
  put(2, row_value(2));
  reopen();
  put(2, row_value(7));
  purge(1, 3);
  EXPECT_EQ(on_disk(row_value(2)), "");
  EXPECT_EQ(store->get(row_key(2)).value(), row_value(7));
}

TEST_F(TablePurgeTest, WhatAReaderHoldsIsToldAndGoesWhenItEnds) {
  put(1, row_value(1));
  put(2, row_value(2));
  reopen();
  std::optional<row_reader> reader{store->scan({row_key(0), row_key(9)})};
  erase(2);
  const key_range range{row_key(2), row_key(3)};
  EXPECT_EQ(store->purge(range).value(), false);
  EXPECT_NE(on_disk(row_value(2)), "");
  reader.reset();
  EXPECT_EQ(store->purge(range).value(), true);
  EXPECT_EQ(on_disk(row_value(2)), "");
}

// limits::purge_rounds_max: each round ends a log, and some write a table
TEST_F(TablePurgeTest, AReaderThatStaysIsNotWaitedForWithoutEnd) {
  const auto files = [this] {
    uint64_t out = 0;
    for (const auto* kind : {".ldb", ".log"})
      for (const auto& name : files_like(disk, kind))
        out = std::max<uint64_t>(out, std::stoull(name));
    return out;
  };
  put(1, row_value(1));
  put(2, row_value(2));
  reopen();
  const row_reader reader{store->scan({row_key(0), row_key(9)})};
  erase(2);
  const key_range range{row_key(2), row_key(3)};
  const auto before = files();
  EXPECT_EQ(store->purge(range).value(), false);
  const auto rounds = static_cast<uint64_t>(limits::purge_rounds_max);
  EXPECT_GE(files() - before, rounds);
  EXPECT_LE(files() - before, 2 * rounds);
}

// limits::purge_rounds_max
TEST_F(TablePurgeTest, TablesThatAlwaysMovedAreNotFollowedWithoutEnd) {
  put(2, row_value(2));
  reopen();
  erase(2);
  store.reset();
  tests::fault_env faults{disk};
  const auto opened = open_store(&faults);
  ASSERT_TRUE(opened) << opened.error().context;
  const key_range range{row_key(2), row_key(3)};
  faults.plan({.sticky = true,
               .kinds = tests::kind_bit(tests::io_call::open)
                        | tests::kind_bit(tests::io_call::exists),
               .name_ends_with = ".ldb",
               .thread = std::this_thread::get_id()});
  EXPECT_EQ((*opened)->purge(range).value(), false);
  EXPECT_GE(faults.failures(),
            2 * static_cast<uint64_t>(limits::purge_rounds_max));
  EXPECT_NE(on_disk(row_value(2)), "");
  faults.heal();
  EXPECT_EQ((*opened)->purge(range).value(), true);
  EXPECT_EQ(on_disk(row_value(2)), "");
}

// For any earlier state of LevelDB's tables.
TEST_F(TablePurgeTest, NothingDeadIsLeftAfterAnyHistory) {
  std::vector<std::optional<uint64_t>> there(rows_max);
  std::vector<std::pair<uint64_t, uint64_t>> written;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    open(65'536);
    const auto random = seeded_random(seed);
    for (uint64_t n = 0; n < 4 * rows_max; ++n) {
      const auto i = random->below(rows_max);
      if (random->below(3) == 0) {
        erase(i);
        there[i].reset();
      } else {
        there[i] = seed * 1'000'000 + n;
        written.emplace_back(i, *there[i]);
        put(i, row_value(*there[i]));
      }
      if (random->below(rows_max) == 0)
        reopen();
    }
    const auto first = random->below(rows_max);
    const auto last
      = std::min(rows_max - 1, first + random->below(rows_max / 4));
    purge(first, last);
    std::string all;
    for (const auto& name : disk.names())
      all += disk.read(name);
    for (const auto& [i, value] : written)
      if (i >= first && i <= last && there[i] != value) {
        EXPECT_EQ(all.find(row_value(value)), std::string::npos) << seed;
      }
    for (uint64_t i = 0; i < rows_max; ++i)
      EXPECT_TRUE(store->get(row_key(i)).value()
                  == (there[i] ? std::optional{row_value(*there[i])}
                               : std::nullopt))
        << i << " of " << seed;
  }
}

TEST_F(TablePurgeTest, TablesWithNothingDeadAreNotRewritten) {
  open(65'536);
  for (uint64_t i = 0; i < rows_max; ++i)
    put(i, row_value(i));
  reopen();
  purge(0, rows_max);
  const auto before = counted.appended();
  erase(500);
  purge(500, 500);
  const auto once = counted.appended();
  // One table, the part of a neighbour that it overlaps, and nothing else.
  EXPECT_LT(once - before, 300'000u) << "of 400,000 and more";
  purge(0, rows_max);
  EXPECT_LT(counted.appended() - once, 2'000u);
}

// A small repo in a large store: three records that are far apart. The long
// form, with the buffers of a node: WEIR_PURGE_MEGABYTES=2048.
TEST(TablePurgeCostTest, ARemovalRewritesTheTablesThatHeldItsRowsOnly) {
  constexpr uint64_t row_bytes = 4'096;
  const auto size = number_from("WEIR_PURGE_MEGABYTES", 32) * megabyte;
  const tests::temp_dir dir;
  database_options how;
  how.directory = dir.at("store");
  tests::fault_env files{posix_disk()};
  how.disk = &files;
  // One table is rewritten with about ten below it. There are so many tables
  // that this is little.
  how.write_buffer_bytes
    = std::clamp<uint64_t>(size / 256, 65'536, how.write_buffer_bytes);
  how.table_bytes
    = std::clamp<uint64_t>(size / 512, 65'536, how.table_bytes);
  const auto store = database::open(how).value();
  const auto random = seeded_random(1);
  const auto rows = size / row_bytes;
  for (uint64_t i = 0; i < rows; ++i) {
    std::string value;
    while (value.size() < row_bytes) {
      const auto word = random->next();
      value.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    write_batch batch;
    batch.put(encode_key(content_block_key{0, i}), value);
    batch.put(row_key(i), "a row of another table");
    ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
    // So that a busy machine leaves the same tables in the same levels.
    store->files().wait_until_idle();
  }
  const std::array places{rows / 10, rows / 2, rows - rows / 10};
  write_batch batch;
  for (const auto i : places)
    batch.erase(encode_key(content_block_key{0, i}));
  const auto before = files.appended();
  ASSERT_TRUE(store->write(batch, sync_mode::relaxed));
  for (const auto i : places)
    EXPECT_TRUE(store
                  ->purge({encode_key(content_block_key{0, i}),
                           encode_key(content_block_key{0, i + 1})})
                  .value());
  const auto written = files.appended() - before;
  RecordProperty("bytes_written", std::to_string(written));
  std::cout << size << " bytes in the store, " << written << " written\n";
  EXPECT_LT(written, size / 2);
}

TEST_F(TablePurgeTest, AStoreThatFailedSaysSo) {
  put(1, row_value(1));
  disk.kill();
  const key_range range{row_key(0), row_key(9)};
  EXPECT_FALSE(store->purge(range));
  EXPECT_FALSE(tests::put_row(*store, 2));
  ASSERT_TRUE(store->failed());
  const auto refused = store->purge(range);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, store->failure().code);
  EXPECT_EQ(refused.error().context, store->failure().context);
}

TEST(TableListTest, KeysThatCannotBePrintedAreReadBack) {
  const auto found = parse_tables(
    "--- level 0 ---\n"
    "--- level 1 ---\n"
    " 17:123['\\x00a' @ 5 : 1 .. 'it's \\ ' @ 1 .. 'x\\xff' @ 7 : 0]\n"
    " 123456:9['\\x41' @ 72057594037927935 : 1 .. '\\x0' @ 8 : 1]\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].number, 17u);
  EXPECT_EQ((*found)[0].smallest, std::string("\0a", 2));
  EXPECT_EQ((*found)[0].largest, "it's \\ ' @ 1 .. 'x\xff");
  EXPECT_EQ((*found)[1].number, 123'456u);
  EXPECT_EQ((*found)[1].smallest, "\\x41") << "an A is printed as it is";
  EXPECT_EQ((*found)[1].largest, "\\x0");
}

TEST(TableListTest, AnotherFormIsRefused) {
  for (const auto* text :
       {"17", " 17", " 17:1['a' .. 'b']\n", "17:1['a' @ 1 : 1 .. 'b' @ 1 : 1]",
        " 17:1['a' @ 1 : 1 .. 'b' @ 1 : 1", " x:1['a' @ 1 : 1 .. 'b' @ 1 : 1]",
        " 17:1[a' @ 1 : 1 .. 'b' @ 1 : 1]", " 17:1['a' @ 1 : 1 .. 'b]",
        " 17:1[' @ 1 : 1 .. 'b' @ 1 : 1]"}) {
    const auto found = parse_tables(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, ec::storage_failure);
    EXPECT_EQ(found.error().context,
              "LevelDB lists its tables in another form");
  }
}

TEST(TableListTest, ALevelDbThatListsNoTablesIsRefused) {
  silent_leveldb db;
  const auto found = list_tables(db);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ec::storage_failure);
  EXPECT_EQ(found.error().context, "LevelDB does not list its tables");
}

} // namespace
} // namespace weir::storage
