#pragma once

#include "atproto/dag_cbor.hpp"
#include "atproto/signature.hpp"

#include <bit>
#include <charconv>
#include <optional>

// Formats that vectors and tests use and that the engine never reads.

namespace weir::tests {

/// Decodes lower case hexadecimal, two digits a byte.
inline std::optional<bytes> decode_hex(std::string_view x) {
  if (x.size() % 2 != 0
      || x.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  bytes out(x.size() / 2);
  for (size_t i = 0; i < out.size(); ++i)
    std::from_chars(&x[2 * i], &x[2 * i] + 2, out[i], 16);
  return out;
}

/// Decodes a key in the form `did:key:z...`.
inline result<atproto::public_key> from_did_key(std::string_view x) {
  constexpr std::string_view scheme = "did:key:";
  if (!x.starts_with(scheme))
    return fail(ec::malformed, "not a did:key");
  return atproto::public_key::from_multikey(x.substr(scheme.size()));
}

enum class cbor_kind : uint8_t {
  unsigned_int,
  negative_int,
  byte_string,
  text_string,
  array,
  map,
  link,
  boolean,
  null,
  floating
};

/// The kind of the next item, which stays unread.
inline result<cbor_kind> peek(const atproto::cbor::reader& in) {
  if (in.at_end())
    return fail(ec::malformed, "the text is over");
  const auto byte = in.rest().front();
  if (byte < 0xe0)
    return static_cast<cbor_kind>(byte >> 5);
  switch (byte) {
    case 0xf4:
    case 0xf5:
      return cbor_kind::boolean;
    case 0xf6:
      return cbor_kind::null;
    case 0xfb:
      return cbor_kind::floating;
    default:
      return fail(ec::malformed, "another simple value");
  }
}

/// Reads the next item, which must be a double.
inline double read_double(atproto::cbor::reader& in) {
  const auto item = in.skip().value();
  uint64_t bits = 0;
  for (const auto x : item.subspan(1))
    bits = bits << 8 | x;
  return std::bit_cast<double>(bits);
}

} // namespace weir::tests
