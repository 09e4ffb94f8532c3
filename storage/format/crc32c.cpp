#include "storage/format/crc32c.hpp"

#include <array>
#include <cstring>

#ifdef __x86_64__
#  include <nmmintrin.h>
#endif

namespace weir::storage {

namespace {

constexpr uint32_t polynomial = 0x82f63b78; // The reflected form.

// Eight tables, one for each byte of a 64-bit word.
constexpr auto tables = [] {
  std::array<std::array<uint32_t, 256>, 8> out{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t x = i;
    for (int bit = 0; bit < 8; ++bit)
      x = x >> 1 ^ ((x & 1) != 0 ? polynomial : 0);
    out[0][i] = x;
  }
  for (size_t t = 1; t < out.size(); ++t)
    for (size_t i = 0; i < 256; ++i)
      out[t][i] = out[t - 1][i] >> 8 ^ out[0][out[t - 1][i] & 0xff];
  return out;
}();

uint32_t step(uint32_t crc, char c) noexcept {
  return crc >> 8 ^ tables[0][(crc ^ static_cast<uint8_t>(c)) & 0xff];
}

uint32_t by_tables(std::string_view x, uint32_t crc) noexcept {
  while (x.size() >= 8) {
    std::array<uint8_t, 8> byte{};
    std::memcpy(byte.data(), x.data(), byte.size());
    for (size_t i = 0; i < 4; ++i)
      byte[i] ^= static_cast<uint8_t>(crc >> (8 * i));
    crc = 0;
    for (size_t i = 0; i < 8; ++i)
      crc ^= tables[7 - i][byte[i]];
    x.remove_prefix(8);
  }
  for (const char c : x)
    crc = step(crc, c);
  return crc;
}

#ifdef __x86_64__
[[gnu::target("sse4.2")]] uint32_t by_instruction(std::string_view x,
                                                  uint32_t crc) noexcept {
  uint64_t wide = crc;
  while (x.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, x.data(), sizeof(word));
    wide = _mm_crc32_u64(wide, word);
    x.remove_prefix(8);
  }
  crc = static_cast<uint32_t>(wide);
  for (const char c : x)
    crc = _mm_crc32_u8(crc, static_cast<uint8_t>(c));
  return crc;
}

const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
#else
constexpr bool has_instruction = false;

uint32_t by_instruction(std::string_view x, uint32_t crc) noexcept {
  return by_tables(x, crc);
}
#endif

} // namespace

uint32_t crc32c(std::string_view x, uint32_t seed) noexcept {
  return has_instruction ? ~by_instruction(x, ~seed) : crc32c_portable(x, seed);
}

uint32_t crc32c_portable(std::string_view x, uint32_t seed) noexcept {
  return ~by_tables(x, ~seed);
}

} // namespace weir::storage
