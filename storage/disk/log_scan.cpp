#include "storage/disk/log_scan.hpp"

#include "storage/format/crc32c.hpp"

#include <utility>

namespace weir::storage {

namespace {

// A fragment begins with a masked CRC32C over type and payload, the length and
// the type, all little-endian.
constexpr size_t header_size = 7;

constexpr uint8_t full = 1;
constexpr uint8_t first = 2;
constexpr uint8_t middle = 3;
constexpr uint8_t last_one = 4;

uint8_t byte_at(std::string_view x, size_t i) noexcept {
  return static_cast<uint8_t>(x[i]);
}

struct header {
  uint32_t sum = 0;
  size_t length = 0;
  uint8_t type = 0;
};

/// @pre `at + header_size <= block.size()`
header header_at(std::string_view block, size_t at) noexcept {
  header out;
  for (size_t i = 4; i-- > 0;)
    out.sum = out.sum << 8 | byte_at(block, at + i);
  out.length = byte_at(block, at + 4) | byte_at(block, at + 5) * size_t{256};
  out.type = byte_at(block, at + 6);
  return out;
}

bool checksum_holds(std::string_view block, size_t at,
                    const header& x) noexcept {
  const auto covered = block.substr(at + header_size - 1, x.length + 1);
  return masked_crc32c(crc32c(covered)) == x.sum;
}

} // namespace

log_scanner::log_scanner(record_handler on_record, record_filter plausible)
  : on_record_(std::move(on_record)), plausible_(std::move(plausible)) {}

void log_scanner::feed(std::string_view block, bool last) {
  size_t at = 0;
  if (!damage_ && !torn_) {
    auto what = step::next;
    while (what == step::next)
      what = read_fragment(block, at, last);
    if (what != step::block_done)
      search(block, what == step::misplaced ? at : at + 1);
  } else {
    search(block, 0);
  }
  offset_ += block.size();
}

log_scanner::step log_scanner::read_fragment(std::string_view block, size_t& at,
                                             bool last) {
  if (block.size() - at < header_size) {
    // Up to six bytes at the end of a full block are unused.
    const bool cut = block.size() < log_file_block_size && at != block.size();
    torn_ = last && (inside_ || cut);
    return step::block_done;
  }
  const auto x = header_at(block, at);
  const bool fits = at + header_size + x.length <= block.size();
  if (!fits || x.type < full || x.type > last_one
      || !checksum_holds(block, at, x)) {
    // If only its length is wrong, the record was complete and so acknowledged.
    const header whole{x.sum, block.size() - at - header_size, x.type};
    valid_after_ = last && checksum_holds(block, at, whole);
    torn_ = last && !fits && !valid_after_;
    if (!torn_)
      damage_ = offset_ + at;
    return step::broken;
  }
  const auto payload = block.substr(at + header_size, x.length);
  if (const auto what = take_fragment(x.type, payload); what != step::next) {
    damage_ = offset_ + at;
    return what;
  }
  at += header_size + x.length;
  if (!inside_)
    valid_bytes_ = offset_ + at;
  return step::next;
}

log_scanner::step log_scanner::take_fragment(uint8_t type,
                                             std::string_view payload) {
  const bool begins = type == full || type == first;
  if (begins == inside_)
    return step::misplaced;
  if (begins)
    record_.clear();
  record_ += payload;
  inside_ = type == first || type == middle;
  if (!inside_) {
    ++records_;
    on_record_(record_);
  }
  return step::next;
}

void log_scanner::search(std::string_view block, size_t at) {
  for (; !valid_after_ && at + header_size <= block.size(); ++at) {
    const auto x = header_at(block, at);
    if ((x.type != full && x.type != first)
        || at + header_size + x.length > block.size())
      continue;
    valid_after_ = plausible_(block.substr(at + header_size, x.length))
                   && checksum_holds(block, at, x);
  }
}

} // namespace weir::storage
