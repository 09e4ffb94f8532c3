#include "storage/disk/file_spool.hpp"

#include "base/crash_point.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace weir::storage {

namespace {

/// Bytes that are read at once. Also how close two reads must be to count as
/// near.
constexpr size_t window_size = 65'536;

error io_error(const char* what) {
  return fail(errno == ENOSPC ? ec::disk_full : ec::storage_failure,
              std::string{what} + " a spool file: " + std::strerror(errno));
}

} // namespace

file_spool::file_spool(std::string directory, uint64_t memory_max,
                       uint64_t bytes_max)
  : directory_(std::move(directory)), memory_max_(memory_max),
    bytes_max_(bytes_max) {}

file_spool::~file_spool() {
  if (file_ >= 0)
    ::close(file_);
}

result<void> file_spool::append(bytes_view chunk) {
  if (chunk.size() > bytes_max_ - size_)
    return fail(ec::limit_reached, "more than " + std::to_string(bytes_max_)
                                     + " bytes in a spool");
  if (file_ < 0 && size_ + chunk.size() <= memory_max_) {
    memory_.insert(memory_.end(), chunk.begin(), chunk.end());
    size_ += chunk.size();
    return {};
  }
  if (file_ < 0)
    if (auto ok = open_file(); !ok)
      return ok;
  return write(chunk);
}

result<void> file_spool::open_file() {
  file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ < 0)
    return io_error("opening");
  const auto kept = std::exchange(memory_, {});
  size_ = 0;
  return write(kept);
}

result<void> file_spool::write(bytes_view chunk) {
  while (!chunk.empty()) {
    const auto n = ::write(file_, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return io_error("writing");
    size_ += static_cast<uint64_t>(n);
    chunk = chunk.subspan(static_cast<size_t>(n));
    pass(crash_point::spool_written);
  }
  window_.clear();
  return {};
}

result<bytes_view> file_spool::read(uint64_t offset, size_t size) {
  if (offset > size_ || size > size_ - offset)
    return fail(ec::storage_failure, "read behind the end of a spool");
  if (file_ < 0)
    return bytes_view{memory_}.subspan(static_cast<size_t>(offset), size);
  if (offset < window_at_ || offset + size > window_at_ + window_.size())
    if (auto ok = move_window(offset, size); !ok)
      return ok.error();
  return bytes_view{window_}.subspan(static_cast<size_t>(offset - window_at_),
                                     size);
}

/// Reads more than was asked for only when reads stay near each other. Blocks
/// of one part of a tree are neighbours, but pages of an index are read one by
/// one.
result<void> file_spool::move_window(uint64_t offset, size_t size) {
  const auto end = window_at_ + window_.size();
  const bool near
    = offset + window_size > window_at_ && offset < end + window_size;
  const auto wanted = near ? std::max(size, window_size) : size;
  window_.resize(
    static_cast<size_t>(std::min<uint64_t>(wanted, size_ - offset)));
  window_at_ = offset;
  size_t got = 0;
  while (got < window_.size()) {
    const auto n = ::pread(file_, window_.data() + got, window_.size() - got,
                           static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      window_.clear();
      return n < 0 ? io_error("reading")
                   : fail(ec::storage_failure, "a spool file ends early");
    }
    got += static_cast<size_t>(n);
  }
  return {};
}

} // namespace weir::storage
