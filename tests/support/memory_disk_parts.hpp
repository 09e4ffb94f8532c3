#pragma once

#include "storage/disk/safe_env_disk.hpp"
#include "tests/support/heap_tag.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// The internal types of `memory_disk`.
namespace weir::tests {

struct memory_file {
  std::string data;
  size_t synced = 0;
};

using memory_directory = std::map<std::string, std::shared_ptr<memory_file>>;

/// One change of a directory: `name` now refers to `file`, the name `gone` is
/// removed, or both at once (a rename).
struct entry_change {
  std::string name;
  std::shared_ptr<memory_file> file;
  std::string gone;

  void apply_to(memory_directory& to) const {
    if (file)
      to[name] = file;
    if (!gone.empty())
      to.erase(gone);
  }
};

struct memory_state {
  mutable std::mutex mutex;
  bool powered = true;
  memory_directory live;
  memory_directory durable;
  std::vector<entry_change> pending; ///< Not in `durable` yet, in order.
  memory_directory after;            ///< The content after `power_on`.
  std::set<std::string> owners;

  void change(entry_change x) {
    const heap_scope outside{heap_of_world};
    x.apply_to(live);
    pending.push_back(std::move(x));
  }
};

inline leveldb::Status no_power(const std::string& name) {
  return leveldb::Status::IOError(name, "the power is off");
}

class memory_reader final : public leveldb::SequentialFile,
                            public leveldb::RandomAccessFile {
public:
  memory_reader(std::shared_ptr<memory_state> disk,
                std::shared_ptr<memory_file> file)
    : disk_(std::move(disk)), file_(std::move(file)) {
    // nop
  }

  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* out,
                       char* scratch) const override {
    const std::lock_guard guard{disk_->mutex};
    if (!disk_->powered)
      return no_power("a file");
    const auto at = std::min<uint64_t>(offset, file_->data.size());
    const auto size = std::min<uint64_t>(n, file_->data.size() - at);
    if (size != 0)
      std::memcpy(scratch, file_->data.data() + at, size);
    *out = leveldb::Slice{scratch, size};
    return leveldb::Status::OK();
  }

  leveldb::Status Read(size_t n, leveldb::Slice* out, char* scratch) override {
    auto x = Read(at_, n, out, scratch);
    at_ += x.ok() ? out->size() : 0;
    return x;
  }

  leveldb::Status Skip(uint64_t n) override {
    at_ += n;
    return leveldb::Status::OK();
  }

private:
  std::shared_ptr<memory_state> disk_;
  std::shared_ptr<memory_file> file_;
  uint64_t at_ = 0;
};

class memory_writer final : public leveldb::WritableFile {
public:
  memory_writer(std::shared_ptr<memory_state> disk,
                std::shared_ptr<memory_file> file)
    : disk_(std::move(disk)), file_(std::move(file)) {
    // nop
  }

  leveldb::Status Append(const leveldb::Slice& data) override {
    const std::lock_guard guard{disk_->mutex};
    if (!disk_->powered)
      return no_power("a file");
    // The content of a disk is not memory of its user.
    const heap_scope outside{heap_of_world};
    file_->data.append(data.data(), data.size());
    return leveldb::Status::OK();
  }

  leveldb::Status Flush() override { return leveldb::Status::OK(); }

  leveldb::Status Sync() override {
    const std::lock_guard guard{disk_->mutex};
    if (!disk_->powered)
      return no_power("a file");
    file_->synced = file_->data.size();
    return leveldb::Status::OK();
  }

  leveldb::Status Close() override { return leveldb::Status::OK(); }

private:
  std::shared_ptr<memory_state> disk_;
  std::shared_ptr<memory_file> file_;
};

class memory_lock final : public storage::owner_lock {
public:
  memory_lock(std::shared_ptr<memory_state> disk, std::string name)
    : disk_(std::move(disk)), name_(std::move(name)) {
    // nop
  }

  ~memory_lock() override {
    const std::lock_guard guard{disk_->mutex};
    disk_->owners.erase(name_);
  }

private:
  std::shared_ptr<memory_state> disk_;
  std::string name_;
};

} // namespace weir::tests
