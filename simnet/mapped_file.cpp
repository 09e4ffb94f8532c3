#include "simnet/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::simnet {

namespace {

struct mapping {
  mapping(void* at, size_t n) : start(at), size(n) {}

  ~mapping() { ::munmap(start, size); }

  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;

  void* start;
  size_t size;
};

error file_error(const std::string& path) {
  return fail(errno == ENOENT ? ec::not_found : ec::storage_failure,
              path + ": " + std::strerror(errno));
}

} // namespace

result<shared_bytes> map_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const auto file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return file_error(path);
  struct stat info {};
  void* start = MAP_FAILED;
  const auto known = ::fstat(file, &info) == 0;
  if (known && S_ISREG(info.st_mode) && info.st_size > 0)
    start = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ,
                   MAP_PRIVATE, file, 0);
  auto failure = file_error(path);
  ::close(file);
  if (known && !S_ISREG(info.st_mode))
    return fail(ec::storage_failure, path + ": cannot be read: it is no file");
  if (known && info.st_size == 0)
    return shared_bytes{};
  if (start == MAP_FAILED)
    return failure;
  const auto size = static_cast<size_t>(info.st_size);
  return shared_bytes{std::make_shared<mapping>(start, size),
                      {static_cast<const uint8_t*>(start), size}};
}

} // namespace weir::simnet
