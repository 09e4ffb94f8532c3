#pragma once

#include "storage/backup/backup_writer.hpp"
#include "storage/backup/limits.hpp"
#include "storage/backup/restore.hpp"
#include "storage/disk/partition_stores.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

namespace weir::tests {

/// The machine's disk, of which a test says how much is free and whether files
/// can have second names.
class plain_disk final : public storage::disk_env {
public:
  plain_disk() : disk_env(&storage::posix_disk()) {}

  leveldb::Status sync_directory(const std::string& directory) override {
    return below.sync_directory(directory);
  }

  leveldb::Status space(const std::string&, storage::disk_space& out) override {
    out.free = free;
    return leveldb::Status::OK();
  }

  leveldb::Status
  lock_owner(const std::string& file, bool shared,
             std::unique_ptr<storage::owner_lock>& out) override {
    return below.lock_owner(file, shared, out);
  }

  leveldb::Status check_place(const std::string& directory) override {
    return below.check_place(directory);
  }

  leveldb::Status link_file(const std::string& from,
                            const std::string& to) override {
    return links ? below.link_file(from, to) : disk_env::link_file(from, to);
  }

  leveldb::Status stamp(const std::string& name,
                        storage::file_stamp& out) override {
    return below.stamp(name, out);
  }

  leveldb::Status check_owned(const std::string& directory) override {
    return below.check_owned(directory);
  }

  bool links = true;
  uint64_t free = std::numeric_limits<uint64_t>::max();

private:
  disk_env& below = storage::posix_disk();
};

/// A store with tables, and a directory for its backups.
class BackupTest : public testing::Test {
protected:
  static constexpr uint64_t rows_at_first = 1'000;

  BackupTest() {
    open();
    put(rows_at_first);
  }

  void open() {
    store_settings how;
    how.directory = data;
    how.seed = 7; // The identity of the log comes from it.
    store = open_store(nullptr, how).value();
  }

  void put(uint64_t count) {
    for (const auto end = rows + count; rows < end; ++rows)
      put_row(*store, rows, storage::sync_mode::relaxed).value();
  }

  storage::backup_order order(uint64_t last_operation) {
    return {backups, data, {store.get()}, "epoch", {last_operation}};
  }
  storage::backup_order order() { return order(rows); }

  result<storage::backup_writer> begin(storage::backup_order what) {
    return storage::backup_writer::begin(std::move(what), *disk,
                                         system_clock());
  }
  result<storage::backup_writer> begin() { return begin(order()); }

  /// Does all steps of a backup.
  static result<storage::backup_summary> finish(storage::backup_writer& x) {
    for (;;) {
      const auto over = x.step();
      if (!over)
        return over.error();
      if (*over)
        return x.summary();
    }
  }

  result<storage::backup_summary> back_up() {
    auto x = begin();
    return x ? finish(*x) : x.error();
  }

  std::string folder_of(unsigned number) const {
    return backups + "/backup-00000" + std::to_string(number);
  }

  /// The rows in a store that is restored from the newest backup; the test
  /// fails when there is a hole, or a row has another value.
  uint64_t restored_rows(uint64_t tried) {
    const auto where = dir.at("restored" + std::to_string(restored++));
    auto x = storage::restoration::begin(
      *disk, storage::find_backup(*disk, backups).value(), where);
    EXPECT_TRUE(x) << x.error().context;
    x->copy().value();
    x->complete().value();
    store_settings how;
    how.directory = where;
    const auto copy = open_store(nullptr, how);
    EXPECT_TRUE(copy) << copy.error().context;
    return copy ? dense_rows(**copy, tried) : 0;
  }

  /// The names in a directory, in order.
  static std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> out;
    for (const auto& x : std::filesystem::directory_iterator{directory})
      out.push_back(x.path().filename().string());
    std::ranges::sort(out);
    return out;
  }

  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::string backups = dir.at("backups");
  storage::disk_env* disk = &storage::posix_disk();
  uint64_t rows = 0; ///< Rows that the store has.
  int restored = 0;
  std::unique_ptr<storage::database> store;
};

} // namespace weir::tests
