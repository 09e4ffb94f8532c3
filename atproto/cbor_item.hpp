#pragma once

#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "atproto/utf8.hpp"

/// The parts of DAG-CBOR items, and what can be wrong with them.
namespace weir::atproto::cbor {

/// What is wrong with an item. `to_error` says it in words.
enum class fault : uint8_t {
  none,
  truncated,
  reserved,
  indefinite,
  not_shortest,
  too_long,
  bad_utf8,
  foreign_tag,
  bad_link,
  bad_simple,
  bad_float,
  key_not_text,
  key_order,
  key_repeated,
  trailing,
  wrong_kind,
  integer_range,
  depth_limit,
  container_limit,
  key_limit,
  unsorted_limit,
};

/// Makes the error for `what`, which was found `at` bytes into the input.
error to_error(fault what, size_t at);

/// Which order of keys a walk accepts in one map.
enum class key_order : uint8_t {
  canonical, ///< Shorter keys first, then bytewise; no key twice.
  unique,    ///< Any order, but no key twice.
  unchecked,
};

struct walk_rules {
  size_t depth_max = limits::cbor_depth_max;
  key_order order = key_order::canonical;
  bool allow_floats = false;
};

/// The initial byte of an item, and the number that it holds or that follows
/// it.
struct item_head {
  uint8_t major = 0;
  uint8_t info = 0;
  uint64_t value = 0;
};

constexpr uint8_t major_unsigned = 0;
constexpr uint8_t major_negative = 1;
constexpr uint8_t major_bytes = 2;
constexpr uint8_t major_text = 3;
constexpr uint8_t major_array = 4;
constexpr uint8_t major_map = 5;
constexpr uint8_t major_tag = 6;
constexpr uint8_t major_simple = 7;

constexpr uint8_t simple_false = 20;
constexpr uint8_t simple_true = 21;
constexpr uint8_t simple_null = 22;
constexpr uint8_t simple_double = 27;

constexpr uint64_t tag_link = 42;

/// Initial byte of a text of 24 to 255 bytes, which is by far the most frequent
/// long head and has a fast path.
constexpr uint8_t text_of_one_byte_length = major_text << 5 | 24;

/// Completes `take_head` for a number that does not fit into the initial byte.
fault take_long_head(const uint8_t*& at, const uint8_t* end,
                     item_head& out) noexcept;

/// Reads the head of the next item and moves `at` behind it. The bits of a
/// float are left in `value`.
inline fault take_head(const uint8_t*& at, const uint8_t* end,
                       item_head& out) noexcept {
  if (at == end)
    return fault::truncated;
  const auto byte = *at++;
  out.major = static_cast<uint8_t>(byte >> 5);
  out.info = byte & 0x1f;
  out.value = out.info;
  if (out.info < 24)
    return fault::none;
  if (byte == text_of_one_byte_length && at != end && *at >= 24) {
    out.value = *at++;
    return fault::none;
  }
  return take_long_head(at, end, out);
}

/// True for the bits of a finite double other than -0.0. An exponent of all
/// ones means infinity or NaN.
constexpr bool valid_double(uint64_t bits) noexcept {
  return (~bits >> 52 & 0x7ff) != 0 && bits != uint64_t{1} << 63;
}

/// Takes `size` bytes off the input.
inline fault take_bytes(const uint8_t*& at, const uint8_t* end, uint64_t size,
                        bytes_view& out) noexcept {
  if (size > static_cast<uint64_t>(end - at))
    return fault::too_long;
  out = {at, static_cast<size_t>(size)};
  at += size;
  return fault::none;
}

/// Takes a text of `size` bytes off the input.
inline fault take_text(const uint8_t*& at, const uint8_t* end, uint64_t size,
                       std::string_view& out) noexcept {
  bytes_view binary;
  if (auto what = take_bytes(at, end, size, binary); what != fault::none)
    return what;
  out = as_text(binary);
  return valid_utf8(out) ? fault::none : fault::bad_utf8;
}

/// Takes the key of a map entry off the input.
inline fault take_key_text(const uint8_t*& at, const uint8_t* end,
                           std::string_view& out) noexcept {
  item_head head;
  if (auto what = take_head(at, end, head); what != fault::none)
    return what;
  if (head.major != major_text)
    return fault::key_not_text;
  if (head.value > limits::cbor_map_key_bytes_max)
    return fault::key_limit;
  return take_text(at, end, head.value, out);
}

/// Takes the content of a tag. The only tag allowed is a link, whose content is
/// a byte string of 0x00 and a CID.
fault take_link(const uint8_t*& at, const uint8_t* end, uint64_t tag,
                bytes_view& out) noexcept;

} // namespace weir::atproto::cbor
