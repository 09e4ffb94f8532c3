#include "storage/disk/safe_env_disk.hpp"

#include "storage/disk/regular_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace weir::storage {

namespace {

using leveldb::Slice;
using leveldb::Status;

Status read_at(int file, const std::string& name, uint64_t offset, size_t n,
               Slice* out, char* scratch) {
  size_t done = 0;
  while (done < n) {
    const auto got = ::pread(file, scratch + done, n - done,
                             static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return posix_error(name);
    if (got == 0)
      break;
    done += static_cast<size_t>(got);
  }
  *out = Slice{scratch, done};
  return Status::OK();
}

/// A table whose file stays open.
class open_table final : public leveldb::RandomAccessFile {
public:
  open_table(std::string name, int file, std::atomic<long>& budget)
    : name_(std::move(name)), file_(file), budget_(budget) {}

  ~open_table() override { ++budget_; }

  Status Read(uint64_t offset, size_t n, Slice* out,
              char* scratch) const override {
    return read_at(file_.get(), name_, offset, n, out, scratch);
  }

private:
  std::string name_;
  descriptor file_;
  std::atomic<long>& budget_;
};

/// A table that is opened for each read, because few descriptors are left.
class closed_table final : public leveldb::RandomAccessFile {
public:
  explicit closed_table(std::string name) : name_(std::move(name)) {}

  Status Read(uint64_t offset, size_t n, Slice* out,
              char* scratch) const override {
    descriptor file;
    if (auto x = open_regular(name_, O_RDONLY, file); !x.ok())
      return x;
    return read_at(file.get(), name_, offset, n, out, scratch);
  }

private:
  std::string name_;
};

class flock_lock final : public owner_lock {
public:
  flock_lock(int file, const std::string& name)
    : file_(file), directory_(name.substr(0, name.rfind('/'))),
      held_(::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  bool is_in_place() const override {
    struct stat held {};
    struct stat there {};
    if (!held_.ok() || ::fstat(held_.get(), &held) != 0)
      return true;
    if (::stat(directory_.c_str(), &there) != 0)
      return errno != ENOENT && errno != ENOTDIR;
    return held.st_dev == there.st_dev && held.st_ino == there.st_ino;
  }

private:
  descriptor file_;
  std::string directory_;
  descriptor held_; ///< The directory that was locked.
};

std::string holder_of(int file) {
  std::array<char, 32> text{};
  const auto size = ::pread(file, text.data(), text.size() - 1, 0);
  if (size <= 0)
    return "another process";
  return "process " + std::string{text.data(), static_cast<size_t>(size)};
}

/// The text is only for people. The lock counts, and it works on a full disk.
void note_holder(int file) {
  const auto text = std::to_string(::getpid());
  if (::ftruncate(file, 0) == 0) [[maybe_unused]]
    const auto written = ::pwrite(file, text.data(), text.size(), 0);
}

bool network_file_system(long type) noexcept {
  constexpr long smb2 = 0xfe534d42;
  constexpr long cifs = 0xff534d42;
  switch (static_cast<uint32_t>(type)) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case V9FS_MAGIC:
    case smb2:
    case cifs:
      return true;
    default:
      return false;
  }
}

/// Tables may use half of the descriptors; sockets need the others.
long descriptor_budget() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 0;
  constexpr rlim_t enough = 1'000'000;
  return static_cast<long>(std::min(limit.rlim_cur, enough) / 2);
}

class posix_env final : public disk_env {
public:
  explicit posix_env(long open_tables_max)
    : disk_env(leveldb::Env::Default()), budget_(open_tables_max) {}

  Status NewSequentialFile(const std::string& name,
                           leveldb::SequentialFile** out) override {
    return open_sequential(name, out);
  }

  Status NewWritableFile(const std::string& name,
                         leveldb::WritableFile** out) override {
    *out = nullptr;
    if (auto x = check_regular(name); !x.ok())
      return x;
    return target()->NewWritableFile(name, out);
  }

  Status LockFile(const std::string& name, leveldb::FileLock** out) override {
    *out = nullptr;
    if (auto x = check_regular(name); !x.ok())
      return x;
    return target()->LockFile(name, out);
  }

  Status NewRandomAccessFile(const std::string& name,
                             leveldb::RandomAccessFile** out) override {
    *out = nullptr;
    descriptor file;
    if (auto x = open_regular(name, O_RDONLY, file); !x.ok())
      return x;
    if (budget_.fetch_sub(1) > 0) {
      *out = new open_table{name, file.release(), budget_};
    } else {
      ++budget_;
      *out = new closed_table{name};
    }
    return Status::OK();
  }

  Status sync_directory(const std::string& directory) override {
    const descriptor file{
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!file.ok() || ::fsync(file.get()) != 0)
      return posix_error(directory);
    return Status::OK();
  }

  Status space(const std::string& directory, disk_space& out) override {
    struct statvfs x {};
    struct stat place {};
    if (::statvfs(directory.c_str(), &x) != 0
        || ::stat(directory.c_str(), &place) != 0)
      return posix_error(directory);
    out.free = static_cast<uint64_t>(x.f_bavail) * x.f_frsize;
    out.total = static_cast<uint64_t>(x.f_blocks) * x.f_frsize;
    out.device = place.st_dev;
    return Status::OK();
  }

  Status lock_owner(const std::string& name, bool shared,
                    std::unique_ptr<owner_lock>& out) override {
    const int flags = shared ? O_RDONLY : O_RDWR | O_CREAT;
    descriptor file;
    const auto opened = open_regular(name, flags, file);
    if (shared && opened.IsNotFound()) {
      out = std::make_unique<owner_lock>();
      return Status::OK();
    }
    if (!opened.ok())
      return opened;
    if (::flock(file.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK)
        return posix_error(name); // unreachable: a kernel without memory
      return Status::IOError(name, "in use by " + holder_of(file.get()));
    }
    if (!shared)
      note_holder(file.get());
    out = std::make_unique<flock_lock>(file.release(), name);
    return Status::OK();
  }

  Status check_place(const std::string& directory) override {
    struct statfs x {};
    if (::statfs(directory.c_str(), &x) != 0)
      return posix_error(directory);
    if (network_file_system(static_cast<long>(x.f_type)))
      return Status::NotSupported(
        directory, "a network file system keeps neither locks nor fsync");
    return make_private(directory);
  }

  Status link_file(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0)
      return Status::OK();
    const auto cannot = {EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS};
    if (std::ranges::find(cannot, errno) != cannot.end())
      return Status::NotSupported(to, std::strerror(errno));
    return posix_error(to);
  }

  Status stamp(const std::string& name, file_stamp& out) override {
    struct stat x {};
    if (::stat(name.c_str(), &x) != 0)
      return posix_error(name);
    constexpr int64_t second = 1'000'000'000;
    out = {x.st_dev, x.st_ino, x.st_mtim.tv_sec * second + x.st_mtim.tv_nsec};
    return Status::OK();
  }

  Status check_owned(const std::string& directory) override {
    return storage::check_owned(directory);
  }

  Status create_private(const std::string& directory) override {
    constexpr mode_t owner_alone = 0700;
    return ::mkdir(directory.c_str(), owner_alone) == 0
             ? Status::OK()
             : posix_error(directory);
  }

private:
  std::atomic<long> budget_;
};

} // namespace

disk_env& posix_disk() noexcept {
  // Never destroyed: LevelDB's own thread may outlive static objects.
  static auto* const instance = make_posix_disk(descriptor_budget()).release();
  return *instance;
}

std::unique_ptr<disk_env> make_posix_disk(long open_tables_max) {
  return std::make_unique<posix_env>(open_tables_max);
}

bool says_disk_full(const leveldb::Status& x) {
  const auto text = x.ToString();
  return text.find(std::strerror(ENOSPC)) != std::string::npos
         || text.find(std::strerror(EDQUOT)) != std::string::npos;
}

error disk_error(const leveldb::Status& x) {
  return fail(says_disk_full(x) ? ec::disk_full : ec::storage_failure,
              x.ToString());
}

Status write_durably(leveldb::Env& files, const std::string& name,
                     const std::string& text) {
  leveldb::WritableFile* file = nullptr;
  auto status = files.NewWritableFile(name, &file);
  const std::unique_ptr<leveldb::WritableFile> owner{file};
  if (status.ok())
    status = file->Append(text);
  if (status.ok())
    status = file->Sync();
  if (status.ok())
    status = file->Close();
  return status;
}

Status replace_file(leveldb::Env& files, const std::string& name,
                    const std::string& text) {
  const auto draft = name + ".draft";
  const auto status = write_durably(files, draft, text);
  return status.ok() ? files.RenameFile(draft, name) : status;
}

} // namespace weir::storage
