#include "storage/disk/safe_env.hpp"

#include "storage/disk/background_worker.hpp"
#include "storage/disk/guarded_file.hpp"

#include <atomic>
#include <mutex>

namespace weir::storage {

namespace {

using leveldb::Status;

std::string parent_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash);
}

std::string_view last_part(std::string_view name) noexcept {
  return name.substr(name.rfind('/') + 1);
}

bool is_log(std::string_view name) noexcept {
  return name.ends_with(".log");
}

bool is_manifest(std::string_view name) noexcept {
  return last_part(name).starts_with("MANIFEST-");
}

/// LevelDB's text log is useful but never needed.
bool is_info_log(std::string_view name) noexcept {
  return last_part(name).starts_with("LOG");
}

} // namespace

/// The Env itself. Its files and its logger report to it.
class safe_env::impl final : public leveldb::EnvWrapper, public write_guard {
public:
  explicit impl(safe_env_options x)
    : EnvWrapper(x.disk), options_(std::move(x)) {}

  // -- write_guard ------------------------------------------------------------

  Status healthy() const override {
    if (!poisoned_.load(std::memory_order_acquire))
      return Status::OK();
    const std::lock_guard guard{mutex_};
    return Status::IOError("the store failed before", reason_.context);
  }

  Status check(Status x) override {
    if (x.ok())
      return x;
    const auto reason = disk_error(x);
    {
      const std::lock_guard guard{mutex_};
      if (poisoned_.load(std::memory_order_relaxed))
        return x;
      reason_ = reason;
      poisoned_.store(true, std::memory_order_release);
    }
    if (options_.on_poison)
      options_.on_poison(reason);
    return x;
  }

  Status sync_parent(const std::string& name) override {
    return check(options_.disk->sync_directory(parent_of(name)));
  }

  // -- Env --------------------------------------------------------------------

  Status NewRandomAccessFile(const std::string& name,
                             leveldb::RandomAccessFile** out) override {
    auto status = target()->NewRandomAccessFile(name, out);
    // LevelDB would report "not found" as if a row were missing.
    if (status.IsNotFound())
      return Status::Corruption(name, "the file is gone");
    return status;
  }

  Status NewWritableFile(const std::string& name,
                         leveldb::WritableFile** out) override {
    *out = nullptr;
    if (auto x = healthy(); !x.ok())
      return x;
    leveldb::WritableFile* file = nullptr;
    if (auto x = create(name, &file); !x.ok())
      return x;
    std::unique_ptr<leveldb::WritableFile> owner{file};
    if (is_log(name))
      if (auto x = begin_log(name); !x.ok())
        return x;
    const auto kind = is_log(name)        ? file_kind::log
                      : is_manifest(name) ? file_kind::manifest
                                          : file_kind::other;
    *out = guarded_file(std::move(owner), name, kind, *this);
    return Status::OK();
  }

  /// LevelDB appends only when it is configured to reuse logs, which we never
  /// do.
  Status NewAppendableFile(const std::string& name,
                           leveldb::WritableFile** out) override {
    *out = nullptr;
    return Status::NotSupported(name, "nothing is appended to old files");
  }

  Status RenameFile(const std::string& from, const std::string& to) override {
    if (is_info_log(to))
      return target()->RenameFile(from, to);
    if (auto x = healthy(); !x.ok())
      return x;
    if (auto x = rename(from, to); !x.ok())
      return x;
    return last_part(to) == "CURRENT" ? sync_parent(to) : Status::OK();
  }

  Status RemoveFile(const std::string& name) override {
    if (auto x = healthy(); !x.ok())
      return x;
    const auto passage = gate_.pass();
    return gate_.keeps(name) ? Status::OK() : target()->RemoveFile(name);
  }

  Status NewLogger(const std::string& name, leveldb::Logger** out) override {
    *out = bounded_logger(*target(), name, options_.info_log_bytes_max);
    return Status::OK();
  }

  void Schedule(void (*function)(void*), void* argument) override {
    worker_.post(function, argument);
  }

  // -- safe_env ---------------------------------------------------------------

  void wait_until_idle() const { worker_.wait_until_idle(); }

  file_gate& gate() override { return gate_; }

  /// A file that cannot be removed stays until the next open, which removes it.
  void end_hold() {
    for (const auto& name : gate_.release())
      RemoveFile(name);
  }

private:
  Status create(const std::string& name, leveldb::WritableFile** out) {
    const auto passage = gate_.pass();
    return check(target()->NewWritableFile(name, out));
  }

  Status rename(const std::string& from, const std::string& to) {
    const auto passage = gate_.pass();
    return check(target()->RenameFile(from, to));
  }

  Status begin_log(const std::string& name) {
    auto out = sync_parent(name);
    return out.ok() && options_.on_log ? check(options_.on_log(name)) : out;
  }

  safe_env_options options_;
  mutable std::mutex mutex_;
  std::atomic<bool> poisoned_{false};
  error reason_;
  file_gate gate_;
  background_worker worker_;
};

namespace {

template <class Owner>
class held_files final : public file_hold {
public:
  explicit held_files(Owner& x) : owner_(x) { owner_.gate().hold(); }
  ~held_files() override { owner_.end_hold(); }
  held_files(const held_files&) = delete;
  held_files& operator=(const held_files&) = delete;

private:
  Owner& owner_;
};

} // namespace

safe_env::safe_env(safe_env_options options)
  : impl_(std::make_unique<impl>(std::move(options))) {}

safe_env::~safe_env() = default;

leveldb::Env* safe_env::env() const noexcept {
  return impl_.get();
}

void safe_env::wait_until_idle() const {
  impl_->wait_until_idle();
}

file_gate::stand_still safe_env::stand_still() {
  return impl_->gate().stop();
}

std::unique_ptr<file_hold> safe_env::hold_files() {
  return std::make_unique<held_files<impl>>(*impl_);
}

} // namespace weir::storage
