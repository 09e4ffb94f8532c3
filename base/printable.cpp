#include "base/printable.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace weir {

namespace {

struct character {
  uint32_t code = 0;
  size_t size = 1;
  bool valid = false;
};

/// Decodes the first character of `text`. @pre `!text.empty()`
character first_of(std::string_view text) {
  const auto byte = [text](size_t i) {
    return static_cast<uint8_t>(text[i]);
  };
  character out{byte(0), 1, byte(0) < 0x80};
  if (out.valid)
    return out;
  const size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size)
    return out;
  auto code = static_cast<uint32_t>(byte(0) & (0x7f >> size));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return out;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code > 0x10ffff
      || (code >= 0xd800 && code <= 0xdfff))
    return out;
  return {code, size, true};
}

bool is_safe(uint32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0))
    return false; // Control characters: C0, DEL, C1.
  switch (code) {
    case 0x061c: // Marks that change the direction of text.
    case 0x200e:
    case 0x200f:
    case 0x2028: // Ends of lines and paragraphs.
    case 0x2029:
    case 0xfeff:
      return false;
    default:
      return (code < 0x202a || code > 0x202e)
             && (code < 0x2066 || code > 0x2069);
  }
}

/// Writes `\u` and four hex digits; no unsafe character needs more.
void append_escape(std::string& out, uint32_t code) {
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x",
                static_cast<unsigned>(code & 0xffff));
  out += buffer.data();
}

/// @param invalid What stands for a byte that is not UTF-8; if empty, its
/// value.
void append_safe(std::string& out, std::string_view text,
                 std::optional<uint32_t> invalid) {
  while (!text.empty()) {
    const auto x = first_of(text);
    if (x.valid && is_safe(x.code))
      out += text.substr(0, x.size);
    else
      append_escape(out, x.valid ? x.code : invalid.value_or(x.code));
    text.remove_prefix(x.size);
  }
}

} // namespace

void append_printable(std::string& out, std::string_view text) {
  append_safe(out, text, std::nullopt);
}

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

std::string printable_json(std::string_view text) {
  constexpr uint32_t replacement = 0xfffd;
  std::string out;
  append_safe(out, text, replacement);
  return out;
}

} // namespace weir
