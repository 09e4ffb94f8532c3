#include "storage/disk/safe_env_disk.hpp"

#include <leveldb/helpers/memenv.h>

#include <atomic>
#include <mutex>
#include <set>

namespace weir::storage {

namespace {

using leveldb::Status;

/// LevelDB's own lock is not taken, so the real LOCK stays untouched.
class no_lock final : public leveldb::FileLock {};

/// Writes go to memory. Reads first look there, and then in the files below
/// that were not removed.
class overlay final : public overlay_disk {
public:
  explicit overlay(disk_env& below)
    : overlay_disk(&below), below_(below), above_(leveldb::NewMemEnv(&below)) {}

  Status NewSequentialFile(const std::string& name,
                           leveldb::SequentialFile** out) override {
    *out = nullptr;
    return place_of(name).NewSequentialFile(name, out);
  }

  Status NewRandomAccessFile(const std::string& name,
                             leveldb::RandomAccessFile** out) override {
    *out = nullptr;
    return place_of(name).NewRandomAccessFile(name, out);
  }

  Status NewWritableFile(const std::string& name,
                         leveldb::WritableFile** out) override {
    *out = nullptr;
    if (tables_refused_ && name.ends_with(".ldb"))
      return Status::NotSupported(name, "is read only");
    hide(name);
    return above_->NewWritableFile(name, out);
  }

  Status NewAppendableFile(const std::string& name,
                           leveldb::WritableFile** out) override {
    *out = nullptr;
    return Status::NotSupported(name, "is read only");
  }

  bool FileExists(const std::string& name) override {
    return place_of(name).FileExists(name);
  }

  Status GetChildren(const std::string& directory,
                     std::vector<std::string>* out) override {
    std::vector<std::string> lower;
    auto status = above_->GetChildren(directory, out);
    if (const auto x = below_.GetChildren(directory, &lower); !x.ok())
      status = x;
    const std::lock_guard guard{mutex_};
    for (auto& name : lower)
      if (!hidden_.contains(directory + "/" + name))
        out->push_back(std::move(name));
    return status;
  }

  Status RemoveFile(const std::string& name) override {
    if (!FileExists(name))
      return Status::NotFound(name, "no such file");
    hide(name);
    if (above_->FileExists(name))
      return above_->RemoveFile(name);
    return Status::OK();
  }

  Status CreateDir(const std::string&) override { return Status::OK(); }

  Status RemoveDir(const std::string&) override { return Status::OK(); }

  Status GetFileSize(const std::string& name, uint64_t* size) override {
    return place_of(name).GetFileSize(name, size);
  }

  Status RenameFile(const std::string& from, const std::string& to) override {
    if (!above_->FileExists(from)) {
      std::string text;
      if (const auto x = leveldb::ReadFileToString(this, from, &text); !x.ok())
        return x;
      if (const auto x = leveldb::WriteStringToFile(above_.get(), text, from);
          !x.ok())
        return x;
    }
    hide(from);
    hide(to);
    return above_->RenameFile(from, to);
  }

  Status LockFile(const std::string&, leveldb::FileLock** out) override {
    *out = new no_lock;
    return Status::OK();
  }

  Status UnlockFile(leveldb::FileLock* x) override {
    delete x;
    return Status::OK();
  }

  Status sync_directory(const std::string&) override { return Status::OK(); }

  Status space(const std::string& directory, disk_space& out) override {
    return below_.space(directory, out);
  }

  Status lock_owner(const std::string& file, bool,
                    std::unique_ptr<owner_lock>& out) override {
    return below_.lock_owner(file, true, out);
  }

  Status check_place(const std::string&) override { return Status::OK(); }

  void refuse_tables() noexcept override { tables_refused_ = true; }

private:
  /// Hides a file that is below.
  void hide(const std::string& name) {
    const std::lock_guard guard{mutex_};
    hidden_.insert(name);
  }

  leveldb::Env& place_of(const std::string& name) {
    if (above_->FileExists(name))
      return *above_;
    const std::lock_guard guard{mutex_};
    return hidden_.contains(name) ? *above_ : static_cast<Env&>(below_);
  }

  disk_env& below_;
  std::unique_ptr<leveldb::Env> above_;
  std::mutex mutex_;
  std::set<std::string> hidden_;
  std::atomic<bool> tables_refused_ = false;
};

} // namespace

std::unique_ptr<overlay_disk> read_only_disk(disk_env& base) {
  return std::make_unique<overlay>(base);
}

} // namespace weir::storage
