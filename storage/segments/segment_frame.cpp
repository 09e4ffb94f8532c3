#include "storage/segments/segment_frame.hpp"

#include "storage/format/crc32c.hpp"
#include "storage/format/key_codec.hpp"
#include "storage/segments/limits.hpp"

namespace weir::storage {

namespace {

constexpr size_t checked_bytes = frame_header_bytes - sizeof(uint32_t);

uint32_t checksum_of(std::string_view header,
                     std::string_view payload) noexcept {
  return crc32c(payload, crc32c(header.substr(0, checked_bytes)));
}

/// A number of `size` bytes, big-endian.
uint64_t number_at(std::string_view x, size_t at, size_t size) noexcept {
  uint64_t out = 0;
  for (size_t i = at; i < at + size; ++i)
    out = out << 8 | static_cast<uint8_t>(x[i]);
  return out;
}

} // namespace

std::string encode_frame(uint64_t identity, op_id first, bytes_view payload) {
  std::string out;
  out.reserve(frame_header_bytes + payload.size());
  key_writer to{out};
  to.put(identity);
  to.put(first);
  to.put(static_cast<uint32_t>(payload.size()));
  to.put(checksum_of(out, as_text(payload)));
  out.append(as_text(payload));
  return out;
}

frame_header read_header(std::string_view x) noexcept {
  return {number_at(x, 0, 8), number_at(x, 8, 8),
          static_cast<uint32_t>(number_at(x, 16, 4)),
          static_cast<uint32_t>(number_at(x, checked_bytes, 4))};
}

bool is_sound(std::string_view header, std::string_view payload) noexcept {
  return read_header(header).checksum == checksum_of(header, payload);
}

bool has_frame(std::string_view x, uint64_t identity, op_id next) {
  std::string mark;
  key_writer{mark}.put(identity);
  for (auto at = x.find(mark); at != std::string_view::npos;
       at = x.find(mark, at + 1)) {
    const auto from = x.substr(at);
    if (from.size() < frame_header_bytes)
      return false;
    const auto header = read_header(from);
    const auto rest = from.substr(frame_header_bytes);
    if (header.first >= next && header.size <= rest.size()
        && header.size <= limits::segment_frame_bytes_max
        && is_sound(from.substr(0, frame_header_bytes),
                    rest.substr(0, header.size)))
      return true;
  }
  return false;
}

} // namespace weir::storage
