#pragma once

#include <cstdint>
#include <string_view>

namespace weir::storage {

/// CRC-32C (Castagnoli) of `x`. `seed` is the checksum of the bytes before `x`.
uint32_t crc32c(std::string_view x, uint32_t seed = 0) noexcept;

/// The same for processors without the instruction.
uint32_t crc32c_portable(std::string_view x, uint32_t seed = 0) noexcept;

/// The form in LevelDB's log: rotated and shifted, so that a checksum over
/// bytes that contain checksums stays strong.
constexpr uint32_t masked_crc32c(uint32_t x) noexcept {
  return ((x >> 15) | (x << 17)) + 0xa282ead8u;
}

} // namespace weir::storage
