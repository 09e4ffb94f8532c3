#pragma once

#include "base/bytes.hpp"

#include <span>
#include <string_view>
#include <vector>

/// The targets of the fuzzers and of their regression test (testing.md,
/// Fuzzing).
namespace weir::fuzz {

/// One interface that takes bytes from outside.
struct target {
  std::string_view name;
  /// Takes any bytes and returns. Ends the process when a promise of the code
  /// is broken (`require`). Keeps no state between calls.
  void (*run)(bytes_view input);
  /// Valid inputs, from which mutation begins; they are made at each call.
  std::vector<bytes> (*seeds)();
  /// The reason why it has no dictionary in `dictionaries/`; empty: it has one.
  std::string_view wordless = {};
};

/// The targets of one file each.
std::span<const target> codec_targets();
std::span<const target> tree_targets();
std::span<const target> http_targets();
std::span<const target> net_targets();
std::span<const target> server_targets();
std::span<const target> storage_targets();
std::span<const target> wire_targets();

/// All targets.
std::vector<target> all_targets();

/// Ends the process and names the promise, unless it holds.
void require(bool holds, const char* promise);

/// Decisions taken from the start of an input; zeros and empty data after its
/// end.
class decisions {
public:
  explicit decisions(bytes_view x) noexcept : rest_(x) {
    // nop
  }

  uint8_t next() noexcept;

  /// In [0, bound). @pre `bound > 0`
  size_t below(size_t bound) noexcept { return next() % bound; }

  /// At most `n` bytes.
  bytes_view take(size_t n) noexcept;

  bool at_end() const noexcept { return rest_.empty(); }

  bytes_view rest() const noexcept { return rest_; }

private:
  bytes_view rest_;
};

/// Cuts `x` into pieces of 1 to 64 bytes, as a socket might deliver them, or
/// leaves it whole when `pattern` is 0. Ends when `take` returns false.
template <class Take>
void in_pieces(bytes_view x, uint8_t pattern, Take take) {
  size_t size = pattern == 0 ? x.size() : 1 + pattern % 64;
  while (!x.empty()) {
    size = std::min(size, x.size());
    if (!take(x.first(size)))
      return;
    x = x.subspan(size);
    if (pattern != 0)
      size = 1 + (size * 5 + pattern) % 64;
  }
}

inline bytes to_bytes(std::string_view x) {
  return {x.begin(), x.end()};
}

} // namespace weir::fuzz
