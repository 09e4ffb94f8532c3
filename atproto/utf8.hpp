#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir::atproto {

/// True when the `sizeof(Word)` bytes at `x` are ASCII.
template <class Word>
bool ascii_word(const char* x) noexcept {
  Word word = 0;
  std::memcpy(&word, x, sizeof(word));
  return (word & static_cast<Word>(0x8080'8080'8080'8080u)) == 0;
}

/// True when every byte is ASCII. Short texts are the usual case and take two
/// loads, which may overlap.
inline bool is_ascii(std::string_view x) noexcept {
  const auto* at = x.data();
  auto left = x.size();
  if (left >= 8) {
    for (; left > 8; left -= 8, at += 8)
      if (!ascii_word<uint64_t>(at))
        return false;
    return ascii_word<uint64_t>(at + left - 8);
  }
  if (left >= 4)
    return ascii_word<uint32_t>(at) && ascii_word<uint32_t>(at + left - 4);
  for (; left > 0; --left, ++at)
    if (!ascii_word<uint8_t>(at))
      return false;
  return true;
}

/// `valid_utf8` for a text that is not all ASCII.
bool valid_utf8_slow(std::string_view x) noexcept;

/// True when `x` is well-formed UTF-8: no overlong form, no surrogate, nothing
/// above U+10FFFF. NUL counts as an ordinary character (protocol-coverage.md
/// 6.4).
inline bool valid_utf8(std::string_view x) noexcept {
  return is_ascii(x) || valid_utf8_slow(x);
}

} // namespace weir::atproto
