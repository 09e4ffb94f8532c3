#pragma once

#include "base/bytes.hpp"

#include <span>
#include <string_view>
#include <vector>

/// What the fuzzers and their regression test run (testing.md, Fuzzing).
namespace weir::fuzz {

/// One boundary that takes bytes from outside.
struct target {
  std::string_view name;
  /// Takes any bytes and returns; ends the process where a promise of the code
  /// is broken (`require`). Keeps nothing from one call to the next.
  void (*run)(bytes_view input);
  /// Good input, made anew: where mutation begins.
  std::vector<bytes> (*seeds)();
  /// Why it has no dictionary in `dictionaries/`; empty: it has one.
  std::string_view wordless = {};
};

/// Of one file each.
std::span<const target> codec_targets();
std::span<const target> tree_targets();
std::span<const target> http_targets();
std::span<const target> net_targets();
std::span<const target> server_targets();
std::span<const target> storage_targets();
std::span<const target> wire_targets();

/// All of them.
std::vector<target> all_targets();

/// Says which promise is broken and ends the process, unless it holds.
void require(bool holds, const char* promise);

/// Decisions drawn from the front of an input; zeros and nothing behind it.
class decisions {
public:
  explicit decisions(bytes_view x) noexcept : rest_(x) {
    // nop
  }

  uint8_t next() noexcept;

  /// In [0, bound). @pre `bound > 0`
  size_t below(size_t bound) noexcept { return next() % bound; }

  /// Up to `n` bytes.
  bytes_view take(size_t n) noexcept;

  bool at_end() const noexcept { return rest_.empty(); }

  bytes_view rest() const noexcept { return rest_; }

private:
  bytes_view rest_;
};

/// Cuts `x` into pieces of 1 to 64 bytes, or none when `pattern` is 0: the same
/// bytes as a socket might bring them. Ends when `take` returns false.
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
