#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::log {

/// Lines to a descriptor behind which there may be nobody who reads: a terminal that
/// was stopped, a pager, a collector that hangs. A line waits for room for a moment,
/// and those that follow do not wait at all: they are lost and counted, and the
/// first line that finds room again stands behind one that says how many. So
/// whoever logs goes on, and ends when it is told to.
///
/// # Ownership and threads
/// Borrows the descriptor, and leaves its flags as they are: others may have it.
/// One thread at a time.
class line_writer {
public:
  /// How long the first line waits for room.
  static constexpr std::chrono::milliseconds patience{250};

  /// The line that stands for so many that were lost, its end included.
  using words = std::function<std::string(uint64_t lines)>;

  line_writer(int descriptor, words say)
    : descriptor_(descriptor), say_(std::move(say)) {
    // nop
  }

  /// @param line Its end included.
  void write(std::string_view line);

private:
  bool has_room(std::chrono::milliseconds wait) const;
  /// @returns false when there was no room for all of it.
  bool put(std::string_view text, std::chrono::milliseconds wait);
  /// Says what was lost. @returns false when there is no room yet.
  bool catch_up();

  int descriptor_;
  words say_;
  uint64_t lost_ = 0; ///< Lines, since the last one that was written.
  bool torn_ = false; ///< The last line was written in part.
};

} // namespace weir::log
