#include "base/log_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <unistd.h>

namespace weir::log {

namespace {

using namespace std::chrono_literals;

/// A pipe that is ready for writing takes this many bytes at once (pipe(7)).
constexpr size_t piece_max = PIPE_BUF;

} // namespace

bool line_writer::has_room(std::chrono::milliseconds wait) const {
  pollfd x{descriptor_, POLLOUT, 0};
  return ::poll(&x, 1, static_cast<int>(wait.count())) == 1;
}

bool line_writer::put(std::string_view text, std::chrono::milliseconds wait) {
  const auto whole = text.size();
  while (!text.empty()) {
    if (!has_room(wait)) {
      torn_ |= text.size() < whole;
      return false;
    }
    const auto n
      = ::write(descriptor_, text.data(), std::min(text.size(), piece_max));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno != EAGAIN; // Other errors: nobody reads.
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool line_writer::catch_up(std::chrono::milliseconds wait) {
  if (torn_ && !put("\n", wait))
    return false;
  torn_ = false;
  if (!put(say_(lost_), wait))
    return false;
  lost_ = 0;
  return true;
}

void line_writer::write(std::string_view line, std::chrono::milliseconds wait) {
  if ((lost_ == 0 || catch_up(wait)) && put(line, wait))
    return;
  ++lost_;
}

void line_writer::write(std::string_view line) {
  write(line, lost_ == 0 ? patience : 0ms);
}

void line_writer::write_last(std::string_view line) {
  write(line, patience);
}

} // namespace weir::log
