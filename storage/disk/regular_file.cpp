#include "storage/disk/regular_file.hpp"

#include "base/log.hpp"
#include "storage/disk/limits.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::storage {

namespace {

using leveldb::Slice;
using leveldb::Status;

constexpr mode_t mode_bits = 07777;
constexpr mode_t of_others = 0077;
constexpr mode_t writing_of_others = 0022;

Status not_regular(const std::string& name) {
  return Status::IOError(name, "is no regular file");
}

/// Fails when another user owns the directory.
Status look_at_own(const std::string& directory, struct stat& out) {
  if (::stat(directory.c_str(), &out) != 0)
    return posix_error(directory);
  if (out.st_uid != ::geteuid())
    return Status::IOError(
      directory, "belongs to another user (id " + std::to_string(out.st_uid)
                   + "), who is the one to run this: sudo -u NAME");
  return Status::OK();
}

/// The largest size that a file of this name may have.
uint64_t bytes_max_of(std::string_view name) {
  const auto last = name.substr(name.rfind('/') + 1);
  return last == "FORMAT" || last == "CURRENT"
           ? limits::store_name_file_bytes_max
           : limits::store_file_bytes_max;
}

class sequential_file final : public leveldb::SequentialFile {
public:
  sequential_file(std::string name, descriptor file)
    : name_(std::move(name)), file_(std::move(file)) {}

  Status Read(size_t n, Slice* out, char* scratch) override {
    ssize_t got = 0;
    do
      got = ::read(file_.get(), scratch, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
      return posix_error(name_);
    *out = Slice{scratch, static_cast<size_t>(got)};
    return Status::OK();
  }

  Status Skip(uint64_t n) override {
    if (::lseek(file_.get(), static_cast<off_t>(n), SEEK_CUR) < 0)
      return posix_error(name_);
    return Status::OK();
  }

private:
  std::string name_;
  descriptor file_;
};

} // namespace

descriptor::~descriptor() {
  if (number_ >= 0)
    ::close(number_);
}

Status posix_error(const std::string& name) {
  const int number = errno;
  if (number == ENOENT)
    return Status::NotFound(name, std::strerror(number));
  return Status::IOError(name, std::strerror(number));
}

Status open_regular(const std::string& name, int flags, descriptor& out) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  descriptor file{
    ::open(name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
  if (!file.ok())
    return errno == ELOOP ? not_regular(name) : posix_error(name);
  struct stat x {};
  if (::fstat(file.get(), &x) != 0)
    return posix_error(name); // unreachable: it is open
  if (!S_ISREG(x.st_mode))
    return not_regular(name);
  out = std::move(file);
  return Status::OK();
}

Status check_regular(const std::string& name) {
  struct stat x {};
  if (::lstat(name.c_str(), &x) != 0)
    return errno == ENOENT ? Status::OK() : posix_error(name);
  return S_ISREG(x.st_mode) ? Status::OK() : not_regular(name);
}

Status open_sequential(const std::string& name, leveldb::SequentialFile** out) {
  *out = nullptr;
  descriptor file;
  if (auto x = open_regular(name, O_RDONLY, file); !x.ok())
    return x;
  struct stat x {};
  if (::fstat(file.get(), &x) != 0)
    return posix_error(name); // unreachable: it is open
  if (const auto most = bytes_max_of(name);
      static_cast<uint64_t>(x.st_size) > most)
    return Status::IOError(name,
                           "has more than " + std::to_string(most) + " bytes");
  *out = new sequential_file{name, std::move(file)};
  return Status::OK();
}

Status check_owned(const std::string& directory) {
  struct stat x {};
  auto out = look_at_own(directory, x);
  if (out.ok() && (x.st_mode & writing_of_others) != 0)
    return Status::IOError(directory,
                           "can be written by other users: chmod go-w");
  return out;
}

Status make_private(const std::string& directory) {
  struct stat x {};
  if (auto out = look_at_own(directory, x); !out.ok())
    return out;
  if ((x.st_mode & of_others) == 0)
    return Status::OK();
  if (::chmod(directory.c_str(), x.st_mode & mode_bits & ~of_others) != 0)
    return posix_error(directory); // unreachable: it is ours
  log::warn("data_directory_made_private", {{"path", directory}});
  return Status::OK();
}

} // namespace weir::storage
