#pragma once

#include "base/bytes.hpp"
#include "base/position.hpp"
#include "storage/format/records.hpp"

#include <string>
#include <string_view>

/// The frame around one transaction (docs/segment-format.md 2).
namespace weir::storage {

constexpr size_t frame_header_bytes = 24;

struct frame_header {
  uint64_t identity = 0; ///< That of the directory.
  op_id first = 0;       ///< Id of the first operation in it.
  uint32_t size = 0;     ///< Of the payload, in bytes.
  uint32_t checksum = 0; ///< CRC-32C of the fields before it and the payload.
};

/// Header and payload, with the checksum.
std::string encode_frame(uint64_t identity, op_id first, bytes_view payload);

/// @pre `x` has `frame_header_bytes`
frame_header read_header(std::string_view x) noexcept;

/// Whether the checksum is right.
/// @param header As stored.
bool is_sound(std::string_view header, std::string_view payload) noexcept;

/// Whether a frame of this directory begins anywhere in `x` that is whole and
/// has the operation `next` or a later one. Others choose what records contain,
/// but not the identity of a directory, which is random.
bool has_frame(std::string_view x, uint64_t identity, op_id next);

} // namespace weir::storage
