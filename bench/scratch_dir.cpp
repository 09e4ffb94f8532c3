#include "bench/scratch_dir.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weir::bench {

namespace {

constexpr std::string_view prefix = "store-";

/// True when `name` is `store-PID-...` of a process that has ended.
bool is_stale(std::string_view name) {
  if (!name.starts_with(prefix))
    return false;
  name.remove_prefix(prefix.size());
  pid_t id = 0;
  const auto [end, bad]
    = std::from_chars(name.data(), name.data() + name.size(), id);
  return bad == std::errc{} && end != name.data() + name.size() && *end == '-'
         && id > 0 && kill(id, 0) != 0 && errno == ESRCH;
}

} // namespace

scratch_dir::~scratch_dir() {
  std::error_code ignored;
  if (!path_.empty())
    std::filesystem::remove_all(path_, ignored);
}

scratch_dir::scratch_dir(scratch_dir&& other) noexcept
  : path_(std::exchange(other.path_, {})) {}

scratch_dir& scratch_dir::operator=(scratch_dir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

result<scratch_dir> scratch_dir::make(const std::filesystem::path& parent) {
  const auto name = std::string{prefix} + std::to_string(getpid()) + "-XXXXXX";
  auto path = (parent / name).string();
  if (mkdtemp(path.data()) == nullptr)
    return fail(ec::storage_failure,
                "no directory can be made in " + parent.string());
  scratch_dir out;
  out.path_ = path;
  return out;
}

void scratch_dir::remove_stale(const std::filesystem::path& parent) {
  std::error_code bad;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator at{parent, bad}, end;
       !bad && at != end; at.increment(bad))
    if (is_stale(at->path().filename().string()))
      found.push_back(at->path());
  for (const auto& x : found)
    std::filesystem::remove_all(x, bad);
}

} // namespace weir::bench
