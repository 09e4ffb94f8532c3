#pragma once

#include "storage/log/leveldb_store.hpp"
#include "storage/segments/segment_store.hpp"
#include "storage/verify/verify.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/memory_disk.hpp"
#include "tests/support/temp_dir.hpp"

#include <functional>
#include <memory>
#include <string>

// The operation stores that the conformance suite runs on. Another one joins by
// a factory in `store_kinds`.

namespace weir::tests {

/// A store of some kind that can be closed and opened again.
class kept_store {
public:
  virtual ~kept_store() = default;

  virtual storage::operation_store& get() = 0;

  /// Closes the store and opens it again.
  virtual void reopen() = 0;

  /// What a checker of this kind finds; empty when all is well.
  virtual std::string findings() { return ""; }

  manual_clock time;
};

/// LevelDB on a disk of the caller.
class kept_leveldb : public kept_store {
public:
  kept_leveldb(storage::disk_env* disk, std::string directory)
    : disk_(disk), directory_(std::move(directory)) {
    reopen();
  }

  storage::operation_store& get() override { return *store_; }

  void reopen() override {
    store_.reset();
    db_.reset();
    storage::database_options how;
    how.directory = directory_;
    how.disk = disk_;
    db_ = storage::database::open(how).value();
    store_ = storage::leveldb_store::open(*db_, time).value();
  }

  std::string findings() override {
    std::string out;
    for (const auto& x : storage::verify_store(*db_).value().findings)
      out += x.invariant + " " + x.where + ": " + x.sentence + "\n";
    return out;
  }

private:
  storage::disk_env* disk_;
  std::string directory_;
  std::unique_ptr<storage::database> db_;
  std::unique_ptr<storage::leveldb_store> store_;
};

class leveldb_on_disk final : private temp_dir, public kept_leveldb {
public:
  leveldb_on_disk() : kept_leveldb(nullptr, at("store")) {}
};

/// Outlives the store on it.
struct disk_of_a_store {
  memory_disk disk;
};

class leveldb_in_memory final : private disk_of_a_store, public kept_leveldb {
public:
  leveldb_in_memory() : kept_leveldb(&disk, "/store") {}
};

/// Small segments, so that there are several.
class segments_on_disk final : public kept_store {
public:
  segments_on_disk() { reopen(); }

  storage::operation_store& get() override { return *store_; }

  void reopen() override {
    store_.reset();
    storage::segment_options how;
    how.directory = dir_.at("segments");
    how.segment_bytes_max = 4'096;
    store_ = storage::segment_store::open(how, time).value();
  }

private:
  temp_dir dir_;
  std::unique_ptr<storage::segment_store> store_;
};

struct store_kind {
  std::string name;
  std::function<std::unique_ptr<kept_store>()> make;
};

inline std::vector<store_kind> store_kinds() {
  return {
    {"leveldb", [] { return std::make_unique<leveldb_on_disk>(); }},
    {"memory", [] { return std::make_unique<leveldb_in_memory>(); }},
    {"segments", [] { return std::make_unique<segments_on_disk>(); }},
  };
}

} // namespace weir::tests
