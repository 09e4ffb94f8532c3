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

/// Reads the next item, which must be a double.
inline double read_double(atproto::cbor::reader& in) {
  const auto item = in.skip().value();
  uint64_t bits = 0;
  for (const auto x : item.subspan(1))
    bits = bits << 8 | x;
  return std::bit_cast<double>(bits);
}

} // namespace weir::tests
