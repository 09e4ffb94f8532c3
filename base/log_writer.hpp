#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::log {

/// Writes lines to a descriptor whose reader may have stopped: a suspended
/// terminal, a pager, a log collector that hangs. The first line that finds no
/// room waits for `patience`. Lines after it do not wait; they are dropped and
/// counted. The first line that finds room again follows a line with the number
/// of those dropped. So logging never blocks a thread for long, not even at the
/// end of the process.
///
/// # Ownership and threads
/// Borrows the descriptor and leaves its flags alone, since other programs may
/// share it. Not synchronised: one thread at a time.
class line_writer {
public:
  /// How long the first line waits for room.
  static constexpr std::chrono::milliseconds patience{250};

  /// Makes the line that reports how many lines were dropped, with its line
  /// end.
  using words = std::function<std::string(uint64_t lines)>;

  line_writer(int descriptor, words say)
    : descriptor_(descriptor), say_(std::move(say)) {}

  /// @param line Text with its line end.
  void write(std::string_view line);

  /// Writes a line after which the process ends. It waits for `patience` also
  /// when lines before it were dropped, since none comes after it that could
  /// report them.
  void write_last(std::string_view line);

private:
  void write(std::string_view line, std::chrono::milliseconds wait);
  bool has_room(std::chrono::milliseconds wait) const;
  /// @returns false when there was no room for all of it.
  bool put(std::string_view text, std::chrono::milliseconds wait);
  /// Reports the dropped lines. @returns false when there is still no room.
  bool catch_up(std::chrono::milliseconds wait);

  int descriptor_;
  words say_;
  uint64_t lost_ = 0; ///< Lines dropped since the last one written.
  bool torn_ = false; ///< The last line was written only in part.
};

} // namespace weir::log
