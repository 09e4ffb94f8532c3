#pragma once

#include "base/bytes.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Text encodings the protocol uses. Decoders are strict: foreign characters,
/// wrong case, wrong padding and non-zero trailing bits are refused.
namespace weir::atproto {

/// RFC 4648 lower case without padding.
void append_base32(bytes_view x, std::string& out);

/// Letters that `n` bytes become.
constexpr size_t base32_size(size_t n) noexcept {
  return (n * 8 + 4) / 5;
}

/// Writes `base32_size(x.size())` letters, returns the end.
char* write_base32(bytes_view x, char* out) noexcept;

std::optional<bytes> decode_base32(std::string_view x);

/// Base58 of the Bitcoin alphabet. Longer input than
/// `limits::base58_bytes_max` gives the empty text, or nothing.
std::string encode_base58(bytes_view x);
std::optional<bytes> decode_base58(std::string_view x);

/// RFC 4648 base64, standard alphabet, no padding written, padding accepted.
void append_base64(bytes_view x, std::string& out);

/// Letters that `n` bytes become, without padding.
constexpr size_t base64_size(size_t n) noexcept {
  return (n * 8 + 5) / 6;
}

/// Writes `base64_size(x.size())` letters, returns the end.
char* write_base64(bytes_view x, char* out) noexcept;

std::optional<bytes> decode_base64(std::string_view x);

/// Lower case hexadecimal.
std::string encode_hex(bytes_view x);
std::optional<bytes> decode_hex(std::string_view x);

} // namespace weir::atproto
