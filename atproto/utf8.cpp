#include "atproto/utf8.hpp"

#include "base/bytes.hpp"

namespace weir::atproto {

namespace {

/// Length of the well-formed sequence of two to four bytes at the front of `x`,
/// or 0 when there is none (the Unicode Standard, table 3-7).
size_t sequence_length(bytes_view x) noexcept {
  const auto continues
    = [&](size_t i, uint8_t low = 0x80, uint8_t high = 0xbf) {
        return x[i] >= low && x[i] <= high;
      };
  const auto lead = x[0];
  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  if (lead < 0xe0)
    return x.size() >= 2 && continues(1) ? 2 : 0;
  if (lead < 0xf0) {
    const uint8_t low = lead == 0xe0 ? 0xa0 : 0x80;  // Overlong.
    const uint8_t high = lead == 0xed ? 0x9f : 0xbf; // Surrogates.
    return x.size() >= 3 && continues(1, low, high) && continues(2) ? 3 : 0;
  }
  const uint8_t low = lead == 0xf0 ? 0x90 : 0x80;  // Overlong.
  const uint8_t high = lead == 0xf4 ? 0x8f : 0xbf; // Above U+10FFFF.
  return x.size() >= 4 && continues(1, low, high) && continues(2)
             && continues(3)
           ? 4
           : 0;
}

} // namespace

bool valid_utf8_slow(std::string_view x) noexcept {
  while (!x.empty()) {
    size_t n = 1;
    if (x.size() >= 8 && ascii_word<uint64_t>(x.data()))
      n = 8;
    else if (static_cast<uint8_t>(x[0]) >= 0x80)
      n = sequence_length(as_bytes(x));
    if (n == 0)
      return false;
    x.remove_prefix(n);
  }
  return true;
}

} // namespace weir::atproto
