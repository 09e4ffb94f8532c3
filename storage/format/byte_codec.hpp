#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

/// The bytes of which values consist, only for the codecs of values.
///
/// # Layout
/// Unsigned integers are LEB128 in their shortest form; signed ones are mapped
/// with zigzag first. Checksums are 4 bytes, little-endian.
namespace weir::storage {

/// Thrown by `byte_source` for bytes that no `byte_sink` writes. It never
/// leaves the codecs: `guarded` turns it into an error.
struct bad_value : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr uint64_t zigzag(int64_t x) noexcept {
  return static_cast<uint64_t>(x) << 1 ^ static_cast<uint64_t>(x >> 63);
}

constexpr int64_t unzigzag(uint64_t x) noexcept {
  return static_cast<int64_t>(x >> 1 ^ (~(x & 1) + 1));
}

class byte_sink {
public:
  void put_varint(uint64_t x) {
    while (x >= 0x80) {
      data.push_back(static_cast<char>(x | 0x80));
      x >>= 7;
    }
    data.push_back(static_cast<char>(x));
  }

  void put_raw(const void* x, size_t size) {
    data.append(static_cast<const char*>(x), size);
  }

  void put_fixed32(uint32_t x) {
    for (int i = 0; i < 4; ++i)
      data.push_back(static_cast<char>(x >> (8 * i)));
  }

  std::string data;
};

class byte_source {
public:
  explicit byte_source(std::string_view x) noexcept : rest(x) {}

  std::string_view take(size_t n) {
    if (rest.size() < n)
      throw bad_value{"it ends early"};
    const auto out = rest.substr(0, n);
    rest.remove_prefix(n);
    return out;
  }

  uint8_t take_byte() { return static_cast<uint8_t>(take(1)[0]); }

  uint64_t take_varint() {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take_byte();
      const auto bits = static_cast<uint64_t>(byte & 0x7f);
      if (bits << shift >> shift != bits || (byte == 0 && shift != 0))
        break;
      out |= bits << shift;
      if (byte < 0x80)
        return out;
    }
    throw bad_value{"a number is too long"};
  }

  /// Reads a number of elements. Each has at least one byte, so a number above
  /// the remaining size is refused.
  size_t take_count() {
    const auto out = take_varint();
    if (out > rest.size())
      throw bad_value{"a length is too large"};
    return static_cast<size_t>(out);
  }

  uint32_t take_fixed32() {
    uint32_t out = 0;
    const auto x = take(4);
    for (size_t i = 0; i < 4; ++i)
      out |= static_cast<uint32_t>(static_cast<uint8_t>(x[i])) << (8 * i);
    return out;
  }

  void expect_end() const {
    if (!rest.empty())
      throw bad_value{"bytes follow its end"};
  }

  std::string_view rest;
};

} // namespace weir::storage
