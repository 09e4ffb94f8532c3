#include "storage/disk/log_repair.hpp"
#include "storage/disk/log_scan.hpp"
#include "storage/format/crc32c.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>

// The tail rule of storage-format.md 1.1: damage at the very end is cut off;
// with damage that is followed by valid records the store does not start.

namespace weir::storage {

namespace {

using tests::content_of;
using tests::files_like;
using tests::has_row;
using tests::memory_disk;
using tests::open_store;
using tests::path_of;
using tests::put_row;

/// A store that was killed with `rows` rows in its only log.
std::unique_ptr<memory_disk> killed_store(uint64_t rows) {
  auto disk = std::make_unique<memory_disk>();
  auto store = open_store(disk.get(), {.write_buffer_bytes = 4'194'304});
  for (uint64_t i = 0; i < rows; ++i)
    EXPECT_TRUE(put_row(**store, i, sync_mode::durable));
  disk->kill();
  store->reset();
  disk->power_on();
  return disk;
}

std::string only_log(const memory_disk& disk) {
  const auto logs = files_like(disk, ".log");
  EXPECT_EQ(logs.size(), 1u);
  return path_of(logs.at(0));
}

std::string manifest_of(const memory_disk& disk) {
  for (const auto& name : disk.names())
    if (name.find("MANIFEST") != std::string::npos)
      return name;
  ADD_FAILURE() << "no MANIFEST";
  return {};
}

/// Offsets of the fragments of a log, and its length.
std::vector<size_t> fragments(const std::string& log) {
  std::vector<size_t> out;
  for (size_t at = 0; at < log.size();) {
    const auto left = log_file_block_size - at % log_file_block_size;
    if (left < 7) {
      at += left;
      continue;
    }
    out.push_back(at);
    at += 7 + static_cast<uint8_t>(log[at + 4])
          + static_cast<uint8_t>(log[at + 5]) * size_t{256};
  }
  out.push_back(log.size());
  return out;
}

void expect_refused(memory_disk& disk, const std::string& why) {
  const auto before = content_of(disk);
  const auto store = open_store(&disk);
  ASSERT_FALSE(store) << why;
  EXPECT_EQ(store.error().code, ec::storage_failure) << why;
  EXPECT_NE(store.error().context.find("damaged"), std::string::npos);
  EXPECT_TRUE(content_of(disk) == before) << why;
}

void expect_rows(memory_disk& disk, uint64_t rows, uint64_t tried) {
  const auto store = open_store(&disk);
  ASSERT_TRUE(store) << store.error().context;
  EXPECT_EQ(tests::dense_rows(**store, tried), rows);
}

std::vector<std::string> side_files(const memory_disk& disk) {
  std::vector<std::string> out;
  for (const auto& name : disk.names())
    if (name.find("/cut-") != std::string::npos)
      out.push_back(name);
  return out;
}

} // namespace

TEST(LogRepairTest, ASoundLogIsLeftAsItIs) {
  const auto disk = killed_store(100);
  const auto before = content_of(*disk);
  EXPECT_TRUE(repair_logs(*disk, tests::store_directory));
  EXPECT_TRUE(content_of(*disk) == before);
  expect_rows(*disk, 100, 101);
}

TEST(LogRepairTest, ATornTailIsLeftAsItIsAtEveryLength) {
  const auto whole = killed_store(6);
  const auto name = only_log(*whole);
  const auto log = whole->read(name);
  const auto starts = fragments(log);
  for (size_t size = 0; size < log.size(); size += size % 7 == 0 ? 1 : 5) {
    const auto disk = whole->clone();
    disk->write(name, log.substr(0, size));
    const auto before = content_of(*disk);
    ASSERT_TRUE(repair_logs(*disk, tests::store_directory));
    ASSERT_TRUE(content_of(*disk) == before) << size;
    // The first record is the epoch; without it there is no row either.
    size_t records = 0;
    while (records + 1 < starts.size() && starts[records + 1] <= size)
      ++records;
    expect_rows(*disk, records == 0 ? 0 : records - 1, 6);
  }
}

TEST(LogRepairTest, ADamagedTailIsCutAndKeptInASideFile) {
  for (const char filler : {'\0', '\xff', 'x'}) {
    const auto disk = killed_store(100);
    const auto name = only_log(*disk);
    const auto sound = disk->read(name);
    const auto starts = fragments(sound);
    const auto last = starts[starts.size() - 2];
    // The second half of the last record did not reach the disk.
    auto log = sound;
    log.replace(last + 200, std::string::npos,
                std::string(log.size() - last - 200, filler));
    disk->write(name, log);
    ASSERT_TRUE(repair_logs(*disk, tests::store_directory));
    EXPECT_TRUE(disk->read(name) == sound.substr(0, last));
    const auto side = side_files(*disk);
    ASSERT_EQ(side.size(), 1u);
    EXPECT_NE(side[0].find("-" + std::to_string(last)), std::string::npos);
    EXPECT_TRUE(disk->read(side[0]) == log.substr(last));
    expect_rows(*disk, 99, 100);
    EXPECT_EQ(side_files(*disk).size(), 1u) << "LevelDB leaves it alone";
  }
}

TEST(LogRepairTest, RubbishBehindTheLastRecordIsCut) {
  const auto random = seeded_random(8);
  for (const size_t size : {1, 6, 7, 100, 4'096, 100'000}) {
    for (const bool zeros : {true, false}) {
      const auto disk = killed_store(100);
      const auto name = only_log(*disk);
      auto log = disk->read(name);
      for (size_t i = 0; i < size; ++i)
        log.push_back(zeros ? '\0' : static_cast<char>(random->next()));
      disk->write(name, log);
      expect_rows(*disk, 100, 101);
    }
  }
}

TEST(LogRepairTest, DamageThatValidRecordsFollowRefusesToStart) {
  const auto whole = killed_store(200);
  const auto name = only_log(*whole);
  const auto log = whole->read(name);
  const auto starts = fragments(log);
  ASSERT_GT(log.size(), 2 * log_file_block_size);
  const auto random = seeded_random(9);
  for (int run = 0; run < 300; ++run) {
    const auto disk = whole->clone();
    const auto at = random->below(starts[starts.size() - 2]);
    const auto bit = static_cast<unsigned>(random->below(8));
    // Up to six bytes at the end of a block do not belong to a record.
    const auto next
      = std::upper_bound(starts.begin(), starts.end(), at) - starts.begin();
    if (log_file_block_size - at % log_file_block_size < 7
        && starts[static_cast<size_t>(next)] % log_file_block_size == 0)
      continue;
    disk->flip_bit(name, at, bit);
    expect_refused(*disk, "bit " + std::to_string(bit) + " of byte "
                            + std::to_string(at));
  }
}

TEST(LogRepairTest, ZerosInTheMiddleRefuseToStart) {
  const auto whole = killed_store(200);
  const auto name = only_log(*whole);
  const auto log = whole->read(name);
  const auto starts = fragments(log);
  // LevelDB itself silently skips zeros at the start of a record.
  for (const size_t record : {3, 50, 120}) {
    const auto disk = whole->clone();
    auto changed = log;
    changed.replace(starts[record], 4'096, std::string(4'096, '\0'));
    disk->write(name, changed);
    expect_refused(*disk, "zeros at record " + std::to_string(record));
  }
}

TEST(LogRepairTest, AWrongLengthInTheLastBlockRefusesToStart) {
  const auto whole = killed_store(20);
  const auto name = only_log(*whole);
  const auto starts = fragments(whole->read(name));
  // LevelDB treats a length beyond the end of the file as the end of the log.
  for (size_t record = 0; record + 1 < starts.size(); ++record) {
    const auto disk = whole->clone();
    disk->flip_bit(name, starts[record] + 5, 6);
    expect_refused(*disk, "length of record " + std::to_string(record));
  }
}

TEST(LogRepairTest, WhatLooksLikeARecordInsideATornOneIsNone) {
  // A valid log record as the content of a row, which a stranger could send.
  const auto payload = std::string(40, '\x02');
  const std::string covered = '\x01' + payload;
  auto sum = masked_crc32c(crc32c(covered));
  std::string forged;
  for (int i = 0; i < 4; ++i, sum >>= 8)
    forged.push_back(static_cast<char>(sum));
  forged += std::string{"\x28\0", 2} + covered;

  const auto disk = std::make_unique<memory_disk>();
  auto store = open_store(disk.get());
  ASSERT_TRUE(put_row(**store, 0));
  write_batch batch;
  batch.put(tests::row_key(1), forged + forged + std::string(1'000, 'x'));
  ASSERT_TRUE((*store)->write(batch, sync_mode::relaxed));
  disk->kill();
  store->reset();
  disk->power_on();
  const auto name = only_log(*disk);
  auto log = disk->read(name);
  log.resize(log.size() - 500);
  disk->write(name, log);
  expect_rows(*disk, 1, 2);
}

TEST(LogRepairTest, AnOlderLogMayNotEndEarly) {
  const auto disk = killed_store(100);
  const auto name = only_log(*disk);
  // A newer log was begun: there are two logs, and both must be replayed.
  auto log = disk->read(name);
  const auto starts = fragments(log);
  disk->write(path_of("000099.log"), log.substr(0, starts[3]));
  disk->write(name, log.substr(0, log.size() - 10));
  expect_refused(*disk, "an older log is torn");
  disk->write(path_of("000099.log"), {});
  expect_rows(*disk, 99, 100);
}

TEST(LogRepairTest, ADamagedManifestRefusesToStart) {
  const auto whole = killed_store(100);
  const auto manifest = manifest_of(*whole);
  const auto size = whole->read(manifest).size();
  for (size_t byte = 0; byte < size; ++byte) {
    const auto disk = whole->clone();
    disk->flip_bit(manifest, byte, 3);
    expect_refused(*disk, "byte " + std::to_string(byte));
  }
}

// Edits of a running store: the files that an edit replaces are removed, so the
// state before it cannot be restored.
TEST(LogRepairTest, AManifestThatGrewIsRefusedOrLosesNoRow) {
  constexpr uint64_t rows = 500;
  memory_disk whole;
  {
    auto store = open_store(&whole).value();
    for (uint64_t i = 0; i < rows; ++i)
      ASSERT_TRUE(put_row(*store, i));
    store->files().wait_until_idle();
  }
  const auto name = manifest_of(whole);
  const auto size = whole.read(name).size();
  ASSERT_GT(size, 150u) << "only one edit";
  for (size_t byte = 0; byte < size; ++byte) {
    const auto disk = whole.clone();
    disk->flip_bit(name, byte, 3);
    const auto store = open_store(disk.get());
    if (!store)
      EXPECT_NE(store.error().context.find(name), std::string::npos);
    else
      EXPECT_EQ(tests::dense_rows(**store, rows), rows) << "byte " << byte;
  }
}

// A power loss can garble an edit that was being written.
TEST(LogRepairTest, AnEditThatWasNeverDurableIsCut) {
  const auto disk = killed_store(100);
  const auto name = manifest_of(*disk);
  disk->write(name, disk->read(name) + std::string(20, '\0'));
  expect_rows(*disk, 100, 200);
  EXPECT_EQ(side_files(*disk).size(), 1u);
}

TEST(LogRepairTest, AnEditIsNotCutWhenALogBeforeItIsGone) {
  const auto disk = killed_store(100);
  const auto name = manifest_of(*disk);
  disk->write(name, disk->read(name) + std::string(20, '\0'));
  ASSERT_TRUE(disk->RemoveFile(only_log(*disk)).ok());
  expect_refused(*disk, "no log");
}

TEST(LogRepairTest, ACrashWhileCuttingLosesNothing) {
  const auto damaged = killed_store(50);
  const auto name = only_log(*damaged);
  damaged->write(name, damaged->read(name) + std::string(5'000, 'x'));
  for (uint64_t nth = 1;; ++nth) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const auto disk = damaged->clone();
      tests::fault_env faults{*disk};
      faults.plan({.nth = nth, .sticky = true, .torn = 128});
      const auto done = repair_logs(faults, tests::store_directory);
      const auto random = seeded_random(seed);
      disk->cut_power(*random);
      disk->power_on();
      expect_rows(*disk, 50, 51);
      if (done)
        return;
      EXPECT_EQ(done.error().code, ec::storage_failure);
    }
  }
}

// -- the scanner, alone -------------------------------------------------------

namespace {

struct scanned {
  std::vector<std::string> records;
  bool torn = false;
  std::optional<uint64_t> damage;
  bool valid_after = false;
  uint64_t valid_bytes = 0;
};

scanned scan(const std::string& file) {
  scanned out;
  log_scanner scanner{[&](std::string_view x) {
                        out.records.emplace_back(x);
                      },
                      [](std::string_view) {
                        return true;
                      }};
  for (size_t at = 0; at < file.size(); at += log_file_block_size)
    scanner.feed(std::string_view{file}.substr(at, log_file_block_size),
                 at + log_file_block_size >= file.size());
  out.torn = scanner.torn();
  out.damage = scanner.damage();
  out.valid_after = scanner.valid_after();
  out.valid_bytes = scanner.valid_bytes();
  return out;
}

} // namespace

TEST(LogScanTest, ReadsRecordsThatSpanBlocks) {
  memory_disk disk;
  auto store = open_store(&disk, {.write_buffer_bytes = 4'194'304});
  for (uint32_t size : {10u, 40'000u, 100'000u, 32'768u}) {
    write_batch batch;
    batch.put(encode_key(upstream_key{size}), std::string(size, 'v'));
    ASSERT_TRUE((*store)->write(batch, sync_mode::durable));
  }
  const auto file = disk.read(only_log(disk));
  const auto x = scan(file);
  ASSERT_EQ(x.records.size(), 5u); // The first is the epoch.
  EXPECT_EQ(x.records[3].find(std::string(100'000, 'v')),
            x.records[3].size() - 100'000);
  EXPECT_EQ(x.valid_bytes, file.size());
  EXPECT_FALSE(x.torn || x.damage || x.valid_after);
}

TEST(LogScanTest, NeverReadsBeyondWhatIsThere) {
  const auto disk = killed_store(200);
  const auto sound = disk->read(only_log(*disk));
  const auto random = seeded_random(10);
  for (int run = 0; run < 500; ++run) {
    auto file = sound.substr(0, random->below(sound.size()));
    for (int change = 0; change < 3 && !file.empty(); ++change)
      file[random->below(file.size())] = static_cast<char>(random->next());
    const auto x = scan(file);
    EXPECT_LE(x.valid_bytes, file.size());
    EXPECT_EQ(file.substr(0, x.valid_bytes), sound.substr(0, x.valid_bytes));
  }
}

} // namespace weir::storage
