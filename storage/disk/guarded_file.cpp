#include "storage/disk/guarded_file.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <utility>

namespace weir::storage {

namespace {

using leveldb::Slice;
using leveldb::Status;

class guarded final : public leveldb::WritableFile {
public:
  guarded(std::unique_ptr<leveldb::WritableFile> base, std::string name,
          file_kind kind, write_guard& owner)
    : base_(std::move(base)), name_(std::move(name)), kind_(kind),
      owner_(owner) {}

  /// LevelDB 1.23 destroys its logs without calling Close.
  ~guarded() override {
    if (!closed_)
      sync_before_close();
  }

  Status Append(const Slice& data) override {
    if (auto x = owner_.healthy(); !x.ok())
      return x;
    // A MANIFEST names files. Their directory entries must be durable before
    // its bytes, which may survive without a sync.
    if (kind_ == file_kind::manifest && !dirty_)
      if (auto x = owner_.sync_parent(name_); !x.ok())
        return x;
    dirty_ = true;
    const auto passage = owner_.gate().pass();
    return owner_.check(base_->Append(data));
  }

  Status Flush() override {
    if (auto x = owner_.healthy(); !x.ok())
      return x;
    const auto passage = owner_.gate().pass();
    return owner_.check(base_->Flush());
  }

  /// It takes long, so it does not pass the gate: LevelDB has flushed what it
  /// syncs, except for the end of a table that no MANIFEST names yet.
  Status Sync() override {
    if (auto x = owner_.healthy(); !x.ok())
      return x;
    auto out = owner_.check(base_->Sync());
    dirty_ = dirty_ && !out.ok();
    return out;
  }

  Status Close() override {
    closed_ = true;
    auto synced = sync_before_close();
    auto out = base_->Close();
    return synced.ok() ? owner_.check(out) : synced;
  }

private:
  Status sync_before_close() {
    return kind_ == file_kind::log && dirty_ ? Sync() : Status::OK();
  }

  std::unique_ptr<leveldb::WritableFile> base_;
  std::string name_;
  file_kind kind_;
  write_guard& owner_;
  bool dirty_ = false;
  bool closed_ = false;
};

class bounded final : public leveldb::Logger {
public:
  bounded(leveldb::Env& files, std::string name, uint64_t bytes_max)
    : files_(files), name_(std::move(name)), bytes_max_(bytes_max) {
    start();
  }

  void Logv(const char* format, std::va_list arguments) override {
    std::array<char, 512> line{};
    const auto size
      = std::vsnprintf(line.data(), line.size(), format, arguments);
    if (size <= 0)
      return;
    std::string text = time_text();
    text.append(line.data(),
                std::min(static_cast<size_t>(size), line.size() - 1));
    if (text.back() != '\n')
      text.push_back('\n');
    const std::lock_guard guard{mutex_};
    if (bytes_ + text.size() > bytes_max_)
      start_anew();
    if (file_ == nullptr)
      return;
    bytes_ += text.size();
    if (!file_->Append(text).ok() || !file_->Flush().ok())
      file_ = nullptr;
  }

private:
  void start() {
    leveldb::WritableFile* file = nullptr;
    if (files_.NewWritableFile(name_, &file).ok())
      file_.reset(file);
    bytes_ = 0;
  }

  void start_anew() {
    file_ = nullptr;
    files_.RenameFile(name_, name_ + ".old");
    start();
  }

  std::string time_text() const {
    constexpr uint64_t second = 1'000'000;
    const auto now = files_.NowMicros();
    const auto seconds = static_cast<std::time_t>(now / second);
    std::tm parts{};
    std::array<char, 64> text{};
    if (gmtime_r(&seconds, &parts) == nullptr)
      return {};
    const auto size = std::strftime(text.data(), text.size(), "%FT%T ", &parts);
    return {text.data(), size};
  }

  leveldb::Env& files_;
  std::string name_;
  uint64_t bytes_max_;
  std::mutex mutex_;
  std::unique_ptr<leveldb::WritableFile> file_;
  uint64_t bytes_ = 0;
};

} // namespace

leveldb::WritableFile* guarded_file(std::unique_ptr<leveldb::WritableFile> base,
                                    std::string name, file_kind kind,
                                    write_guard& owner) {
  return new guarded{std::move(base), std::move(name), kind, owner};
}

leveldb::Logger* bounded_logger(leveldb::Env& files, std::string name,
                                uint64_t bytes_max) {
  return new bounded{files, std::move(name), bytes_max};
}

} // namespace weir::storage
