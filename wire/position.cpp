#include "wire/position.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/limits.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

#include <algorithm>

namespace weir::wire {

namespace {

/// The first byte of every position. A new layout takes the next number.
constexpr uint8_t position_version = 1;
constexpr size_t head_size = 1 + 8 + 2;

constexpr auto event_max = static_cast<uint64_t>(limits::safe_integer_max);

void put(bytes& out, uint64_t x, int size) {
  for (auto shift = 8 * (size - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<uint8_t>(x >> shift));
}

uint64_t take(bytes_view& in, size_t size) {
  uint64_t out = 0;
  for (const auto x : in.first(size))
    out = out << 8 | x;
  in = in.subspan(size);
  return out;
}

error no_position() {
  return fail(ec::invalid_argument, "this is not a position of a log");
}

} // namespace

result<uint64_t> event_id(event_place place, uint16_t partitions) {
  const auto rest = static_cast<uint64_t>(place.partition) + 1;
  if (place.op - 1 > (event_max - rest) / partitions)
    return fail(ec::limit_reached, "the log has outgrown the numbers that "
                                   "JSON can carry");
  return (place.op - 1) * partitions + rest;
}

std::optional<event_place> place_of(uint64_t event, uint16_t partitions) {
  if (event == 0 || event > event_max)
    return std::nullopt;
  return event_place{static_cast<uint16_t>((event - 1) % partitions),
                     (event - 1) / partitions + 1};
}

std::string to_text(const log_position& x) {
  bytes raw{position_version};
  put(raw, x.log_identity, 8);
  put(raw, x.ops.size(), 2);
  for (const auto op : x.ops)
    put(raw, op, 8);
  std::string out;
  atproto::append_base64(raw, out);
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

result<log_position> parse_position(std::string_view text,
                                    uint64_t log_identity,
                                    uint16_t partitions) {
  constexpr auto raw_max = head_size + 8 * limits::partitions_max;
  if (text.size() > atproto::base64_size(raw_max)
      || text.find_first_of("+/=") != std::string_view::npos)
    return no_position();
  std::string standard{text};
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  const auto raw = atproto::decode_base64(standard);
  if (!raw || raw->size() < head_size)
    return no_position();
  bytes_view in = *raw;
  if (take(in, 1) != position_version)
    return no_position();
  log_position out;
  out.log_identity = take(in, 8);
  const auto count = take(in, 2);
  if (in.size() != 8 * count)
    return no_position();
  while (!in.empty())
    out.ops.push_back(take(in, 8));
  if (out.log_identity != log_identity || count != partitions)
    return fail(ec::chain_broken, "this position belongs to another log; "
                                  "start again from a snapshot");
  return out;
}

} // namespace weir::wire
